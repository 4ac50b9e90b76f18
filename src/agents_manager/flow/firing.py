"""What time does to schedules. The period is written in the transaction that makes its task, under
a key of the table: over crashes, moved clocks and several machines it is had once."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import structlog

from agents_manager.domain import event, fields
from agents_manager.domain.audit import Deed
from agents_manager.domain.ids import EffectId, TaskId
from agents_manager.domain.routing import Occasion
from agents_manager.domain.schedule import Came, Firing, Schedule, ScheduleState, WhenOpen
from agents_manager.domain.task import Actor, ActorType, Project, Task
from agents_manager.errors import AgentsManagerError, InvalidInput, NotFound, ScheduleNotFound
from agents_manager.flow import audit, edits, liveness, places, planning, tasks
from agents_manager.flow.liveness import SUPERVISOR
from agents_manager.flow.ports import Services, Tx

log = structlog.get_logger()

WORDS = tuple(name for name in fields.EDITABLE if name != "dependencies")


@dataclass(frozen=True, slots=True)
class Settled:
    """What a task is made of."""

    project: Project
    words: Mapping[str, Any]
    pipeline_id: str


async def fire(s: Services) -> None:
    """Makes the tasks of every period that is due."""
    now = s.clock.now()
    for schedule in await s.store.read(lambda tx: tx.schedules.due(now)):
        try:
            await _fire(s, schedule)
        except ScheduleNotFound:
            continue  # Removed since the look.
        except AgentsManagerError as error:  # One of them must not hold up the others.
            log.warning("schedule.failed", schedule=schedule.name, error=error.message)


async def mend(s: Services) -> list[str]:
    """Finds schedules whose next period is further away than it has to be, as the clock was ahead
    when it was set; their ids."""
    found = await s.store.read(lambda tx: [one for one in tx.schedules.all() if _late(tx, s, one)])
    for schedule in found:
        await s.store.write(lambda tx, one=schedule: _mend(tx, s, one.id))
    return [one.id for one in found]


async def settled(s: Services, project: Project, template: Mapping[str, Any]) -> Settled:
    """Refused where the project would not take such a task now."""
    given = {name: template[name] for name in WORDS}
    words = edits.words(s, project, given, "No task can be made like this.")
    pipeline = await tasks.chosen(s, project, template.get("pipeline"), words["type"])
    return Settled(project, {**words, "dependencies": ()}, pipeline)


def make(
    tx: Tx, s: Services, schedule: Schedule, what: Settled, period: datetime, by: str | None = None
) -> Task:
    """The task of a period, which the schedule has had with it."""
    now = s.clock.now()
    key = f"{schedule.id} {period.isoformat()}"
    task_id = TaskId(hashlib.sha256(key.encode()).hexdigest()[:16])
    words = {**what.words, "title": schedule.title(period)[: fields.MAX_TITLE]}
    who = Actor(type=ActorType.SYSTEM, name=f'schedule "{schedule.name}"')
    starts_at = now if schedule.start else None
    task = tasks.add(tx, what.project, task_id, words, what.pipeline_id, who, now, starts_at)
    _note(tx, schedule, period, Came.CREATED, task.id, by, now)
    return task


def go_on(tx: Tx, s: Services, schedule: Schedule, **changed: Any) -> Schedule:
    """Writes what changed about a schedule, with the period that comes next by it."""
    now, new = s.clock.now(), replace(schedule, **changed)
    if new.state is ScheduleState.ACTIVE:
        following = new.following(now, tx.schedules.had(new.id, now))
        ended = ScheduleState.ACTIVE if following else ScheduleState.ENDED
        changed |= {"next_at": following, "state": ended}
    else:
        changed |= {"next_at": None}
    tx.schedules.update(schedule.id, now, **changed)
    return tx.schedules.get(schedule.id)


def halt(tx: Tx, s: Services, schedule: Schedule, reason: str) -> None:
    """It waits for somebody to mend it, and says so."""
    now = s.clock.now()
    log.warning("schedule.halted", schedule=schedule.name, reason=reason)
    go_on(tx, s, schedule, state=ScheduleState.HALTED, reason=reason)
    summary = f'halted schedule "{schedule.name}" of project "{schedule.project}": {reason}'
    said = {"schedule": schedule.id, "project": schedule.project}
    audit.note(tx, now, SUPERVISOR, Deed.SCHEDULE_HALTED, summary, **said)
    for task in _last(tx, schedule) or liveness.concerned(tx, schedule.project_id)[:1]:
        halted = event.ScheduleHalted(schedule=schedule.name, reason=reason)
        tx.events.add(task.id, halted, SUPERVISOR, now)
        notice = EffectId(f"{schedule.id}-halted-{now.timestamp():.0f}")
        title = f'Schedule "{schedule.name}" is halted'
        planning.notice(tx, s, task, notice, title, reason, Occasion.FAILURE)


async def _fire(s: Services, schedule: Schedule) -> None:
    try:
        project = await s.store.read(lambda tx: tx.projects.get(schedule.project_id))
        if places.away(s, project) is not None:
            return  # A machine that has it makes the task.
        what = await settled(s, project, schedule.template)
    except (InvalidInput, NotFound) as error:
        why = " ".join([error.message, *error.details])
        await s.store.write(lambda tx: _halt_due(tx, s, schedule.id, why))
        return
    await s.store.write(lambda tx: _have(tx, s, schedule.id, what))


def _halt_due(tx: Tx, s: Services, schedule_id: str, why: str) -> None:
    schedule = tx.schedules.get(schedule_id)
    if schedule.due(s.clock.now()) is not None:
        halt(tx, s, schedule, why)


def _have(tx: Tx, s: Services, schedule_id: str, what: Settled) -> None:
    schedule, now = tx.schedules.get(schedule_id), s.clock.now()
    period = schedule.due(now)
    if period is None or schedule.project_id != what.project.id:
        return  # Another machine had it, or somebody changed the schedule.
    still_open = _open(tx, schedule) if schedule.when_open is WhenOpen.SKIP else None
    if period in tx.schedules.had(schedule.id, period):
        go_on(tx, s, schedule)
    elif still_open is not None:
        _note(tx, schedule, period, Came.SKIPPED, still_open.id, None, now)
        skipped = event.ScheduleSkipped(schedule=schedule.name, period=period)
        tx.events.add(still_open.id, skipped, SUPERVISOR, now)
        go_on(tx, s, schedule)
    else:
        task = make(tx, s, schedule, what, period)
        go_on(tx, s, schedule, fired=schedule.fired + 1, last_task_id=task.id)


def _note(
    tx: Tx,
    schedule: Schedule,
    period: datetime,
    came: Came,
    task_id: TaskId,
    by: str | None,
    now: datetime,
) -> None:
    tx.schedules.note(
        Firing(schedule_id=schedule.id, period=period, came=came, task_id=task_id, by=by, time=now)
    )


def _last(tx: Tx, schedule: Schedule) -> list[Task]:
    try:
        return [tx.tasks.get(schedule.last_task_id)] if schedule.last_task_id else []
    except NotFound:
        return []


def _open(tx: Tx, schedule: Schedule) -> Task | None:
    for task in _last(tx, schedule):
        pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        if not pipeline.is_final(task.status):
            return task
    return None


def _late(tx: Tx, s: Services, schedule: Schedule) -> bool:
    now = s.clock.now()
    if schedule.next_at is None or schedule.next_at <= now:
        return False
    following = schedule.following(now, tx.schedules.had(schedule.id, now))
    return following is not None and following < schedule.next_at


def _mend(tx: Tx, s: Services, schedule_id: str) -> None:
    schedule = tx.schedules.get(schedule_id)
    if _late(tx, s, schedule):
        go_on(tx, s, schedule)
