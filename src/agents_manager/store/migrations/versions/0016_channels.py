"""What is told by channels and what became of it, whose turn it is, and who is not known there."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store import columns

revision = "0016"
down_revision = "0015"

OPEN = "state = 'sent' AND closed_at IS NULL"


def upgrade() -> None:
    op.create_table(
        "am_delivery",
        sa.Column("id", columns.Id, nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("occasion", sa.String(), nullable=False),
        sa.Column("task_id", columns.Id, nullable=True),
        sa.Column("prompt_id", columns.Id, nullable=True),
        sa.Column("title", columns.Prose(), nullable=False),
        sa.Column("body", columns.Json(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", columns.UtcTime(), nullable=False),
        sa.Column("host", sa.String(), nullable=True),
        sa.Column("repeat", sa.Boolean(), nullable=False),
        sa.Column("message", sa.String(), nullable=True),
        sa.Column("given", columns.Json(), nullable=False),
        sa.Column("actions", columns.Json(), nullable=False),
        sa.Column("error", columns.Prose(), nullable=True),
        sa.Column("created_at", columns.UtcTime(), nullable=False),
        sa.Column("sent_at", columns.UtcTime(), nullable=True),
        sa.Column("closed_at", columns.UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_am_delivery"),
        sa.UniqueConstraint("key", "channel", "place", name="uq_am_delivery_key_channel_place"),
    )
    op.create_index(
        "ix_am_delivery_channel_state_due_at", "am_delivery", ["channel", "state", "due_at"]
    )
    op.create_index(
        "ix_am_delivery_channel_place_message", "am_delivery", ["channel", "place", "message"]
    )
    where = sa.text(OPEN)
    op.create_index(
        "ix_am_delivery_open",
        "am_delivery",
        ["channel", "due_at"],
        sqlite_where=where,
        postgresql_where=where,
    )
    op.create_table(
        "am_cursor",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_am_cursor"),
    )
    op.create_table(
        "am_lease",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("until", columns.UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_am_lease"),
    )
    op.create_table(
        "am_words_asked",
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("button", sa.String(), nullable=False),
        sa.Column("asked_at", columns.UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("channel", "place", "person", name="pk_am_words_asked"),
    )
    op.create_table(
        "am_stranger",
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("called", columns.Prose(), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("last_at", columns.UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("channel", "person", name="pk_am_stranger"),
    )
