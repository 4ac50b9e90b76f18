"""Tasks begin at a time, and schedules make them again and again, once for each period."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store.columns import Id, Json, Prose, UtcTime

revision = "0024"
down_revision = "0022"

STARTS = sa.text("starts_at IS NOT NULL")


def upgrade() -> None:
    op.add_column("am_task", sa.Column("starts_at", UtcTime()))
    op.create_index(
        *("ix_am_task_starts", "am_task", ["starts_at"]),
        sqlite_where=STARTS,
        postgresql_where=STARTS,
    )
    op.create_table(
        "am_schedule",
        sa.Column("id", Id, nullable=False),
        sa.Column("project_id", Id, nullable=False),
        *(sa.Column(name, Prose(), nullable=False) for name in ("project", "name")),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("rule", "zone")),
        sa.Column("template", Json(), nullable=False),
        sa.Column("start", sa.Boolean(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("when_open", "state")),
        sa.Column("reason", Prose()),
        *(sa.Column(name, UtcTime()) for name in ("next_at", "until")),
        sa.Column("most", sa.Integer()),
        sa.Column("fired", sa.Integer(), nullable=False),
        sa.Column("last_task_id", Id),
        sa.Column("created_by", Prose(), nullable=False),
        *(sa.Column(name, UtcTime(), nullable=False) for name in ("created_at", "updated_at")),
        sa.PrimaryKeyConstraint("id", name="pk_am_schedule"),
        sa.UniqueConstraint("project_id", "name", name="uq_am_schedule_project_id_name"),
    )
    op.create_index("ix_am_schedule_next_at", "am_schedule", ["next_at"])
    op.create_table(
        "am_firing",
        sa.Column("schedule_id", Id, nullable=False),
        sa.Column("period", UtcTime(), nullable=False),
        sa.Column("came", sa.String(), nullable=False),
        sa.Column("task_id", Id),
        sa.Column("by", Prose()),
        sa.Column("time", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["schedule_id"], ["am_schedule.id"], name="fk_am_firing_schedule_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("schedule_id", "period", name="pk_am_firing"),
    )
