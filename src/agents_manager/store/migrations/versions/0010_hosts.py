"""Which machine performs an effect, and when each machine was last seen."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store import columns

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("am_effect", sa.Column("host", sa.String(), nullable=True))
    op.create_table(
        "am_host",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("seen_at", columns.UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_am_host"),
    )
