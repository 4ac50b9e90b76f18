"""Starting tasks: immediately where that is possible, else by the engine at a time or when the
tasks that they depend on are finished.

That the engine starts a task is a column of it, and is cleared by its first move, in the
transaction that makes the move, so that nothing is started twice."""

from dataclasses import dataclass
from datetime import datetime

import structlog

from agents_manager.domain import event, recurrence
from agents_manager.domain.dependency import READY, Readiness
from agents_manager.domain.ids import EffectId, TaskId
from agents_manager.domain.routing import Occasion
from agents_manager.domain.task import SYSTEM, Actor, Task
from agents_manager.domain.transition import Refused
from agents_manager.errors import AgentsManagerError, TaskNotFound, TransitionRefused
from agents_manager.flow import facts, liveness, places, planning, tasks, transitions
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.tasks import Stopping

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Waiting:
    """A task that the engine starts when its dependencies are finished."""

    task: Task
    readiness: Readiness


Started = Task | Stopping | Waiting


async def start(
    s: Services, task_id: str, actor: Actor, *, expect_version: int | None = None
) -> Started:
    """Makes the only move by hand that does not end the task, or has the engine make it when the
    task's dependencies are finished."""

    def write(tx: Tx) -> Started | Refused:
        task = tx.tasks.find(task_id)
        transitions.expect(task, expect_version)
        return begin(tx, s, task, actor)

    result = await s.store.write(write)
    if isinstance(result, Refused):
        raise tasks.refusal(result)
    return result


def begin(tx: Tx, s: Services, task: Task, actor: Actor) -> Started | Refused:
    fired = tasks.only_way(tx, task)
    readiness = _readiness(tx, task)
    if not (readiness.waits_for or readiness.blockers):
        return tasks.move_by_hand(tx, s, task, fired, actor)
    _refuse_cancelled(readiness)
    now = s.clock.now()
    if task.starts_at is None or task.starts_at > now:
        tx.tasks.update(task.id, now, starts_at=now, version=task.version + 1)
        titles = tuple(one.title for one in readiness.waits_for)
        waits = event.StartWaits(tasks=titles, reason=readiness.sentence())
        tx.events.add(task.id, waits, actor, now)
    return Waiting(tx.tasks.get(task.id), readiness)


def may_wait(tx: Tx, task: Task) -> bool:
    """Whether starting the task has the engine start it when its dependencies are finished."""
    readiness = _readiness(tx, task)
    return not readiness.cancelled and bool(readiness.waits_for or readiness.blockers)


async def set_time(
    s: Services,
    task_id: str,
    at: datetime | None,
    actor: Actor,
    *,
    expect_version: int | None = None,
) -> Task:
    """Has a task started at a time, at another than before, or not by the engine at all."""

    def write(tx: Tx) -> Task:
        task = tx.tasks.find(task_id)
        transitions.expect(task, expect_version)
        return begin_at(tx, s, task, at, actor)

    return await s.store.write(write)


def begin_at(tx: Tx, s: Services, task: Task, at: datetime | None, actor: Actor) -> Task:
    now = s.clock.now()
    wanted = recurrence.to_come(at, now)
    if wanted is not None:
        tasks.only_way(tx, task)
        _refuse_cancelled(_readiness(tx, task))
    if wanted != task.starts_at:
        tx.tasks.update(task.id, now, starts_at=wanted, version=task.version + 1)
        tx.events.add(task.id, event.StartSet(at=wanted), actor, now)
    return tx.tasks.get(task.id)


async def fire(s: Services) -> None:
    """Starts what is due and waits for nothing, and reports what cannot be started."""
    for task_id in await s.store.read(lambda tx: _due(tx, s)):
        try:
            await s.store.write(lambda tx, t=task_id: _start(tx, s, t))
        except TaskNotFound:
            continue  # Deleted since the look.
        except AgentsManagerError as error:  # One of them must not hold up the others.
            log.warning("task.not_started", task=task_id, error=error.message)
            await s.store.write(lambda tx, t=task_id, e=error: _give_up(tx, s, t, e.message))


def _due(tx: Tx, s: Services) -> list[TaskId]:
    """By a few statements, however many tasks wait: this is asked every second."""
    due = tx.tasks.due(s.clock.now())
    if not due:
        return []
    away = {
        project: places.away(s, tx.projects.get(project)) is not None
        for project in {task.project_id for task in due}
    }
    open_, cancelled = _dependencies(tx, due)
    blocked = {t for blocker in tx.knowledge.blockers(None) for t in blocker.blocking_tasks}
    return [
        task.id
        for task in due
        if not away[task.project_id]
        and (
            task.id in cancelled
            or task.id not in open_ | blocked
            or not _heeds_dependencies(tx, task)
        )
    ]


def _dependencies(tx: Tx, due: list[Task]) -> tuple[set[TaskId], set[TaskId]]:
    """Those that depend on an unfinished task, and those that depend on a cancelled one."""
    open_, cancelled = set[TaskId](), set[TaskId]()
    for other in tx.board.awaited([task.id for task in due]):
        pipeline = tx.pipelines.get(other.place.pipeline_id, other.place.version)
        if not pipeline.is_final(other.place.status):
            open_.add(other.task_id)
        elif pipeline.is_cancelled(other.place.status):
            cancelled.add(other.task_id)
    return open_, cancelled


def _heeds_dependencies(tx: Tx, task: Task) -> bool:
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    return liveness.heeds_dependencies(pipeline, task.status)


def _readiness(tx: Tx, task: Task) -> Readiness:
    return facts.readiness(tx, task) if _heeds_dependencies(tx, task) else READY


def check_dependencies(tx: Tx, task: Task) -> None:
    """Refuses a task that depends on a cancelled one: only a person may start it, by its name."""
    _refuse_cancelled(_readiness(tx, task))


def _refuse_cancelled(readiness: Readiness) -> None:
    if readiness.cancelled:
        raise TransitionRefused(readiness.refusal())


def _start(tx: Tx, s: Services, task_id: TaskId) -> None:
    task, now = tx.tasks.get(task_id), s.clock.now()
    if task.starts_at is None or task.starts_at > now:
        return  # It was started meanwhile, or another time was set.
    readiness = _readiness(tx, task)
    _refuse_cancelled(readiness)
    if not readiness.ready:
        return  # A dependency was added or reopened meanwhile.
    way, why = tasks.only_way(tx, task), "its time to start had come"
    moved = transitions.apply(tx, s, task.id, way, SYSTEM, reason=why)
    if isinstance(moved, Refused):
        _give_up(tx, s, task.id, " ".join(moved.reasons))


def _give_up(tx: Tx, s: Services, task_id: TaskId, reason: str) -> None:
    task, now = tx.tasks.get(task_id), s.clock.now()
    tx.tasks.update(task.id, now, starts_at=None)
    tx.events.add(task.id, event.NotStarted(reason=reason), SYSTEM, now)
    notice = EffectId(f"{task.id}-not-started-{task.version}")
    title = f"Could not be started: {task.title}"
    planning.notice(tx, s, task, notice, title, reason, Occasion.FAILURE)
