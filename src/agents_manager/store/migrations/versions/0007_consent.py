"""Who allowed agents without a sandbox, and which runs had none."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store import columns

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("am_project", sa.Column("consented_at", columns.UtcTime(), nullable=True))
    op.add_column("am_run", sa.Column("sandbox", sa.String(), nullable=True))
