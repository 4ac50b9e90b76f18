"""Who may answer a question, its timers, and what taking an answer back takes."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store import columns

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    for column in (
        sa.Column("roles", columns.Json(), nullable=False, server_default=sa.text("'[]'")),
        sa.Column("default_at", columns.UtcTime(), nullable=True),
        sa.Column("reminders", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("reminded_at", columns.UtcTime(), nullable=True),
        sa.Column("undo", columns.Json(), nullable=True),
    ):
        op.add_column("am_prompt", column)
    for name, column in (("expires", "expires_at"), ("default", "default_at")):
        where = sa.text(f"status = 'pending' AND {column} IS NOT NULL")
        op.create_index(
            f"ix_am_prompt_{name}",
            "am_prompt",
            [column],
            sqlite_where=where,
            postgresql_where=where,
        )
    op.drop_index("uq_am_prompt_flow", "am_prompt")
    where = sa.text("status = 'pending' AND type NOT IN ('choice', 'permission')")
    op.create_index(
        "uq_am_prompt_flow",
        "am_prompt",
        ["task_id"],
        unique=True,
        sqlite_where=where,
        postgresql_where=where,
    )
