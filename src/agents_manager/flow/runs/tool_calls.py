"""Calls of tools, recorded in the log of the task while an agent works: an event for each call with
its name, a short summary and whether the result was ok, up to a number for each run.

Each event names its place in the output of the run. The transaction that adds events looks up the
last place first, so each call is recorded once however often its output is read.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, cast

from agents_manager.domain import event
from agents_manager.domain.ids import RunId
from agents_manager.domain.names import visible
from agents_manager.domain.run import Run
from agents_manager.domain.task import Project
from agents_manager.errors import NotFound, StoreUnavailable
from agents_manager.flow import patience
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import watch
from agents_manager.flow.runs.places import OUTPUT, job_dir
from agents_manager.flow.runs.prepare import agent_actor
from agents_manager.flow.runs.watch import Position

EVERY_S = 2.0
MOST = 200
"""How many calls of a run are recorded as events. The others are counted."""
AT_ONCE = 50
"""Events in one transaction."""
MOST_OPEN = 500
LONGEST_ID = 200
LONGEST_NAME = 80
LONGEST_SUMMARY = 160
LONGEST_INPUT = 4_000
"""Characters of an input that are searched for secrets and for the summary."""
TELLING = (
    *("command", "cmd", "file_path", "filePath", "path", "notebook_path", "changes", "pattern"),
    *("query", "url", "message", "description", "prompt", "title"),
)
"""Names of inputs that say what a call does, the best first."""

Place = tuple[int, int, int]
"""The turn, the offset of a line in its output, and which of the calls of that line it is."""


@dataclass(frozen=True, slots=True)
class Call:
    place: Place
    name: str
    summary: str
    ok: bool | None
    """None: no result was reported."""


@asynccontextmanager
async def recorded(s: Services, run_id: RunId, project: Project, turn: int) -> AsyncGenerator[None]:
    """Record the calls of a turn while it runs, and the remaining ones when it has ended."""
    recorder, over = Recorder(s, run_id, project, turn), asyncio.Event()
    following = asyncio.get_running_loop().create_task(recorder.follow(over))
    try:
        yield
        over.set()
        await following
    finally:
        following.cancel()
        await asyncio.wait([following])
    await recorder.finish()


class Recorder:
    def __init__(self, s: Services, run_id: RunId, project: Project, turn: int) -> None:
        self._s = s
        self._run_id = run_id
        self._project = project
        self._turn = turn
        self._output = job_dir(s, run_id, turn) / OUTPUT
        self._begin()

    def _begin(self) -> None:
        self._reader: Reader | None = None
        self._at = Position(self._turn)
        self._last = Last()
        self._unwritten: list[Call] = []
        self._left_out = 0

    async def follow(self, over: asyncio.Event) -> None:
        """Record new calls every two seconds until the turn is over."""
        while not over.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), EVERY_S)
                return
            try:
                await self.record(over=False)
            except StoreUnavailable:
                continue  # What is not written yet is kept.
            except NotFound:
                return
            except Exception as error:  # noqa: BLE001 - the run does not depend on its log
                patience.tell("tool_calls.not_recorded", error, run=self._run_id)
                self._begin()

    async def finish(self) -> None:
        """Record all that is left of a turn that has ended."""
        try:
            await patience.through(lambda: self.record(over=True))
        except NotFound:
            return  # The task was deleted with its runs.
        except Exception as error:  # noqa: BLE001 - the run does not depend on its log
            patience.tell("tool_calls.not_recorded", error, run=self._run_id)

    async def record(self, *, over: bool) -> None:
        if not await asyncio.to_thread(self._has_news, over=over):
            return
        reader = self._reader
        if reader is None:
            run, self._last = await self._s.store.read(self._known)
            reader = self._reader = Reader(self._s, run, self._project)
        for call in await asyncio.to_thread(self._read, reader, over=over):
            if call.place > self._last.place:
                full = self._last.number + len(self._unwritten) >= MOST
                self._left_out += full
                self._unwritten += [] if full else [call]
        while calls := self._unwritten[:AT_ONCE]:
            self._last = await self._s.store.write(lambda tx, c=calls: self._add(tx, c))
            del self._unwritten[: len(calls)]
        if over and self._left_out:
            await self._s.store.write(self._add_rest)

    def _has_news(self, *, over: bool) -> bool:
        try:
            size = self._output.stat().st_size
        except FileNotFoundError:
            return False
        return over or size > self._at.offset

    def _read(self, reader: "Reader", *, over: bool) -> list[Call]:
        found: list[Call] = []
        while batch := watch.pieces(self._output, self._at, over=over):
            for piece in batch:
                found += reader.take(piece)
            self._at = batch[-1].next
        return [*found, *(reader.unanswered(self._at) if over else ())]

    def _add(self, tx: Tx, calls: Sequence[Call]) -> "Last":
        run, last = self._known(tx)
        for call in calls:
            if call.place > last.place:
                last = Last(call.place, last.number + 1)
                used = event.ToolUsed(
                    run=run.id,
                    name=call.name,
                    summary=call.summary,
                    ok=call.ok,
                    number=last.number,
                    at=str(last),
                )
                tx.events.add(run.task_id, used, agent_actor(run), self._s.clock.now())
        return last

    def _add_rest(self, tx: Tx) -> None:
        run, last = self._known(tx)
        rest = Last((self._at.turn, self._at.offset, MOST_OPEN), last.number)
        if rest.place > last.place:
            told = event.ToolUsesLeftOut(
                run=run.id, count=self._left_out, number=rest.number, at=str(rest)
            )
            tx.events.add(run.task_id, told, agent_actor(run), self._s.clock.now())

    def _known(self, tx: Tx) -> tuple[Run, "Last"]:
        run = tx.runs.get(self._run_id)
        found = tx.events.last_of_run(run.task_id, event.ToolUsed.category, run.id)
        return run, Last.from_event(found.data) if found else Last()


@dataclass(frozen=True, slots=True)
class Last:
    """The last call of a run that has an event."""

    place: Place = (0, 0, 0)
    number: int = 0
    """How many calls have one."""

    def __str__(self) -> str:
        turn, offset, number = self.place
        return f"{turn}:{offset}.{number}"

    @classmethod
    def from_event(cls, data: Mapping[str, Any]) -> "Last":
        turn, _, rest = data["at"].partition(":")
        offset, _, number = rest.partition(".")
        return cls((int(turn), int(offset), int(number)), data["number"])


class Reader:
    """Puts together calls and their results."""

    def __init__(self, s: Services, run: Run, project: Project) -> None:
        self._redact = s.redact
        self._mask = s.checks.masked
        self._parse = watch.parser(s, run, project)
        self._open: dict[str, tuple[str, str]] = {}
        """The names and summaries of calls without a result, by their ids."""

    def take(self, piece: watch.Piece) -> list[Call]:
        found: list[Call] = []
        for message in self._parse(piece) if piece.whole else ():
            place = (piece.at.turn, piece.at.offset, len(found) + 1)
            match message:
                case {"type": "tool_use", "name": str(name)}:
                    call = (self._shown(name, LONGEST_NAME), self._summary(message.get("input")))
                    found += self._begin(message.get("id"), call, place)
                case {"type": "tool_result", "id": str(key), "ok": bool(ok)} if key in self._open:
                    found.append(Call(place, *self._open.pop(key), ok))
                case _:
                    pass
        return found

    def unanswered(self, end: Position) -> list[Call]:
        """Return the calls that had no result when the turn ended."""
        left, self._open = list(self._open.values()), {}
        return [Call((end.turn, end.offset, n), *call, None) for n, call in enumerate(left)]

    def _begin(self, key: Any, call: tuple[str, str], place: Place) -> list[Call]:
        """Return the calls that no result is awaited of: without an id there is no telling which
        result is theirs."""
        if not isinstance(key, str) or not 0 < len(key) <= LONGEST_ID:
            return [Call(place, *call, None)]
        forgotten: list[Call] = []
        if len(self._open) >= MOST_OPEN:
            oldest = next(iter(self._open))
            forgotten = [Call(place, *self._open.pop(oldest), None)]
        self._open[key] = call
        return forgotten

    def _summary(self, given: Any) -> str:
        return self._shown(_told(given), LONGEST_SUMMARY)

    def _shown(self, text: str, longest: int) -> str:
        return visible(self._mask(self._redact(text[:LONGEST_INPUT])), longest)


def _told(given: Any) -> str:
    if isinstance(given, dict):
        values = cast("dict[str, Any]", given)
        for name in TELLING:
            match values.get(name):
                case str(text) if text.strip():
                    return text
                case [_, *_] as parts:
                    return " ".join(_part(part) for part in cast("list[Any]", parts))
                case _:
                    pass
    return json.dumps(given, ensure_ascii=False) if given else ""


def _part(part: Any) -> str:
    match part:
        case {"path": str(path)}:
            return path
        case _:
            return str(part)
