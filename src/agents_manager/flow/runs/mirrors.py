"""What another machine has copied of a run, put where the files of a run are, so that whoever reads
them need not know. A folder says whose it is: nobody takes a copy for work of this machine."""

import asyncio
import json
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from agents_manager.domain.ids import RunId
from agents_manager.domain.run import Run
from agents_manager.flow import machines
from agents_manager.flow.ports import Services, TurnFile, Tx
from agents_manager.flow.runs import copying
from agents_manager.flow.runs.places import TURNS

log = structlog.get_logger()

PLACE = "place.json"
"""In the directory of a run, where several machines share a database: whose run it is."""
PAUSE_S = 1.0
"""Between two looks at what was copied, however many watch."""
AT_ONCE = 16
"""Pieces that are read in one go."""


@dataclass(frozen=True, slots=True)
class Place:
    host: str
    task: str
    project: str
    whole: bool = False
    """Whether there is no more to come."""


def place_of(folder: Path) -> Place | None:
    """None where only one machine could have it."""
    try:
        said: Any = json.loads((folder / PLACE).read_bytes())
        return Place(said["host"], said["task"], said["project"], bool(said["whole"]))
    except (OSError, ValueError, LookupError, TypeError):
        return None


def is_copy(s: Services, folder: Path) -> bool:
    place = place_of(folder) if s.here is not None else None
    return s.here is not None and place is not None and place.host != s.here.host


async def own(s: Services, run: Run) -> None:
    """Makes the folder of a run this machine's, before the first thing of it lies there."""
    if s.here is None:
        return
    place = Place(s.here.host, run.task_id, run.project_id)
    await asyncio.to_thread(_own, s, s.jobs_dir / run.id, place)


def _own(s: Services, folder: Path, place: Place) -> None:
    if is_copy(s, folder):
        shutil.rmtree(folder)
    if place_of(folder) is None:
        _say(folder, place)


async def bring(s: Services, run: Run, *, at_once: bool = False) -> None:
    """Brings the copy of a run up to date; nothing is done for one of this machine."""
    if not machines.elsewhere(s, run):
        return
    folder = s.jobs_dir / run.id
    if run.transcript_removed_at is not None:
        await asyncio.to_thread(remove, s, folder)
    elif await asyncio.to_thread(_is_due, folder, run, at_once=at_once):
        try:
            await _bring(s, run, folder)
        except OSError as error:  # A full disk keeps nobody from seeing what is there.
            log.warning("output.not_brought", run=run.id, error=str(error))


async def bring_all(s: Services, runs: Sequence[Run]) -> None:
    for run in runs:
        await bring(s, run, at_once=True)


def remove(s: Services, folder: Path) -> bool:
    """Whether it was a copy; that of another machine's run can be brought again."""
    copied = is_copy(s, folder)
    if copied:
        shutil.rmtree(folder, ignore_errors=True)
    return copied


def _is_due(folder: Path, run: Run, *, at_once: bool) -> bool:
    """The clock may have been set, and the run have been given to another machine."""
    place = place_of(folder)
    if place is not None and place.host != run.host:
        if any((folder / str(turn) / "runner.json").exists() for turn in TURNS):
            return False  # It was this machine's, and that is all there is of it.
        shutil.rmtree(folder, ignore_errors=True)
        place = None
    if place is None or place.whole:
        return place is None
    try:
        age = time.time() - (folder / PLACE).stat().st_mtime
    except FileNotFoundError:
        return True
    return at_once or not 0 <= age < PAUSE_S


async def _bring(s: Services, run: Run, folder: Path) -> None:
    """Several may do this at the same time: each writes the same at the same places."""
    assert run.host is not None
    place = Place(run.host, run.task_id, run.project_id)
    await asyncio.to_thread(_say, folder, place)
    ends = await s.store.read(lambda tx: tx.outputs.ends(run.id))
    for part in sorted(ends):
        if _is_known(part):
            await _bring_file(s, run.id, folder, part, ends[part])
    if copying.WHOLE in ends:
        await asyncio.to_thread(_say, folder, Place(place.host, place.task, place.project, True))


def _is_known(part: TurnFile) -> bool:
    turn, name = part
    if turn == 0:
        return name in copying.OF_RUN
    return turn in TURNS and name in copying.GROWING + copying.WRITTEN


async def _bring_file(s: Services, run_id: RunId, folder: Path, part: TurnFile, end: int) -> None:
    turn, name = part
    file = folder / (f"{turn}/{name}" if turn else name)
    grows = name in copying.GROWING
    at = await asyncio.to_thread(_size, file) if grows else 0
    found = bytearray()
    while at < end:
        more = await s.store.read(lambda tx, at=at: tx.outputs.after(run_id, part, at, AT_ONCE))
        if not more:
            break
        if grows:
            await asyncio.to_thread(_add, file, at, more)
        found += b"" if grows else more
        at += len(more)
    if not grows:
        await asyncio.to_thread(_put, file, bytes(found))


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _add(file: Path, at: int, data: bytes) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(file, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        left = memoryview(data)
        while left:
            written = os.pwrite(fd, left, at)
            left, at = left[written:], at + written
    finally:
        os.close(fd)


def _put(file: Path, data: bytes) -> None:
    """Whole or not at all."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.{os.getpid()}.{time.monotonic_ns()}")
    new.write_bytes(data)
    new.chmod(0o600)
    new.replace(file)


def _say(folder: Path, place: Place) -> None:
    said = {"host": place.host, "task": place.task, "project": place.project, "whole": place.whole}
    _put(folder / PLACE, json.dumps(said).encode())


async def missing(s: Services, run: Run) -> str | None:
    """That the copy of a run need not be all that its agent printed, in a sentence."""
    if not machines.elsewhere(s, run):
        return None
    return await s.store.read(lambda tx: _missing(tx, s, run))


def _missing(tx: Tx, s: Services, run: Run) -> str | None:
    assert run.host is not None
    lost = machines.lost(tx, s, run)
    if (run.status.live and not lost) or copying.WHOLE in tx.outputs.ends(run.id):
        return None
    host = machines.known(tx, run.host)
    name = host.name or host.id if host else run.host
    if not lost:
        return f'Not all that was printed is copied from the machine "{name}" yet.'
    heard = f" at {host.seen_at:%Y-%m-%d %H:%M:%S} UTC" if host else ""
    return (
        f'This was copied from the machine "{name}" until it was last heard of{heard}; what was'
        " printed later is known there alone."
    )


class Follower:
    """Keeps up with a run that may be on another machine, or be given to one later."""

    def __init__(self, s: Services, run_id: RunId) -> None:
        self._s = s
        self._run_id = run_id
        self._settled = s.here is None
        self._next = float("-inf")

    async def keep_up(self, *, at_once: bool = False) -> None:
        if self._settled or (time.monotonic() < self._next and not at_once):
            return
        self._next = time.monotonic() + PAUSE_S
        run = await self._s.store.read(lambda tx: tx.runs.get(self._run_id))
        self._settled = run.host is not None and not machines.elsewhere(self._s, run)
        await bring(self._s, run, at_once=at_once)
