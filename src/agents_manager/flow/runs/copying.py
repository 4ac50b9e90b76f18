"""Where several machines share a database, the one that a run is on copies what its agent prints
and is told there, so that the others can show it and nothing is lost with the machine."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from agents_manager.domain.ids import RunId
from agents_manager.errors import AgentsManagerError, NotFound
from agents_manager.flow.ports import LONGEST_PIECE, Services, TurnFile, Tx
from agents_manager.flow.runs import counts
from agents_manager.flow.runs.places import (
    ASKED,
    CHECKS,
    FRESH,
    OUTPUT,
    SETUP_LOG,
    STDERR,
    SYSTEM,
    TURNS,
)

EVERY_S = 1.0
MOST_BYTES = 4 * 1024 * 1024
"""In one pass."""
FEW = 10
"""Pieces in one transaction, for which all machines wait."""
CATCH_UP_S = 60.0
AFTER_FAILURE_S = 10.0
AT_ONCE = 100
GROWING = (OUTPUT, STDERR, counts.LINES)
"""Of a turn, and only added to. What agents print is without secrets already."""
WRITTEN = (SYSTEM, ASKED, FRESH, CHECKS)
"""Of a turn, and written as a whole."""
OF_RUN = (SETUP_LOG,)
WHOLE: TurnFile = (0, "whole")
"""The mark of a run of which everything is copied."""
log = structlog.get_logger()
Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Piece:
    run_id: RunId
    part: TurnFile
    start: int | None
    """None: all of the file."""
    data: bytes


class Copier:
    """Remembers what is copied, so that nothing is asked about runs that keep silent."""

    def __init__(self, s: Services) -> None:
        assert s.here is not None, "one machine alone needs no copies"
        self._s = s
        self._host = s.here.host
        self._ends: dict[RunId, dict[TurnFile, int]] = {}
        self._stamps: dict[tuple[RunId, TurnFile], Stamp] = {}
        self._passes = 0

    async def step(self) -> None:
        """Once for all runs of this machine that are not over; a little of each."""
        runs = await self._s.store.read(lambda tx: tx.outputs.live(self._host))
        self._ends = {run: ends for run, ends in self._ends.items() if run in runs}
        self._passes += 1
        turn = self._passes % max(len(runs), 1)
        pieces: list[Piece] = []
        room = MOST_BYTES
        for run_id in runs[turn:] + runs[:turn]:
            found = await self._next(run_id)
            pieces += found
            room -= sum(len(piece.data) for piece in found)
            if len(pieces) >= FEW:
                await self._keep(pieces)
                pieces = []
            if room <= 0:
                break
        await self._keep(pieces)

    async def finish(self, run_id: RunId) -> None:
        """All that is there of a run that is over, or is about to be."""
        while pieces := await self._next(run_id):
            if not await self._keep(pieces):
                return  # It is not this machine's any more.
        await self._s.store.write(lambda tx: self._mark(tx, run_id))

    async def _next(self, run_id: RunId) -> list[Piece]:
        ends = self._ends.get(run_id)
        if ends is None:
            known = await self._s.store.read(lambda tx: tx.outputs.ends(run_id))
            ends = self._ends[run_id] = dict(known)
        return await asyncio.to_thread(self._look, run_id, ends)

    def _look(self, run_id: RunId, ends: Mapping[TurnFile, int]) -> list[Piece]:
        """What is new, as much as one piece may be long. A turn comes only when all of those before
        it is copied, which is how others know that they are over."""
        found: list[Piece] = []
        folder, room = self._s.jobs_dir / run_id, LONGEST_PIECE
        for turn, files in ((0, OF_RUN), *((turn, WRITTEN + GROWING) for turn in TURNS)):
            at = folder / str(turn) if turn else folder
            if not at.is_dir():
                break
            for name in files:
                grows = name in GROWING
                read = self._grown if grows else self._written
                piece = read(run_id, (turn, name), at / name, ends, room)
                if piece is not None:
                    found.append(piece)
                    room -= len(piece.data) if grows else 0
            if room <= 0:
                break
        return found

    def _grown(
        self, run_id: RunId, part: TurnFile, file: Path, ends: Mapping[TurnFile, int], room: int
    ) -> Piece | None:
        start = ends.get(part, 0)
        try:
            if room <= 0 or file.stat().st_size <= start:
                return None
            with file.open("rb") as opened:
                opened.seek(start)
                data = opened.read(room)
        except FileNotFoundError:
            return None
        return Piece(run_id, part, start, data) if data else None

    def _written(
        self, run_id: RunId, part: TurnFile, file: Path, ends: Mapping[TurnFile, int], room: int
    ) -> Piece | None:
        """Without the secrets that are known, as they are kept out of the database."""
        try:
            found = file.stat()
            stamp = (found.st_mtime_ns, found.st_size)
            if self._stamps.get((run_id, part)) == stamp:
                return None
            text = file.read_bytes().decode(errors="replace")
        except FileNotFoundError:
            return None
        self._stamps[run_id, part] = stamp
        return Piece(run_id, part, None, self._s.redact(text).encode())

    async def _keep(self, pieces: Sequence[Piece]) -> bool:
        """Whether any of it could be kept."""
        if not pieces:
            return False
        try:
            kept = await self._s.store.write(lambda tx: list(self._kept(tx, pieces)))
        except BaseException:
            for piece in pieces:
                self._forget(piece.run_id)
            raise
        for piece in kept:
            if piece.start is not None:
                self._ends[piece.run_id][piece.part] = piece.start + len(piece.data)
        for piece in pieces:
            if piece not in kept:
                self._forget(piece.run_id)
        return bool(kept)

    def _kept(self, tx: Tx, pieces: Sequence[Piece]) -> Iterator[Piece]:
        """A machine that a run was taken from keeps its own to itself, and where somebody was
        faster it goes on behind that."""
        for piece in pieces:
            if not self._is_mine(tx, piece.run_id):
                continue
            if piece.start is None:
                tx.outputs.put(piece.run_id, piece.part, piece.data)
                yield piece
            elif tx.outputs.end(piece.run_id, piece.part) == piece.start:
                tx.outputs.add(piece.run_id, piece.part, piece.start, piece.data)
                yield piece

    def _is_mine(self, tx: Tx, run_id: RunId) -> bool:
        try:
            run = tx.runs.get(run_id)
        except NotFound:
            return False  # Deleted with its task since the look.
        return run.host == self._host and run.transcript_removed_at is None

    def _mark(self, tx: Tx, run_id: RunId) -> None:
        if self._is_mine(tx, run_id):
            tx.outputs.put(run_id, WHOLE, b"")

    def _forget(self, run_id: RunId) -> None:
        self._ends.pop(run_id, None)
        self._stamps = {k: stamp for k, stamp in self._stamps.items() if k[0] != run_id}


async def whole(s: Services, run_id: RunId) -> None:
    """Before a run is closed: what its agent said is not to be lost with its machine."""
    if s.here is None:
        return
    try:
        await Copier(s).finish(run_id)
    except OSError as error:  # Files that cannot be read keep no run from ending.
        log.warning("output.not_copied", run=run_id, error=str(error))


async def catch_up(s: Services) -> list[RunId]:
    """Runs of this machine that others ended, or that ended while it was away; the runs."""
    assert s.here is not None
    host = s.here.host
    left = await s.store.read(lambda tx: tx.outputs.unfinished(host, WHOLE, AT_ONCE))
    for run_id in left:
        await whole(s, run_id)
    return left


async def run(s: Services) -> None:
    """For ever, where several machines share the database."""
    if s.here is None:
        return
    copier = Copier(s)
    loop = asyncio.get_running_loop()
    caught_up = float("-inf")
    while True:
        try:
            await copier.step()
            if loop.time() - caught_up >= CATCH_UP_S:
                caught_up = loop.time()
                await catch_up(s)
        except (AgentsManagerError, OSError) as error:
            log.warning("output.not_copied", error=str(error))
            await asyncio.sleep(AFTER_FAILURE_S)
        except Exception:  # A hiccup of the database must not end it.
            log.exception("output.not_copied")
            await asyncio.sleep(AFTER_FAILURE_S)
        await asyncio.sleep(EVERY_S)
