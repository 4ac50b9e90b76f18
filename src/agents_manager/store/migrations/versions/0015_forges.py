"""A pull request knows where it lives; its number is one there."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store import columns

revision = "0015"
down_revision = "0013"

OLD = (
    *("id", "project_id", "task_id", "number", "title", "body", "head_branch", "base_branch"),
    *("head_sha", "state", "merge_sha", "created_at", "updated_at"),
)
UNIQUE = "uq_am_pull_project_id_forge_number"


def _new() -> list[sa.Column[str]]:
    return [
        sa.Column("forge", sa.String(), nullable=False, server_default=sa.text("'local'")),
        sa.Column("url", sa.String(), nullable=True),
        sa.Column("checks", sa.String(), nullable=True),
    ]


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        _anew()
        return
    for column in _new():
        op.add_column("am_pull", column)
    op.drop_constraint("uq_am_pull_project_id_number", "am_pull")
    op.create_unique_constraint(UNIQUE, "am_pull", ["project_id", "forge", "number"])


def _anew() -> None:
    """SQLite cannot change a constraint of a table that is there."""
    op.drop_index("ix_am_pull_task_id", "am_pull")
    op.drop_index("uq_am_pull_open", "am_pull")
    op.rename_table("am_pull", "am_pull_old")
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
        *_new(),
        sa.ForeignKeyConstraint(["project_id"], ["am_project.id"], name="fk_am_pull_project_id"),
        sa.ForeignKeyConstraint(["task_id"], ["am_task.id"], name="fk_am_pull_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_am_pull"),
        sa.UniqueConstraint("project_id", "forge", "number", name=UNIQUE),
    )
    names = ", ".join(OLD)
    op.execute(f"INSERT INTO am_pull ({names}) SELECT {names} FROM am_pull_old")  # noqa: S608
    op.drop_table("am_pull_old")
    op.create_index("ix_am_pull_task_id", "am_pull", ["task_id"])
    where = sa.text("state = 'open'")
    op.create_index(
        "uq_am_pull_open",
        "am_pull",
        ["project_id", "head_branch", "base_branch"],
        unique=True,
        sqlite_where=where,
        postgresql_where=where,
    )
