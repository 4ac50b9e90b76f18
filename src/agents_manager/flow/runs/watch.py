"""What an agent prints, as it prints it: the past, then what comes, with no gap and no repeat. It
is read from the files that the runner writes, so that any number of people can watch, and a slow
one keeps nobody waiting."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_manager.domain.ids import RunId
from agents_manager.domain.run import Run
from agents_manager.domain.task import Project
from agents_manager.errors import InvalidInput
from agents_manager.flow.ports import Agent, Services
from agents_manager.flow.runs import mirrors
from agents_manager.flow.runs.places import OUTPUT, TURNS, job_dir

POLL_S = 0.1
ASK_S = 1.0
"""How often the store is asked whether a run is over that gives no other sign."""
MAX_PIECE = MAX_BATCH = 1024 * 1024
MAX_MESSAGE = 8 * MAX_PIECE
"""The longest line that an agent may read as a message: a line of JSON, where it is one."""
LONGEST_CHARACTER = 4


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the output of a run; each turn has a file of its own."""

    turn: int = 1
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.turn}:{self.offset}"


@dataclass(frozen=True, slots=True)
class Piece:
    """A line with its end, or a part of one that is too long to be a message."""

    at: Position
    data: bytes
    whole: bool

    @property
    def next(self) -> Position:
        return Position(self.at.turn, self.at.offset + len(self.data))


def position(text: str) -> Position:
    turn, colon, offset = text.partition(":")
    digits = turn.isascii() and offset.isascii() and turn.isdigit() and offset.isdigit()
    if not colon or not digits or len(text) > 32 or int(turn) not in TURNS:
        raise InvalidInput(f'"{text[:64]}" is no place in a transcript, like "1:2048".')
    return Position(int(turn), int(offset))


async def follow(s: Services, run_id: RunId, at: Position) -> AsyncGenerator[list[Piece]]:
    """Batches from a position on, an empty one after each look that found nothing; ends with the
    run."""
    over, asked = False, 0.0
    follower = mirrors.Follower(s, run_id)
    while True:
        await follower.keep_up(at_once=over)
        output = job_dir(s, run_id, at.turn) / OUTPUT
        batch = await asyncio.to_thread(pieces, output, at, over=over)
        if batch:
            at = batch[-1].next
            yield batch
        elif over and _later(s, run_id, at.turn):
            over, at = False, Position(at.turn + 1)
        elif over:
            return
        else:
            yield []
            # Asked before the last look: what is found after it was said to be over is all.
            ended = _later(s, run_id, at.turn) or output.with_name("exit.json").exists()
            if ended or time.monotonic() >= asked + ASK_S:
                asked = time.monotonic()
                over = await _is_over(s, run_id, at.turn)
            if not over:
                await asyncio.sleep(POLL_S)


async def _is_over(s: Services, run_id: RunId, turn: int) -> bool:
    run = await s.store.read(lambda tx: tx.runs.get(run_id))
    return _later(s, run_id, turn) or not run.status.live


def _later(s: Services, run_id: RunId, turn: int) -> bool:
    """Whether a later turn has begun, and so this one is over."""
    return turn < TURNS[-1] and job_dir(s, run_id, turn + 1).exists()


def past(s: Services, run_id: RunId) -> list[Piece]:
    """All that was printed until now."""
    found: list[Piece] = []
    for turn in TURNS:
        at = Position(turn)
        while batch := pieces(job_dir(s, run_id, turn) / OUTPUT, at, over=True):
            found += batch
            at = batch[-1].next
    return found


def pieces(output: Path, at: Position, *, over: bool) -> list[Piece]:
    """Some of what lies behind a position. A line that has no end yet waits for it, unless nothing
    more can come or it is too long."""
    found: list[Piece] = []
    try:
        file = output.open("rb")
    except FileNotFoundError:
        return found
    with file:
        file.seek(max(0, at.offset - 1))
        begins = at.offset == 0 or file.read(1) == b"\n"
        size = 0
        while size < MAX_BATCH and (data := file.readline(MAX_PIECE)):
            ends, longest = data.endswith(b"\n"), MAX_PIECE
            if begins and data.startswith(b"{"):
                longest = MAX_MESSAGE
                data += b"" if ends else file.readline(MAX_MESSAGE - len(data))
                ends = data.endswith(b"\n")
            too_long = not ends and len(data) == longest
            if too_long:
                data = data[: len(data) - begun(data)]
                file.seek(at.offset + len(data))
            elif not ends and not over:
                break
            found.append(Piece(at, data, begins and not too_long))
            at, begins, size = found[-1].next, ends, size + len(data)
    return found


def begun(part: bytes) -> int:
    """How many bytes at the end belong to a character that is not complete."""
    for length in range(1, min(LONGEST_CHARACTER, len(part)) + 1):
        byte = part[-length]
        if byte & 0b1100_0000 == 0b1000_0000:
            continue
        needed = 1 + (byte >= 0b1100_0000) + (byte >= 0b1110_0000) + (byte >= 0b1111_0000)
        return length if needed > length else 0
    return 0


Parse = Callable[[Piece], Sequence[Mapping[str, Any]]]


def _agent(s: Services, run: Run, project: Project) -> Agent | None:
    for known in (project, None):  # Of a project that is on other machines alone, ours is as good.
        with suppress(InvalidInput):
            # A run that still waits for its turn has been given none yet.
            return s.agents.get(run.agent or s.configs.of(project).default_agent, known)
    return None


def parser(s: Services, run: Run, project: Project) -> Parse:
    """Makes messages for people of what the run's agent printed, also when the agent is no longer
    configured."""
    agent = _agent(s, run, project)

    def parse(piece: Piece) -> Sequence[Mapping[str, Any]]:
        line = piece.data.removesuffix(b"\n")
        if agent is not None and piece.whole:
            return agent.parse(line) if line.strip() else ()
        return [{"type": "output", "text": line.decode(errors="replace")}]

    return parse
