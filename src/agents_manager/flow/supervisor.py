"""Looks now and then for what no event would show, and acts through the ordinary functions."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import structlog

from agents_manager.domain import event, names
from agents_manager.domain.host import BEAT_S
from agents_manager.domain.ids import EffectId, TaskId
from agents_manager.domain.routing import Occasion
from agents_manager.domain.task import EffectRow, Project
from agents_manager.errors import AgentsManagerError, NotFound, TaskNotFound
from agents_manager.flow import (
    admission,
    firing,
    later,
    liveness,
    patience,
    places,
    planning,
    repairs,
    takeover,
    timers,
)
from agents_manager.flow.liveness import SUPERVISOR
from agents_manager.flow.memory import freshness
from agents_manager.flow.placing import NO_DISK
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.watchdog import Watchdog

log = structlog.get_logger()

EVERY_S = 30.0
TIMERS_S = 1.0
MOST_WAITING = 200


async def run(s: Services) -> None:
    """For ever; the first look is at the start, for what a crash or a restore left."""
    loop = asyncio.get_running_loop()
    watchdog = Watchdog()
    next_look = next_hosts = loop.time()
    while True:
        for one in TIMERS:
            await _safely(lambda one=one: one(s))
        if s.here is not None and loop.time() >= next_hosts:
            next_hosts = loop.time() + BEAT_S
            await _safely(lambda: takeover.look(s))
        if loop.time() >= next_look:
            next_look = loop.time() + EVERY_S
            await _safely(lambda: timers.remind(s))
            await _safely(lambda: watchdog.look(s, loop.time()))
            for one in LOOKS:
                await _safely(lambda one=one: one(s))
        await asyncio.sleep(TIMERS_S)


async def _safely(look: Callable[[], Awaitable[object]]) -> None:
    """A hiccup of the database must not end it, and one look must not keep the others from being
    taken."""
    try:
        await look()
    except Exception as error:  # noqa: BLE001 - whatever it was, it is told
        patience.tell("supervisor.failed", error)


async def look(s: Services) -> list[TaskId]:
    """Finds somebody for every task that nobody will move, or raises the alarm; the tasks."""
    now = s.clock.now()
    found = await s.store.read(lambda tx: liveness.stranded(tx, now))
    for task_id in found:
        try:
            if not await s.store.write(lambda tx, t=task_id: repairs.stranded(tx, s, t)):
                await s.store.write(lambda tx, t=task_id: liveness.tell(tx, s, t))
        except TaskNotFound:
            continue  # Deleted since the look.
        except AgentsManagerError as error:
            log.warning("supervisor.cannot_repair", task=task_id, error=error.message)
            await s.store.write(lambda tx, t=task_id: liveness.tell(tx, s, t))
    return found


async def worktrees(s: Services) -> list[str]:
    """Removes workspaces that belong to no task, where a branch holds all that is in them. Others
    stay: what lies there may be the only copy of somebody's work."""
    gone: list[str] = []
    for project in await s.store.read(lambda tx: tx.projects.all()):
        if places.away(s, project) is not None:
            continue
        repo = Path(project.path)
        try:
            for key, path in await _orphans(s, project):
                clone = (path / ".git").is_dir()
                spare = await s.workspaces.spare(repo, key)
                if spare:
                    await s.workspaces.remove(repo, key)
                    gone.append(key)
                found = event.WorkspaceOrphaned(path=str(path), removed=spare, clone=clone)
                await s.store.write(lambda tx, p=project, k=key, f=found: _tell_of(tx, s, p, k, f))
        except AgentsManagerError as error:  # The repository may have been moved away.
            log.warning("supervisor.worktrees", project=project.name, error=error.message)
    return gone


async def _orphans(s: Services, project: Project) -> list[tuple[str, Path]]:
    standing = sorted((await s.workspaces.standing(Path(project.path))).items())
    return await s.store.read(lambda tx: [one for one in standing if not _is_task(tx, one[0])])


def _tell_of(
    tx: Tx, s: Services, project: Project, key: str, found: event.WorkspaceOrphaned
) -> None:
    """Once, and with a notice where a person has to look."""
    notice = EffectId(f"{key}-worktree")
    if not found.removed and planning.was_told(tx, notice):
        return
    log.warning("supervisor.worktree_of_nobody", project=project.name, says=found.sentence())
    for task in liveness.concerned(tx, project.id)[:1]:
        tx.events.add(task.id, found, SUPERVISOR, s.clock.now())
        if not found.removed:
            title = f"A workspace of nobody in {project.name}"
            planning.notice(tx, s, task, notice, title, found.sentence(), Occasion.FAILURE)


def _is_task(tx: Tx, key: str) -> bool:
    try:
        tx.tasks.get(TaskId(names.task_of(key)))
    except NotFound:
        return False
    return True


async def disk(s: Services) -> list[TaskId]:
    """Tells every task whose agent is due and has no room, once for each run; the tasks."""
    reason = s.disk.shortage()
    if reason is None:
        return []
    waiting = await s.store.read(lambda tx: _due(tx, s))
    told = [await s.store.write(lambda tx, e=e, why=reason: _tell(tx, s, e, why)) for e in waiting]
    return [effect.task_id for effect, new in zip(waiting, told, strict=True) if new]


def _due(tx: Tx, s: Services) -> list[EffectRow]:
    due = tx.effects.due(s.clock.now(), MOST_WAITING)
    starts = [effect for effect in due if effect.kind == "start_agent"]
    if s.here is None:
        return starts
    # Another machine may have room; those that wait for this one say so.
    return [effect for effect in starts if NO_DISK in (admission.waits(effect) or "")]


def _tell(tx: Tx, s: Services, effect: EffectRow, reason: str) -> bool:
    notice = EffectId(f"{effect.id}-disk")
    if planning.was_told(tx, notice):
        return False
    task = tx.tasks.get(effect.task_id)
    low = event.DiskLow(run=effect.payload["run_id"], reason=reason)
    tx.events.add(task.id, low, SUPERVISOR, s.clock.now())
    title = f"The disk is full: {task.title} waits"
    planning.notice(tx, s, task, notice, title, reason, Occasion.FAILURE)
    return True


TIMERS: tuple[Callable[[Services], Awaitable[object]], ...] = (
    timers.fire,
    firing.fire,
    later.fire,
)
LOOKS: tuple[Callable[[Services], Awaitable[object]], ...] = (
    repairs.processes,
    repairs.runs,
    look,
    disk,
    worktrees,
    freshness.look,
    firing.mend,
)
