"""Machines tell what they are, a project may lie elsewhere on each, and what their agents print can
be read on the others."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store.columns import Id, Json, UtcTime

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    empty = sa.text("''")
    for column in (
        sa.Column("name", sa.String(), nullable=False, server_default=empty),
        sa.Column("version", sa.String(), nullable=False, server_default=empty),
        sa.Column("labels", Json(), nullable=False, server_default=sa.text("'[]'")),
        sa.Column("capacity", sa.Integer()),
        sa.Column("started_at", UtcTime()),
        sa.Column("epoch", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("state", sa.String(), nullable=False, server_default=sa.text("'up'")),
        sa.Column("free_disk_mb", sa.Integer()),
    ):
        op.add_column("am_host", column)
    op.add_column("am_run", sa.Column("host", sa.String()))
    op.add_column("am_project", sa.Column("remote", sa.String()))
    op.create_table(
        "am_place",
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("project_id", Id, nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["am_project.id"], name="fk_am_place_project_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("host", "project_id", name="pk_am_place"),
    )
    op.create_table(
        "am_output",
        sa.Column("run_id", Id, nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("file", sa.String(), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["am_run.id"], name="fk_am_output_run_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "turn", "file", "start", name="pk_am_output"),
    )
