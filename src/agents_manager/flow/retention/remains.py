"""What lies on a machine of tasks that were deleted on another, and copies of the runs of others
that nobody looks at. What is only unknown stays: a database that was restored, or the wrong one,
must cost nobody what is there once."""

import asyncio
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import structlog

from agents_manager.domain.audit import Deed
from agents_manager.domain.ids import RunId
from agents_manager.flow import audit
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import mirrors
from agents_manager.flow.runs.mirrors import PLACE, Place

log = structlog.get_logger()

PAGE = 500
UNUSED_S = 24 * 3600.0
"""For how long the copy of a run stays that nobody has looked at since."""


async def look(s: Services) -> list[RunId]:
    """Removes what may go; the runs it was of."""
    if s.here is None:
        return []
    gone: list[RunId] = []
    placed = sorted((await asyncio.to_thread(_placed, s.jobs_dir)).items())
    for at in range(0, len(placed), PAGE):
        page = dict(placed[at : at + PAGE])
        removed = await s.store.read(lambda tx, page=page: tx.outputs.removed(list(page)))
        own = {run: place for run, place in page.items() if place.host == s.here.host}
        copies = [run for run in page if run not in own]
        gone += await asyncio.to_thread(_drop_copies, s, copies, removed)
        unknown = {run: place for run, place in own.items() if run not in removed}
        gone += await _deleted(s, unknown) if unknown else []
    return gone


def _placed(jobs: Path) -> dict[RunId, Place]:
    found = {
        RunId(file.parent.name): mirrors.place_of(file.parent) for file in jobs.glob(f"*/{PLACE}")
    }
    return {run: place for run, place in found.items() if place is not None}


def _drop_copies(
    s: Services, copies: Sequence[RunId], removed: Mapping[RunId, bool]
) -> list[RunId]:
    """They can be brought again as long as there is something to bring."""
    gone: list[RunId] = []
    for run_id in copies:
        folder = s.jobs_dir / run_id
        if removed.get(run_id, True) or _age_s(folder / PLACE) > UNUSED_S:
            gone += [run_id] if mirrors.remove(s, folder) else []
    return gone


def _age_s(file: Path) -> float:
    try:
        return time.time() - file.stat().st_mtime
    except FileNotFoundError:
        return 0.0


async def _deleted(s: Services, unknown: Mapping[RunId, Place]) -> list[RunId]:
    """Of tasks that somebody deleted, as the record of decisions says."""
    tasks, projects = await s.store.read(_on_record)
    over = [
        run for run, place in unknown.items() if place.task in tasks or place.project in projects
    ]
    for run_id in over:
        for folder in (s.jobs_dir / run_id, s.agent_homes_dir / unknown[run_id].task):
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        log.info("retention.deleted_elsewhere", run=run_id, task=unknown[run_id].task)
    return over


def _on_record(tx: Tx) -> tuple[set[str], set[str]]:
    """The tasks and the projects that were deleted."""
    found: list[set[str]] = []
    for deed, key in ((Deed.TASK_DELETED, "task"), (Deed.PROJECT_REMOVED, "id")):
        entries = audit.every(tx, since=None, who=None, what=deed)
        found.append({str(entry.data[key]) for entry in entries if key in entry.data})
    return found[0], found[1]
