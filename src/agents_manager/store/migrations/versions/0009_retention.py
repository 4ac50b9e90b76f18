"""When the transcript of a run was removed by retention."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store import columns

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("am_run", sa.Column("transcript_removed_at", columns.UtcTime(), nullable=True))
