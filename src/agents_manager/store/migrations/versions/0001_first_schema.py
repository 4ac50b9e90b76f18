"""The first schema."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store import columns

revision = "0001"
down_revision = None


def upgrade() -> None:
    _pipeline()
    _project()
    _reply()
    _token()
    _task()
    _artifact()
    _dependency()
    _effect()
    _event()
    _history()
    _prompt()
    _pull()
    _run()


def _pipeline() -> None:
    op.create_table(
        "am_pipeline",
        sa.Column("id", columns.Id, nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("document", columns.Json(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("created_at", columns.UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", "version", name="pk_am_pipeline"),
    )


def _project() -> None:
    op.create_table(
        "am_project",
        sa.Column("id", columns.Id, nullable=False),
        sa.Column("name", columns.Prose(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("base_branch", sa.String(), nullable=False),
        sa.Column("trusted_commands", sa.String(), nullable=True),
        sa.Column("created_at", columns.UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_am_project"),
        sa.UniqueConstraint("path", name="uq_am_project_path"),
    )


def _reply() -> None:
    op.create_table(
        "am_reply",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("request", sa.String(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", columns.Prose(), nullable=False),
        sa.Column("created_at", columns.UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_am_reply"),
    )


def _token() -> None:
    op.create_table(
        "am_token",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("name", columns.Prose(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("created_at", columns.UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_am_token"),
    )


def _task() -> None:
    op.create_table(
        "am_task",
        sa.Column("id", columns.Id, nullable=False),
        sa.Column("project_id", columns.Id, nullable=False),
        sa.Column("title", columns.Prose(), nullable=False),
        sa.Column("description", columns.Prose(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("priority", sa.String(), nullable=False),
        sa.Column("size", sa.String(), nullable=False),
        sa.Column("complexity", sa.String(), nullable=False),
        sa.Column("tags", columns.Json(), nullable=False),
        sa.Column("acceptance_criteria", columns.Json(), nullable=False),
        sa.Column("dependencies", columns.Json(), nullable=False),
        sa.Column("pipeline_id", columns.Id, nullable=False),
        sa.Column("pipeline_version", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("plan", columns.Prose(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", columns.UtcTime(), nullable=False),
        sa.Column("updated_at", columns.UtcTime(), nullable=False),
        sa.Column("event_seq", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["pipeline_id", "pipeline_version"],
            ["am_pipeline.id", "am_pipeline.version"],
            name="fk_am_task_pipeline_id_pipeline_version",
        ),
        sa.ForeignKeyConstraint(["project_id"], ["am_project.id"], name="fk_am_task_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_am_task"),
    )
    op.create_index("ix_am_task_created_at_id", "am_task", ["created_at", "id"])
    op.create_index(
        "ix_am_task_project_id_status_created_at", "am_task", ["project_id", "status", "created_at"]
    )


def _artifact() -> None:
    op.create_table(
        "am_artifact",
        sa.Column("id", columns.Id, nullable=False),
        sa.Column("task_id", columns.Id, nullable=False),
        sa.Column("run_id", columns.Id, nullable=True),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("key", columns.Prose(), nullable=False),
        sa.Column("label", columns.Prose(), nullable=False),
        sa.Column("data", columns.Json(), nullable=False),
        sa.Column("created_at", columns.UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["am_task.id"], name="fk_am_artifact_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_am_artifact"),
        sa.UniqueConstraint("task_id", "type", "key", name="uq_am_artifact_task_id_type_key"),
    )


def _dependency() -> None:
    op.create_table(
        "am_dependency",
        sa.Column("task_id", columns.Id, nullable=False),
        sa.Column("depends_on", columns.Id, nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["am_task.id"], name="fk_am_dependency_task_id"),
        sa.PrimaryKeyConstraint("task_id", "depends_on", name="pk_am_dependency"),
    )
    op.create_index("ix_am_dependency_depends_on", "am_dependency", ["depends_on"])


def _effect() -> None:
    op.create_table(
        "am_effect",
        sa.Column("id", columns.Id, nullable=False),
        sa.Column("task_id", columns.Id, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("history_id", columns.Id, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("payload", columns.Json(), nullable=False),
        sa.Column("policy", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("due_at", columns.UtcTime(), nullable=False),
        sa.Column("error", columns.Prose(), nullable=True),
        sa.Column("result", columns.Json(), nullable=True),
        sa.Column("created_at", columns.UtcTime(), nullable=False),
        sa.Column("finished_at", columns.UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["task_id"], ["am_task.id"], name="fk_am_effect_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_am_effect"),
        sa.UniqueConstraint("task_id", "seq", name="uq_am_effect_task_id_seq"),
    )
    op.create_index(
        "ix_am_effect_open",
        "am_effect",
        ["task_id", "seq"],
        sqlite_where=sa.text("status IN ('pending', 'started')"),
        postgresql_where=sa.text("status IN ('pending', 'started')"),
    )
    op.create_index("ix_am_effect_history_id_position", "am_effect", ["history_id", "position"])
    op.create_index("ix_am_effect_status_due_at", "am_effect", ["status", "due_at"])


def _event() -> None:
    op.create_table(
        "am_event",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("task_id", columns.Id, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("time", columns.UtcTime(), nullable=False),
        sa.Column("category", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("level", sa.String(), nullable=False),
        sa.Column("summary", columns.Prose(), nullable=False),
        sa.Column("actor", columns.Json(), nullable=False),
        sa.Column("data", columns.Json(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["am_task.id"], name="fk_am_event_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_am_event"),
        sa.UniqueConstraint("task_id", "seq", name="uq_am_event_task_id_seq"),
        sqlite_autoincrement=True,
    )


def _history() -> None:
    op.create_table(
        "am_history",
        sa.Column("id", columns.Id, nullable=False),
        sa.Column("task_id", columns.Id, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("result", sa.String(), nullable=False),
        sa.Column("transition_id", sa.String(), nullable=True),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("to", sa.String(), nullable=False),
        sa.Column("trigger", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("actor", columns.Json(), nullable=False),
        sa.Column("payload", columns.Json(), nullable=True),
        sa.Column("guards", columns.Json(), nullable=False),
        sa.Column("hooks", columns.Json(), nullable=False),
        sa.Column("reason", columns.Prose(), nullable=True),
        sa.Column("time", columns.UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["am_task.id"], name="fk_am_history_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_am_history"),
        sa.UniqueConstraint("task_id", "seq", name="uq_am_history_task_id_seq"),
    )


def _prompt() -> None:
    op.create_table(
        "am_prompt",
        sa.Column("id", columns.Id, nullable=False),
        sa.Column("task_id", columns.Id, nullable=False),
        sa.Column("run_id", columns.Id, nullable=True),
        sa.Column("history_id", columns.Id, nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("payload", columns.Json(), nullable=False),
        sa.Column("note", columns.Prose(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("resume", columns.Json(), nullable=False),
        sa.Column("created_at", columns.UtcTime(), nullable=False),
        sa.Column("expires_at", columns.UtcTime(), nullable=True),
        sa.Column("response", columns.Json(), nullable=True),
        sa.Column("responded_by", columns.Prose(), nullable=True),
        sa.Column("responded_via", columns.Prose(), nullable=True),
        sa.Column("responded_at", columns.UtcTime(), nullable=True),
        sa.Column("answer_key", columns.Prose(), nullable=True),
        sa.ForeignKeyConstraint(["task_id"], ["am_task.id"], name="fk_am_prompt_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_am_prompt"),
    )
    op.create_index("ix_am_prompt_status_created_at", "am_prompt", ["status", "created_at"])
    op.create_index("ix_am_prompt_task_id_created_at", "am_prompt", ["task_id", "created_at"])
    op.create_index(
        "uq_am_prompt_flow",
        "am_prompt",
        ["task_id"],
        unique=True,
        sqlite_where=sa.text("status = 'pending' AND type <> 'choice'"),
        postgresql_where=sa.text("status = 'pending' AND type <> 'choice'"),
    )


def _pull() -> None:
    op.create_table(
        "am_pull",
        sa.Column("id", columns.Id, nullable=False),
        sa.Column("project_id", columns.Id, nullable=False),
        sa.Column("task_id", columns.Id, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("title", columns.Prose(), nullable=False),
        sa.Column("body", columns.Prose(), nullable=False),
        sa.Column("head_branch", sa.String(), nullable=False),
        sa.Column("base_branch", sa.String(), nullable=False),
        sa.Column("head_sha", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("merge_sha", sa.String(), nullable=True),
        sa.Column("created_at", columns.UtcTime(), nullable=False),
        sa.Column("updated_at", columns.UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["am_project.id"], name="fk_am_pull_project_id"),
        sa.ForeignKeyConstraint(["task_id"], ["am_task.id"], name="fk_am_pull_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_am_pull"),
        sa.UniqueConstraint("project_id", "number", name="uq_am_pull_project_id_number"),
    )
    op.create_index("ix_am_pull_task_id", "am_pull", ["task_id"])
    op.create_index(
        "uq_am_pull_open",
        "am_pull",
        ["project_id", "head_branch", "base_branch"],
        unique=True,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )


def _run() -> None:
    op.create_table(
        "am_run",
        sa.Column("id", columns.Id, nullable=False),
        sa.Column("task_id", columns.Id, nullable=False),
        sa.Column("project_id", columns.Id, nullable=False),
        sa.Column("effect_id", columns.Id, nullable=False),
        sa.Column("agent", sa.String(), nullable=True),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("session", columns.Prose(), nullable=True),
        sa.Column("prompt", columns.Prose(), nullable=True),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("payload", columns.Json(), nullable=True),
        sa.Column("error", columns.Json(), nullable=True),
        sa.Column("usage", columns.Json(), nullable=True),
        sa.Column("branch", sa.String(), nullable=True),
        sa.Column("base_sha", sa.String(), nullable=True),
        sa.Column("head_sha", sa.String(), nullable=True),
        sa.Column("workspace", sa.String(), nullable=True),
        sa.Column("created_at", columns.UtcTime(), nullable=False),
        sa.Column("started_at", columns.UtcTime(), nullable=True),
        sa.Column("ended_at", columns.UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["am_project.id"], name="fk_am_run_project_id"),
        sa.ForeignKeyConstraint(["task_id"], ["am_task.id"], name="fk_am_run_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_am_run"),
    )
    op.create_index("ix_am_run_status_created_at", "am_run", ["status", "created_at"])
    op.create_index("ix_am_run_task_id_created_at", "am_run", ["task_id", "created_at"])
    op.create_index(
        "uq_am_run_live",
        "am_run",
        ["task_id"],
        unique=True,
        sqlite_where=sa.text("status IN ('queued', 'running')"),
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
