"""The number of an event is counted from the events; the task's counter has gone."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.drop_column("am_task", "event_seq")
