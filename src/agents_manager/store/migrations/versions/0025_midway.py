"""Questions that an agent asks in the middle of its run stand beside the one that its task waits
for."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    midway = sa.Column("midway", sa.Boolean(), nullable=False, server_default=sa.false())
    op.add_column("am_prompt", midway)
    op.drop_index("uq_am_prompt_flow", "am_prompt")
    kinds = "type NOT IN ('choice', 'permission', 'budget')"
    where = sa.text(f"status = 'pending' AND NOT midway AND {kinds}")
    op.create_index(
        "uq_am_prompt_flow",
        "am_prompt",
        ["task_id"],
        unique=True,
        sqlite_where=where,
        postgresql_where=where,
    )
