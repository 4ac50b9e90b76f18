"""What was set for a run and what it was started with are on record, and so are the commands that a
project was trusted with."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store import columns

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column(
        "am_run",
        sa.Column("overrides", columns.Json(), nullable=False, server_default=sa.text("'{}'")),
    )
    op.add_column("am_run", sa.Column("settings", columns.Json(), nullable=True))
    op.add_column("am_project", sa.Column("trusted", columns.Json(), nullable=True))
