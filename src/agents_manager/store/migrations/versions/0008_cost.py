"""What runs cost is a column of its own, and sums over runs and reviews are read from indexes."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("am_run", sa.Column("cost_usd", sa.Double(), nullable=True))
    op.add_column("am_run", sa.Column("cost_basis", sa.String(), nullable=True))
    postgres = op.get_bind().dialect.name == "postgresql"
    reported = "(usage ->> 'cost_usd')::float8" if postgres else "json_extract(usage, '$.cost_usd')"
    op.execute(f"UPDATE am_run SET cost_usd = {reported} WHERE usage IS NOT NULL")  # noqa: S608
    op.execute("UPDATE am_run SET cost_basis = 'reported' WHERE cost_usd IS NOT NULL")
    op.create_index(
        "ix_am_run_figures",
        "am_run",
        [
            *("task_id", "project_id", "started_at", "agent", "model", "mode", "status"),
            *("ended_at", "cost_usd"),
        ],
    )
    reviews = sa.text("\"trigger\" = 'review_submitted' AND result = 'done'")
    op.create_index(
        "ix_am_history_reviews",
        "am_history",
        ["task_id"],
        sqlite_where=reviews,
        postgresql_where=reviews,
    )
