"""Runs of one task may work side by side, each at a part: one live run for each of them."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

LIVE = "status IN ('queued', 'running')"


def upgrade() -> None:
    for table in ("am_run", "am_effect"):
        part = sa.Column("part", sa.String(), nullable=False, server_default=sa.text("''"))
        op.add_column(table, part)
    op.drop_index("uq_am_run_live", "am_run")
    op.create_index(
        "uq_am_run_live",
        "am_run",
        ["task_id", "part"],
        unique=True,
        sqlite_where=sa.text(LIVE),
        postgresql_where=sa.text(LIVE),
    )
