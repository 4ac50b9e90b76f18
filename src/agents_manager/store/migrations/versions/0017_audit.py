"""Decisions that are no events of a task are on record."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store import append_only, columns

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "am_audit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("time", columns.UtcTime(), nullable=False),
        sa.Column("who", columns.Prose(), nullable=False),
        sa.Column("via", sa.String(), nullable=True),
        sa.Column("address", sa.String(), nullable=True),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("summary", columns.Prose(), nullable=False),
        sa.Column("data", columns.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_am_audit"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_am_audit_what_time", "am_audit", ["what", "time"])
    for statement in append_only.statements(op.get_bind().dialect.name):
        op.execute(statement)
