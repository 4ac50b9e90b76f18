"""Sessions of browsers are kept beside tokens, and codes that open one."""

import sqlalchemy as sa
from alembic import op

from agents_manager.store import columns

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    # Until now only the owner's token was ever made.
    op.add_column(
        "am_token",
        sa.Column("kind", sa.String(), nullable=False, server_default=sa.text("'owner'")),
    )
    op.add_column("am_token", sa.Column("used_at", columns.UtcTime(), nullable=True))
    op.add_column("am_token", sa.Column("expires_at", columns.UtcTime(), nullable=True))
    op.add_column("am_token", sa.Column("parent", sa.String(), nullable=True))
    op.create_table(
        "am_login_code",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("parent", sa.String(), nullable=False),
        sa.Column("expires_at", columns.UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_am_login_code"),
    )
