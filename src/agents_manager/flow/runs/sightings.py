"""Which tools an agent called, from what it printed, and when: what was printed has no times, so
they are noted beside it while it comes, where somebody is told of them."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from agents_manager.domain.ids import RunId
from agents_manager.domain.names import visible
from agents_manager.domain.run import Run
from agents_manager.domain.task import Project
from agents_manager.flow import patience
from agents_manager.flow.ports import Services
from agents_manager.flow.runs import mirrors, watch
from agents_manager.flow.runs.places import TURNS, job_dir
from agents_manager.flow.runs.watch import Piece, Position

FILE = "seen.jsonl"
LONGEST_NAME = 200
LONGEST_INPUT = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    at: str
    """Its place in the transcript."""
    name: str
    given: str
    start: datetime
    end: datetime


@asynccontextmanager
async def noted(s: Services, run_id: RunId, project: Project, turn: int) -> AsyncGenerator[None]:
    """Notes when an agent calls tools, while it works at a turn."""
    if not s.traces.on:
        yield
        return
    # Not in a group, which would change the errors of the work itself.
    following = asyncio.get_running_loop().create_task(_note(s, run_id, project, turn))
    try:
        yield
    finally:
        following.cancel()
        await asyncio.wait([following])


async def calls(s: Services, run: Run) -> list[Call]:
    """All of them in their order. One whose time nobody noted is told at that of the one before."""
    project = await s.store.read(lambda tx: tx.projects.get(run.project_id))
    await mirrors.bring(s, run, at_once=True)
    return await asyncio.to_thread(_calls, s, run, project)


def _calls(s: Services, run: Run, project: Project) -> list[Call]:
    seen = {at: times for turn in TURNS for at, *times in _lines(job_dir(s, run.id, turn))}
    parse, found = watch.parser(s, run, project), list[Call]()
    last = run.started_at or run.created_at
    for piece in watch.past(s, run.id):
        for number, used in enumerate(_uses(parse(piece))):
            at = f"{piece.at}.{number}" if number else str(piece.at)
            start, end = seen.get(str(piece.at), (last, last))
            last = max(last, end)
            given = json.dumps(used.get("input", {}), ensure_ascii=False)[:LONGEST_INPUT]
            name = visible(str(used["name"]), LONGEST_NAME)
            found.append(Call(at=at, name=name, given=given, start=start, end=max(start, end)))
    return found


async def _note(s: Services, run_id: RunId, project: Project, turn: int) -> None:
    directory, begun = job_dir(s, run_id, turn), dict[str, datetime]()
    try:
        run = await s.store.read(lambda tx: tx.runs.get(run_id))
        parse = watch.parser(s, run, project)
        before = await asyncio.to_thread(_lines, directory)
        at = watch.position(before[-1][0]) if before else Position(turn)
        known = {line[0] for line in before}
        async for batch in watch.follow(s, run_id, at):
            for piece in batch:
                _write(directory, begun, s.clock.now())
                begun = _begun(piece, parse, known, s.clock.now())
    except Exception as error:  # noqa: BLE001 - the run goes on without
        patience.tell("traces.times_not_noted", error)
    finally:
        _write(directory, begun, s.clock.now())


def _begun(piece: Piece, parse: watch.Parse, known: set[str], now: datetime) -> dict[str, datetime]:
    used = str(piece.at) not in known and _uses(parse(piece))
    return {str(piece.at): now} if used else {}


def _uses(messages: Any) -> list[Any]:
    return [m for m in messages if m.get("type") == "tool_use" and m.get("name")]


def _write(directory: Path, begun: dict[str, datetime], now: datetime) -> None:
    """What was begun is over with whatever comes next."""
    if not begun:
        return
    with suppress(OSError), (directory / FILE).open("a", encoding="utf-8") as file:
        for at, start in begun.items():
            file.write(json.dumps([at, start.isoformat(), now.isoformat()]) + "\n")


def _lines(directory: Path) -> list[tuple[str, datetime, datetime]]:
    found: list[tuple[str, datetime, datetime]] = []
    with suppress(OSError, ValueError, TypeError):  # A kill may cut the last one.
        for line in (directory / FILE).read_text(encoding="utf-8").splitlines():
            at, start, end = json.loads(line)
            found.append((at, datetime.fromisoformat(start), datetime.fromisoformat(end)))
    return found
