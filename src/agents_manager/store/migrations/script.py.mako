"""${message}."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store import columns

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}
