"""The work of a machine that is dead, has left or was cut off: others take it over as a later
attempt. Its time at work is over in the same transaction, so that what it may still come to is
refused; where it was only cut off, it ends its agents before others begin."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import structlog

from agents_manager.domain import event
from agents_manager.domain.host import BEAT_S, DEAD_AFTER, Host, HostState
from agents_manager.domain.ids import EffectId, RunId
from agents_manager.domain.run import AgentError, ErrorClass, RunStatus
from agents_manager.domain.task import EffectRow
from agents_manager.errors import AgentsManagerError
from agents_manager.flow.liveness import SUPERVISOR
from agents_manager.flow.ports import Services, Tx, acting
from agents_manager.flow.runs import close

log = structlog.get_logger()

SETTLED_S = 2 * BEAT_S
"""After a database was away, everybody looks dead at first."""


async def look(s: Services) -> list[EffectId]:
    """Takes over what dead machines had."""
    if s.here is None or not s.here.tenure.held:
        return []
    if s.here.tenure.clock() - s.here.tenure.since < SETTLED_S:
        return []
    taken: list[EffectId] = []
    with acting(s.here):
        for host in sorted(await s.store.read(dead)):
            taken += await s.store.write(lambda tx, h=host: _give_up(tx, s, h))
    return taken


def dead(tx: Tx) -> set[str]:
    """The machines that are not alive but have work."""
    at_work = {e.host for e in tx.effects.started() if e.host is not None}
    return at_work - tx.hosts.alive().keys() if at_work else at_work


def _give_up(tx: Tx, s: Services, host_id: str) -> list[EffectId]:
    if host_id not in dead(tx):
        return []
    known: Mapping[str, Host] = {host.id: host for host in tx.hosts.all()}
    host = known.get(host_id)
    if host is None:
        return of(tx, s, host_id, f"Nothing is known of the machine {host_id}.")
    if not tx.hosts.bury(host):
        return []
    why = f'The machine "{host.name}" has not been heard of for {DEAD_AFTER.seconds} s.'
    if host.state is HostState.LEFT:
        why = f'The machine "{host.name}" was sent away.'
    log.warning("host.given_up", host=host.name, reason=why)
    return of(tx, s, host_id, why)


def of(tx: Tx, s: Services, host_id: str, why: str) -> list[EffectId]:
    """The time at work of the machine must be over, and end in this transaction."""
    taken = [row for row in tx.effects.started() if row.host == host_id]
    for row in taken:
        _take(tx, s, row, why)
    return [row.id for row in taken]


def _take(tx: Tx, s: Services, row: EffectRow, why: str) -> None:
    """The agent was there, so its run is over; one that had not begun, and every other effect, is
    performed again. That is no failure of theirs, so that it may be any number of times."""
    now = s.clock.now()
    run = tx.runs.get(RunId(row.payload["run_id"])) if row.kind == "start_agent" else None
    if run is not None and run.status is RunStatus.RUNNING:
        _tell(tx, s, row, why, "The run it had ends as interrupted.")
        tx.effects.update(row.id, status="failed", error=why, finished_at=now)
        close.fail(tx, s, run.id, AgentError(error=why, error_class=ErrorClass.INTERRUPTED))
        return
    if run is not None:
        tx.runs.update(run.id, host=None)
    repair = f"{row.kind} is performed by another." if run is None else "Another starts the agent."
    _tell(tx, s, row, why, repair)
    again = {"status": "pending", "attempt": row.attempt + 1, "host": None, "error": why}
    tx.effects.update(row.id, due_at=now, **again)


def _tell(tx: Tx, s: Services, row: EffectRow, fault: str, repair: str) -> None:
    version = tx.tasks.get(row.task_id).version
    told = event.TaskRepaired(version=version, fault=fault, repair=repair)
    tx.events.add(row.task_id, told, SUPERVISOR, s.clock.now())


async def interrupt(s: Services) -> list[str]:
    """Ends every agent that works on this machine; the runs. Asks no database."""
    folders = await s.runners.at_work(s.jobs_dir)
    async with asyncio.TaskGroup() as group:
        for folder in folders:
            group.create_task(_end(s, folder))
    return sorted({folder.parent.name for folder in folders})


async def _end(s: Services, folder: Path) -> None:
    """One that cannot be ended keeps nobody from ending the others."""
    try:
        await s.runners.stop(folder, "interrupted")
    except (AgentsManagerError, OSError) as error:
        log.warning("host.agent_not_ended", dir=str(folder), error=str(error))
