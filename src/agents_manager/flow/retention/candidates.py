"""Which tasks may have something that can go: those with folders, workspaces or snapshots on the
disk, or with old effects. The others, however many, are not looked at."""

import asyncio
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from agents_manager.domain.ids import TaskId
from agents_manager.flow.ports import Services

MANY = 1_000
"""Ids that are asked for, or about, in one read."""


async def candidates(s: Services, kept: Iterable[str], effects: datetime | None) -> list[TaskId]:
    """By id. `kept` are tasks that have something in a repository; `effects` that were settled
    before then may go."""
    runs = await asyncio.to_thread(_names, s.jobs_dir)
    homes = await asyncio.to_thread(_names, s.agent_homes_dir)
    found = {TaskId(name) for name in (*kept, *homes)}
    for first in range(0, len(runs), MANY):
        some = runs[first : first + MANY]
        found.update(await s.store.read(lambda tx, some=some: tx.retention.of_runs(some)))
    if s.here is not None:  # Of machines that are gone there is nothing on this disk.
        found.update(await s.store.read(lambda tx: tx.outputs.tasks()))
    last = ""
    while effects is not None:
        page = await s.store.read(
            lambda tx, last=last: tx.retention.with_effects(effects, after=last, limit=MANY)
        )
        if not page:
            break
        found.update(page)
        last = page[-1]
    return sorted(found)


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()] if folder.is_dir() else []
