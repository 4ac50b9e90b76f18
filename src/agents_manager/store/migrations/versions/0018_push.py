"""A session knows where its browser takes notices."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store import columns

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.add_column("am_token", sa.Column("push", columns.Json(), nullable=True))
