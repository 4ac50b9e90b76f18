"""Configuration files that break while work goes on: what they said before holds on, and people are
told, once when it happens and once when it is over."""

import asyncio

import structlog

from agents_manager.domain import event
from agents_manager.domain.event import Event
from agents_manager.domain.ids import RunId
from agents_manager.domain.task import Project
from agents_manager.errors import InvalidConfig
from agents_manager.flow import patience, places
from agents_manager.flow.liveness import SUPERVISOR, concerned
from agents_manager.flow.ports import Services, Trouble, Tx

log = structlog.get_logger()

EVERY_S = 1.0


async def run(s: Services) -> None:
    """For ever. The first look, at the start, also reads what is kept when a file breaks later."""
    known: dict[str, Trouble | None] = {}
    while True:
        try:
            await look(s, known)
        except Exception as error:  # noqa: BLE001 - a hiccup of the database must not end it
            patience.tell("settings_watch.failed", error)
        await asyncio.sleep(EVERY_S)


async def look(s: Services, known: dict[str, Trouble | None]) -> None:
    """Tells what is new since the last look, which is what is known."""
    for project in await s.store.read(lambda tx: tx.projects.all()):
        if places.away(s, project) is not None:
            continue
        trouble = await asyncio.to_thread(s.configs.trouble, project)
        if trouble == known.get(project.id):
            continue
        known[project.id] = trouble
        if trouble is None:
            log.info("config.repaired", project=project.name)
            await _tell(s, project, event.ConfigRepaired(project=project.name))
        else:
            log.warning(
                "config.broken", project=project.name, reason=trouble.text, kept=trouble.kept
            )
            broken = event.ConfigBroken(
                project=project.name, reason=trouble.text, kept=trouble.kept
            )
            await _tell(s, project, broken)


async def _tell(s: Services, project: Project, happened: Event) -> None:
    def write(tx: Tx) -> None:
        for task in concerned(tx, project.id):
            tx.events.add(task.id, happened, SUPERVISOR, s.clock.now())

    await s.store.write(write)


async def readable(s: Services, run_id: RunId, project: Project) -> None:
    """Waits until the settings of a run's project can be read: a run that a server finds at its
    start is not given up for a file that broke meanwhile."""
    while True:
        try:
            s.configs.of(project)
        except InvalidConfig:
            run = await patience.through(lambda: s.store.read(lambda tx: tx.runs.get(run_id)))
            if not run.status.live:
                return
            await asyncio.sleep(EVERY_S)
        else:
            return
