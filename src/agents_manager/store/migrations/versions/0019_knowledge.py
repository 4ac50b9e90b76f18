"""What runs found out is kept, with the handoffs that told of it."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store import columns, word_index

revision = "0019"
down_revision = "0018"

REMEMBERED = sa.text("kind = 'gotcha' AND severity = 'high' AND state <> 'retired'")
ACTIVE = sa.text("resolved_at IS NULL")
DOUBTFUL = sa.text("state IN ('stale', 'contradicted')")
USELESS = sa.text("used >= 5 AND helpful = 0 AND state = 'active'")


def upgrade() -> None:
    op.create_table(
        "am_node",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("id", columns.Id, nullable=False),
        sa.Column("project_id", columns.Id, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("text", columns.Prose(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("detail", columns.Json(), nullable=False),
        sa.Column("severity", sa.String(), nullable=True),
        sa.Column("tags", columns.Json(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("helpful", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", columns.UtcTime(), nullable=False),
        sa.Column("updated_at", columns.UtcTime(), nullable=False),
        sa.Column("confirmed_at", columns.UtcTime(), nullable=True),
        sa.Column("confirmed_commit", sa.String(), nullable=True),
        sa.Column("words", columns.Words(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["am_project.id"], name="fk_am_node_project_id"),
        sa.PrimaryKeyConstraint("number", name="pk_am_node"),
        sa.UniqueConstraint("id", name="uq_am_node_id"),
    )
    op.create_index(
        "ix_am_node_memory",
        "am_node",
        ["project_id", "number"],
        sqlite_where=REMEMBERED,
        postgresql_where=REMEMBERED,
    )
    op.create_index(
        "ix_am_node_project_id_kind_fingerprint", "am_node", ["project_id", "kind", "fingerprint"]
    )
    op.create_index(
        "ix_am_node_project_id_kind_number", "am_node", ["project_id", "kind", "number"]
    )
    op.create_index("ix_am_node_project_id_number", "am_node", ["project_id", "number"])
    for name, where in (("doubtful", DOUBTFUL), ("useless", USELESS)):
        op.create_index(
            f"ix_am_node_{name}",
            "am_node",
            ["project_id", "number"],
            sqlite_where=where,
            postgresql_where=where,
        )
    op.create_table(
        "am_look",
        sa.Column("project_id", columns.Id, nullable=False),
        sa.Column("commit", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["am_project.id"], name="fk_am_look_project_id"),
        sa.PrimaryKeyConstraint("project_id", name="pk_am_look"),
    )
    op.create_table(
        "am_blocker",
        sa.Column("id", columns.Id, nullable=False),
        sa.Column("project_id", columns.Id, nullable=False),
        sa.Column("task_id", columns.Id, nullable=False),
        sa.Column("run_id", columns.Id, nullable=False),
        sa.Column("blocker", columns.Prose(), nullable=False),
        sa.Column("impact", columns.Prose(), nullable=False),
        sa.Column("suggested_resolution", columns.Prose(), nullable=False),
        sa.Column("blocking_tasks", columns.Json(), nullable=False),
        sa.Column("created_at", columns.UtcTime(), nullable=False),
        sa.Column("resolved_at", columns.UtcTime(), nullable=True),
        sa.Column("resolved_by", columns.Prose(), nullable=True),
        sa.Column("note", columns.Prose(), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["am_project.id"], name="fk_am_blocker_project_id"),
        sa.ForeignKeyConstraint(["task_id"], ["am_task.id"], name="fk_am_blocker_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_am_blocker"),
    )
    op.create_index(
        "ix_am_blocker_active",
        "am_blocker",
        ["project_id", "created_at", "id"],
        sqlite_where=ACTIVE,
        postgresql_where=ACTIVE,
    )
    op.create_index(
        "ix_am_blocker_project_id_created_at_id", "am_blocker", ["project_id", "created_at", "id"]
    )
    op.create_index("ix_am_blocker_task_id", "am_blocker", ["task_id"])
    op.create_table(
        "am_edge",
        sa.Column("source", columns.Id, nullable=False),
        sa.Column("target", columns.Id, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["source"], ["am_node.id"], name="fk_am_edge_source"),
        sa.ForeignKeyConstraint(["target"], ["am_node.id"], name="fk_am_edge_target"),
        sa.PrimaryKeyConstraint("source", "target", "kind", name="pk_am_edge"),
    )
    op.create_index("ix_am_edge_target", "am_edge", ["target"])
    op.create_table(
        "am_file_note",
        sa.Column("id", columns.Id, nullable=False),
        sa.Column("project_id", columns.Id, nullable=False),
        sa.Column("path", columns.Id, nullable=False),
        sa.Column("task_id", columns.Id, nullable=False),
        sa.Column("run_id", columns.Id, nullable=False),
        sa.Column("change", sa.String(), nullable=False),
        sa.Column("description", columns.Prose(), nullable=False),
        sa.Column("lines", sa.String(), nullable=False),
        sa.Column("at", columns.UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["am_project.id"], name="fk_am_file_note_project_id"
        ),
        sa.ForeignKeyConstraint(["task_id"], ["am_task.id"], name="fk_am_file_note_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_am_file_note"),
    )
    op.create_index(
        "ix_am_file_note_project_id_path_at_id", "am_file_note", ["project_id", "path", "at", "id"]
    )
    op.create_index("ix_am_file_note_task_id", "am_file_note", ["task_id"])
    op.create_table(
        "am_node_file",
        sa.Column("project_id", columns.Id, nullable=False),
        sa.Column("path", columns.Id, nullable=False),
        sa.Column("node", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["node"], ["am_node.number"], name="fk_am_node_file_node"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["am_project.id"], name="fk_am_node_file_project_id"
        ),
        sa.PrimaryKeyConstraint("project_id", "path", "node", name="pk_am_node_file"),
    )
    op.create_index("ix_am_node_file_node", "am_node_file", ["node"])
    op.create_table(
        "am_node_source",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("node", sa.BigInteger(), nullable=False),
        sa.Column("task_id", columns.Id, nullable=True),
        sa.Column("run_id", columns.Id, nullable=True),
        sa.Column("by", columns.Prose(), nullable=False),
        sa.Column("commit", sa.String(), nullable=True),
        sa.Column("file", columns.Prose(), nullable=True),
        sa.Column("lines", sa.String(), nullable=True),
        sa.Column("words", columns.Prose(), nullable=False),
        sa.Column("at", columns.UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["node"], ["am_node.number"], name="fk_am_node_source_node"),
        sa.ForeignKeyConstraint(["task_id"], ["am_task.id"], name="fk_am_node_source_task_id"),
        sa.PrimaryKeyConstraint("number", name="pk_am_node_source"),
    )
    op.create_index("ix_am_node_source_node", "am_node_source", ["node"])
    op.create_index("ix_am_node_source_task_id_node", "am_node_source", ["task_id", "node"])
    op.create_table(
        "am_node_tag",
        sa.Column("project_id", columns.Id, nullable=False),
        sa.Column("tag", columns.Id, nullable=False),
        sa.Column("node", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["node"], ["am_node.number"], name="fk_am_node_tag_node"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["am_project.id"], name="fk_am_node_tag_project_id"
        ),
        sa.PrimaryKeyConstraint("project_id", "tag", "node", name="pk_am_node_tag"),
    )
    op.create_index("ix_am_node_tag_node", "am_node_tag", ["node"])
    op.create_table(
        "am_blocked",
        sa.Column("blocker_id", columns.Id, nullable=False),
        sa.Column("task_id", columns.Id, nullable=False),
        sa.ForeignKeyConstraint(["blocker_id"], ["am_blocker.id"], name="fk_am_blocked_blocker_id"),
        sa.ForeignKeyConstraint(["task_id"], ["am_task.id"], name="fk_am_blocked_task_id"),
        sa.PrimaryKeyConstraint("blocker_id", "task_id", name="pk_am_blocked"),
    )
    op.create_index("ix_am_blocked_task_id", "am_blocked", ["task_id"])
    op.create_table(
        "am_handoff",
        sa.Column("run_id", columns.Id, nullable=False),
        sa.Column("task_id", columns.Id, nullable=False),
        sa.Column("project_id", columns.Id, nullable=False),
        sa.Column("handoff", columns.Json(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("completeness", columns.Number(), nullable=False),
        sa.Column("at", columns.UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["am_project.id"], name="fk_am_handoff_project_id"),
        sa.ForeignKeyConstraint(["run_id"], ["am_run.id"], name="fk_am_handoff_run_id"),
        sa.ForeignKeyConstraint(["task_id"], ["am_task.id"], name="fk_am_handoff_task_id"),
        sa.PrimaryKeyConstraint("run_id", name="pk_am_handoff"),
    )
    op.create_index("ix_am_handoff_task_id_at", "am_handoff", ["task_id", "at"])
    op.create_table(
        "am_use",
        sa.Column("run_id", columns.Id, nullable=False),
        sa.Column("node_id", columns.Id, nullable=False),
        sa.Column("score", columns.Number(), nullable=False),
        sa.Column("why", columns.Json(), nullable=False),
        sa.Column("at", columns.UtcTime(), nullable=False),
        sa.Column("helped", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["node_id"], ["am_node.id"], name="fk_am_use_node_id"),
        sa.ForeignKeyConstraint(["run_id"], ["am_run.id"], name="fk_am_use_run_id"),
        sa.PrimaryKeyConstraint("run_id", "node_id", name="pk_am_use"),
    )
    op.create_index("ix_am_use_node_id", "am_use", ["node_id"])
    if op.get_bind().dialect.name == "sqlite":
        for statement in word_index.STATEMENTS:
            op.execute(statement)
    else:
        op.create_index("ix_am_node_words", "am_node", ["words"], postgresql_using="gin")
