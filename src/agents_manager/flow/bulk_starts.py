"""Starting many tasks, each as if it were started alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from agents_manager.domain import recurrence
from agents_manager.domain.board import Place
from agents_manager.domain.ids import ProjectId, TaskId
from agents_manager.domain.pipeline import Category
from agents_manager.domain.task import Actor, Project, Task
from agents_manager.domain.transition import Refused, onward
from agents_manager.errors import InvalidInput, TransitionRefused
from agents_manager.flow import later
from agents_manager.flow.ports import Services, Tx

MOST = 1000


class StartState(StrEnum):
    STARTED = "started"
    WAITING = "waiting"
    """It starts when its dependencies are finished."""
    SCHEDULED = "scheduled"
    """It starts at the time that was given."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class StartResult:
    task: Task
    state: StartState
    reason: str
    """What it waits for, or why it was refused; empty if it was started."""


async def start_many(
    s: Services, named: Sequence[str], actor: Actor, *, at: datetime | None = None
) -> list[StartResult]:
    """Starts each of the tasks in its own transaction; one that is refused does not stop others."""

    def find(tx: Tx) -> list[TaskId]:
        return list(dict.fromkeys(tx.tasks.find(one).id for one in named))

    return await _each(s, await s.store.read(find), actor, at)


async def start_all(
    s: Services, project: Project, actor: Actor, *, at: datetime | None = None
) -> list[StartResult]:
    """Starts all tasks of a project that nobody has started, the oldest first. Those that the
    engine starts later anyway are left alone."""
    return await _each(s, await s.store.read(lambda tx: _startable(tx, project.id)), actor, at)


def begin(tx: Tx, s: Services, task: Task, actor: Actor, at: datetime | None = None) -> StartResult:
    try:
        if at is not None:
            moved = later.begin_at(tx, s, task, at, actor)
            return StartResult(moved, StartState.SCHEDULED, "")
        later.check_dependencies(tx, task)
        done = later.begin(tx, s, task, actor)
    except TransitionRefused as error:
        return StartResult(task, StartState.REFUSED, " ".join([error.message, *error.details]))
    if isinstance(done, Refused):
        return StartResult(task, StartState.REFUSED, " ".join(done.reasons))
    if isinstance(done, later.Waiting):
        return StartResult(done.task, StartState.WAITING, done.readiness.sentence())
    return StartResult(tx.tasks.get(task.id), StartState.STARTED, "")


async def _each(
    s: Services, ids: Sequence[TaskId], actor: Actor, at: datetime | None
) -> list[StartResult]:
    if len(ids) > MOST:
        many = f"{len(ids)} tasks can be started, at most {MOST} are started by one request."
        raise InvalidInput(f"No task was started. {many} Name the tasks to start.")
    recurrence.to_come(at, s.clock.now())
    return [
        await s.store.write(lambda tx, t=one: begin(tx, s, tx.tasks.get(t), actor, at))
        for one in ids
    ]


def _startable(tx: Tx, project: ProjectId) -> list[TaskId]:
    places = [place for place, _ in tx.board.counts(project) if _is_start(tx, place)]
    found = [task for task in tx.board.tasks(places, project) if task.starts_at is None]
    return [task.id for task in sorted(found, key=lambda one: (one.updated_at, one.id))]


def _is_start(tx: Tx, place: Place) -> bool:
    pipeline = tx.pipelines.get(place.pipeline_id, place.version)
    opens = pipeline.status(place.status).category is Category.OPEN
    return opens and len(onward(pipeline, place.status)) == 1
