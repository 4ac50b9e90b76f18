"""Looks now and then for what no event would show, and acts through the ordinary functions."""

import asyncio
from contextlib import suppress

import structlog

from agents_manager.domain.ids import TaskId
from agents_manager.errors import TaskNotFound
from agents_manager.flow import liveness, timers
from agents_manager.flow.ports import Services

log = structlog.get_logger()

EVERY_S = 30.0
TIMERS_S = 1.0


async def run(s: Services) -> None:
    """For ever; the first look is at the start, for what a crash or a restore left."""
    loop = asyncio.get_running_loop()
    next_look = loop.time()
    while True:
        try:
            await timers.fire(s)
            if loop.time() >= next_look:
                next_look = loop.time() + EVERY_S
                await timers.remind(s)
                await look(s)
        except Exception:  # A hiccup of the database must not end it.
            log.exception("supervisor.failed")
        await asyncio.sleep(TIMERS_S)


async def look(s: Services) -> list[TaskId]:
    """Raises the alarm for every task that nobody will move."""
    now = s.clock.now()
    found = await s.store.read(lambda tx: liveness.stranded(tx, now))
    for task_id in found:
        with suppress(TaskNotFound):  # Deleted since the look.
            await s.store.write(lambda tx, t=task_id: liveness.tell(tx, s, t))
    return found
