"""What people granted beyond budgets; the question about that may stand beside others."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store import columns

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "am_grant",
        sa.Column("id", columns.Id, nullable=False),
        sa.Column("task_id", columns.Id, nullable=False),
        sa.Column("prompt_id", columns.Id, nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("subject", columns.Id, nullable=False),
        sa.Column("usd", columns.Number(), nullable=False),
        sa.Column("created_at", columns.UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_am_grant"),
        sa.ForeignKeyConstraint(["task_id"], ["am_task.id"], name="fk_am_grant_task_id"),
    )
    op.create_index("ix_am_grant_scope_subject", "am_grant", ["scope", "subject"])
    op.create_index("ix_am_grant_task_id", "am_grant", ["task_id"])
    op.drop_index("uq_am_prompt_flow", "am_prompt")
    where = sa.text("status = 'pending' AND type NOT IN ('choice', 'permission', 'budget')")
    op.create_index(
        "uq_am_prompt_flow",
        "am_prompt",
        ["task_id"],
        unique=True,
        sqlite_where=where,
        postgresql_where=where,
    )
