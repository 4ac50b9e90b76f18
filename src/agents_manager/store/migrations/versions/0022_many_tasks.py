"""Counts of tasks, what changed last, and figures of a span of time are read from indexes, however
much there was before."""

from alembic import op

revision = "0022"
down_revision = "0021"

INDEXES = {
    "am_task": (
        ("project_id", "pipeline_id", "pipeline_version", "status"),
        ("updated_at", "id"),
        ("project_id", "updated_at", "id"),
    ),
    "am_prompt": (("type", "status", "responded_at"),),
    "am_pull": (("state", "updated_at"),),
}


def upgrade() -> None:
    for table, indexes in INDEXES.items():
        for columns in indexes:
            op.create_index(f"ix_{table}_{'_'.join(columns)}", table, list(columns))
    op.create_index(
        "ix_am_run_spans",
        "am_run",
        [
            *("project_id", "started_at", "task_id", "agent", "model", "mode", "status"),
            *("ended_at", "cost_usd"),
        ],
    )
