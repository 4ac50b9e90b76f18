"""Commits of a task that no agent handed over: its agent failed, was stopped, or found nothing left
to do. A person can have them checked again, or review them as they are."""

from agents_manager.domain import handing_over
from agents_manager.domain.guards import Fired
from agents_manager.domain.pipeline import Pipeline
from agents_manager.domain.prompt import Choice
from agents_manager.domain.race import JUDGE
from agents_manager.domain.task import Artifact, ArtifactType, Task
from agents_manager.flow import facts
from agents_manager.flow.ports import Tx


def choices(tx: Tx, task: Task, pipeline: Pipeline) -> list[Choice]:
    """Return what a person can do with the commits on the branch, or nothing if there are none or
    the pipeline has no review for them."""
    change = _change(tx, task)
    if change is None or way(tx, task, pipeline) is None:
        return []
    return handing_over.choices(change.label)


def review_choice(tx: Tx, task: Task, pipeline: Pipeline) -> list[Choice]:
    """Return the choice to review the commits without running the checks, if it is possible."""
    return [
        c for c in choices(tx, task, pipeline) if c.action == f"hand_over:{handing_over.AS_IT_IS}"
    ]


def way(tx: Tx, task: Task, pipeline: Pipeline) -> tuple[str, Fired] | None:
    """Return the status to leave and the trigger that together lead to the review of the work."""
    return handing_over.way(pipeline, facts.origin_of(tx, task, pipeline))


def _change(tx: Tx, task: Task) -> Artifact | None:
    """Return the recorded commits on the branch of the task's last run. Runs that work side by side
    have branches that are put together later."""
    runs = tx.runs.of_task(task.id)
    recorded = tx.tasks.artifacts(task.id, ArtifactType.DIFF)
    if not runs or not recorded or runs[-1].part or runs[-1].mode == JUDGE:
        return None
    return recorded[-1] if recorded[-1].data["branch"] == runs[-1].branch else None
