"""The tables, one schema for SQLite and Postgres. A change here needs a migration; a test compares
the two."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    text,
)

from agents_manager.store.columns import Id, Json, Prose, UtcTime

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _id() -> Column[str]:
    return Column("id", Id, primary_key=True)


def _task() -> Column[str]:
    return Column("task_id", Id, ForeignKey("am_task.id"), nullable=False)


def _project() -> Column[str]:
    return Column("project_id", Id, ForeignKey("am_project.id"), nullable=False)


def _must(name: str, type_: Any = String) -> Column[Any]:
    return Column(name, type_, nullable=False)


project = Table(
    "am_project",
    metadata,
    _id(),
    _must("name", Prose),
    _must("path"),
    _must("base_branch"),
    Column("trusted_commands", String),
    _must("created_at", UtcTime),
    UniqueConstraint("path"),
)

pipeline = Table(
    "am_pipeline",
    metadata,
    _id(),
    Column("version", Integer, primary_key=True, autoincrement=False),
    _must("document", Json),
    _must("hash"),
    _must("created_at", UtcTime),
)

task = Table(
    "am_task",
    metadata,
    _id(),
    _project(),
    _must("title", Prose),
    _must("description", Prose),
    _must("type"),
    _must("priority"),
    _must("size"),
    _must("complexity"),
    _must("tags", Json),
    _must("acceptance_criteria", Json),
    _must("dependencies", Json),
    _must("pipeline_id", Id),
    _must("pipeline_version", Integer),
    _must("status"),
    Column("plan", Prose),
    _must("version", Integer),
    _must("created_at", UtcTime),
    _must("updated_at", UtcTime),
    # The number of the task's newest event: counted here, so that its numbers have no gaps.
    Column("event_seq", Integer, nullable=False, server_default=text("0")),
    ForeignKeyConstraint(
        ["pipeline_id", "pipeline_version"], ["am_pipeline.id", "am_pipeline.version"]
    ),
    Index(None, "project_id", "status", "created_at"),
    Index(None, "created_at", "id"),
)

dependency = Table(
    "am_dependency",
    metadata,
    Column("task_id", Id, ForeignKey("am_task.id"), primary_key=True),
    Column("depends_on", Id, primary_key=True),
    Index(None, "depends_on"),
)

artifact = Table(
    "am_artifact",
    metadata,
    _id(),
    _task(),
    Column("run_id", Id),
    _must("type"),
    _must("key", Prose),
    _must("label", Prose),
    _must("data", Json),
    _must("created_at", UtcTime),
    UniqueConstraint("task_id", "type", "key"),
)

history = Table(
    "am_history",
    metadata,
    _id(),
    _task(),
    # Attempts of one transaction have the same time; this is their order.
    _must("seq", Integer),
    _must("version", Integer),
    _must("result"),
    Column("transition_id", String),
    _must("source"),
    _must("to"),
    _must("trigger"),
    Column("outcome", String),
    _must("actor", Json),
    Column("payload", Json),
    _must("guards", Json),
    _must("hooks", Json),
    Column("reason", Prose),
    _must("time", UtcTime),
    UniqueConstraint("task_id", "seq"),
)

event = Table(
    "am_event",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    _task(),
    _must("seq", Integer),
    _must("time", UtcTime),
    _must("category"),
    _must("type"),
    _must("level"),
    _must("summary", Prose),
    _must("actor", Json),
    _must("data", Json),
    UniqueConstraint("task_id", "seq"),
    # Readers resume after an id, so SQLite must not give the id of a deleted row again.
    sqlite_autoincrement=True,
)

effect = Table(
    "am_effect",
    metadata,
    _id(),
    _task(),
    # The order of the task's effects over all its transitions.
    _must("seq", Integer),
    _must("history_id", Id),
    _must("position", Integer),
    _must("kind"),
    _must("payload", Json),
    _must("policy"),
    _must("status"),
    _must("attempt", Integer),
    _must("due_at", UtcTime),
    Column("error", Prose),
    Column("result", Json),
    _must("created_at", UtcTime),
    Column("finished_at", UtcTime),
    UniqueConstraint("task_id", "seq"),
    Index(None, "status", "due_at"),
    Index(None, "history_id", "position"),
)

LIVE_RUN = text("status IN ('queued', 'running')")
run = Table(
    "am_run",
    metadata,
    _id(),
    _task(),
    _project(),
    _must("effect_id", Id),
    Column("agent", String),
    _must("mode"),
    Column("model", String),
    _must("status"),
    _must("attempt", Integer),
    Column("session", Prose),
    Column("prompt", Prose),
    Column("outcome", String),
    Column("payload", Json),
    Column("error", Json),
    Column("usage", Json),
    Column("branch", String),
    Column("base_sha", String),
    Column("head_sha", String),
    Column("workspace", String),
    _must("created_at", UtcTime),
    Column("started_at", UtcTime),
    Column("ended_at", UtcTime),
    Index(None, "task_id", "created_at"),
    Index(None, "status", "created_at"),
    Index(
        "uq_am_run_live",
        "task_id",
        unique=True,
        sqlite_where=LIVE_RUN,
        postgresql_where=LIVE_RUN,
    ),
)

FLOW_PROMPT = text("status = 'pending' AND type <> 'choice'")
prompt = Table(
    "am_prompt",
    metadata,
    _id(),
    _task(),
    Column("run_id", Id),
    _must("history_id", Id),
    _must("type"),
    _must("payload", Json),
    Column("note", Prose),
    _must("revision", Integer),
    _must("status"),
    _must("resume", Json),
    _must("created_at", UtcTime),
    Column("expires_at", UtcTime),
    Column("response", Json),
    Column("responded_by", Prose),
    Column("responded_via", Prose),
    Column("responded_at", UtcTime),
    Column("answer_key", Prose),
    Index(None, "task_id", "created_at"),
    Index(None, "status", "created_at"),
    Index(
        "uq_am_prompt_flow",
        "task_id",
        unique=True,
        sqlite_where=FLOW_PROMPT,
        postgresql_where=FLOW_PROMPT,
    ),
)

OPEN_PULL = text("state = 'open'")
pull = Table(
    "am_pull",
    metadata,
    _id(),
    _project(),
    _task(),
    _must("number", Integer),
    _must("title", Prose),
    _must("body", Prose),
    _must("head_branch"),
    _must("base_branch"),
    _must("head_sha"),
    _must("state"),
    Column("merge_sha", String),
    _must("created_at", UtcTime),
    _must("updated_at", UtcTime),
    UniqueConstraint("project_id", "number"),
    Index(None, "task_id"),
    Index(
        "uq_am_pull_open",
        "project_id",
        "head_branch",
        "base_branch",
        unique=True,
        sqlite_where=OPEN_PULL,
        postgresql_where=OPEN_PULL,
    ),
)

token = Table(
    "am_token",
    metadata,
    Column("digest", String, primary_key=True),
    _must("name", Prose),
    _must("role"),
    _must("created_at", UtcTime),
)

reply = Table(
    "am_reply",
    metadata,
    Column("key", String, primary_key=True),
    _must("request"),
    _must("status", Integer),
    _must("body", Prose),
    _must("created_at", UtcTime),
)
