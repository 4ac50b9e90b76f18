"""The objective of a task, and numbers of pull requests that are never given again."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store import columns

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column(
        "am_task",
        sa.Column("objective", columns.Prose(), nullable=False, server_default=sa.text("''")),
    )
    op.add_column(
        "am_project",
        sa.Column("last_pull", sa.Integer(), nullable=False, server_default=sa.text("0")),
    )
    op.execute(
        "UPDATE am_project SET last_pull = (SELECT COALESCE(MAX(number), 0) FROM am_pull"
        " WHERE am_pull.project_id = am_project.id)"
    )
