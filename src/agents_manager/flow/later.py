"""Tasks that the engine starts at a time. The time is a column of the task and goes with its first
move, in the transaction that makes it, so that nothing is started twice."""

from datetime import datetime

import structlog

from agents_manager.domain import event, recurrence
from agents_manager.domain.ids import EffectId, TaskId
from agents_manager.domain.routing import Occasion
from agents_manager.domain.task import SYSTEM, Actor, Task
from agents_manager.domain.transition import Refused
from agents_manager.errors import AgentsManagerError, TaskNotFound
from agents_manager.flow import facts, liveness, places, planning, tasks, transitions
from agents_manager.flow.ports import Services, Tx

log = structlog.get_logger()


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
        task, now = tx.tasks.find(task_id), s.clock.now()
        transitions.expect(task, expect_version)
        wanted = recurrence.to_come(at, now)
        if wanted is not None:
            tasks.only_way(tx, task)
        if wanted != task.starts_at:
            tx.tasks.update(task.id, now, starts_at=wanted, version=task.version + 1)
            tx.events.add(task.id, event.StartSet(at=wanted), actor, now)
        return tx.tasks.get(task.id)

    return await s.store.write(write)


async def fire(s: Services) -> None:
    """Starts what is due, and tells where that is refused. What waits for other tasks is started
    once they are done."""
    for task_id in await s.store.read(lambda tx: _due(tx, s)):
        try:
            await s.store.write(lambda tx, t=task_id: _start(tx, s, t))
        except TaskNotFound:
            continue  # Deleted since the look.
        except AgentsManagerError as error:  # One of them must not hold up the others.
            log.warning("task.not_started", task=task_id, error=error.message)
            await s.store.write(lambda tx, t=task_id, e=error: _give_up(tx, s, t, e.message))


def _due(tx: Tx, s: Services) -> list[TaskId]:
    found = [task for task in tx.tasks.due(s.clock.now()) if not _held(tx, task)]
    return [t.id for t in found if places.away(s, tx.projects.get(t.project_id)) is None]


def _held(tx: Tx, task: Task) -> bool:
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    if not liveness.heeds_dependencies(pipeline, task.status):
        return False
    return bool(facts.unresolved(tx, task) or tx.knowledge.blocking(task.id))


def _start(tx: Tx, s: Services, task_id: TaskId) -> None:
    task, now = tx.tasks.get(task_id), s.clock.now()
    if task.starts_at is None or task.starts_at > now:
        return  # Somebody started it meanwhile, or set another time.
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
