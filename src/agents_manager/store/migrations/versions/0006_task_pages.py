"""Pages of tasks of a project or a status are read from an index, however many tasks there are."""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.drop_index("ix_am_task_project_id_status_created_at", "am_task")
    for columns in (["project_id"], ["status"], ["project_id", "status"]):
        ordered = [*columns, "created_at", "id"]
        op.create_index(f"ix_am_task_{'_'.join(ordered)}", "am_task", ordered)
