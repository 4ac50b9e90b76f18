"""Phases of a task, and the phase a run works in."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store import columns

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "am_phase",
        sa.Column("id", columns.Id, nullable=False),
        sa.Column("task_id", columns.Id, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("description", columns.Prose(), nullable=False),
        sa.Column("complexity", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("created_at", columns.UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["am_task.id"], name="fk_am_phase_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_am_phase"),
    )
    op.create_index("ix_am_phase_task_id_position", "am_phase", ["task_id", "position"])
    op.create_index(
        "uq_am_phase_active",
        "am_phase",
        ["task_id"],
        unique=True,
        sqlite_where=sa.text("status = 'active'"),
        postgresql_where=sa.text("status = 'active'"),
    )
    op.add_column("am_run", sa.Column("phase_id", columns.Id, nullable=True))
