"""A task can name the agent and the model of its runs."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store.columns import Prose

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    for name in ("agent", "model"):
        op.add_column("am_task", sa.Column(name, Prose()))
