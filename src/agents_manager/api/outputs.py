"""The output of a run as a live stream."""

import json
import time
from collections.abc import AsyncGenerator

from agents_manager.api import pages
from agents_manager.api.stream import GREETING, HEARTBEAT, Feed, Permit, always
from agents_manager.domain.run import Run
from agents_manager.domain.task import Project
from agents_manager.flow.ports import Services
from agents_manager.flow.runs import mirrors, places, watch
from agents_manager.flow.runs.watch import Parse, Piece, Position


async def frames(
    s: Services,
    feed: Feed,
    run: Run,
    project: Project,
    at: Position,
    permit: Permit = always,
) -> AsyncGenerator[bytes]:
    yield GREETING
    parse = watch.parser(s, run, project)
    sent = asked = time.monotonic()
    async for batch in watch.follow(s, run.id, at):
        if feed.closed:
            return
        if time.monotonic() >= asked + feed.heartbeat_s:
            if not await permit():
                return
            asked = time.monotonic()
        if batch:
            yield b"".join(_frame(piece, parse) for piece in batch)
        elif time.monotonic() >= sent + feed.heartbeat_s:
            yield HEARTBEAT
        else:
            continue
        sent = time.monotonic()
    ended = await s.store.read(lambda tx: tx.runs.get(run.id))
    gone = places.removed_at(s, ended)
    told: dict[str, str | None] = {"status": ended.status, "outcome": ended.outcome}
    if gone is not None:
        told["removed_at"] = gone.isoformat()
    if (missing := await mirrors.missing(s, ended)) is not None:
        told["missing"] = missing
    content = json.dumps(told)
    yield f"event: end\ndata: {content}\n\n".encode()


def _frame(piece: Piece, parse: Parse) -> bytes:
    """Its id says what follows it, so that a client who comes back misses and repeats nothing."""
    content = pages.Output(
        turn=piece.at.turn,
        offset=piece.at.offset,
        messages=[dict(message) for message in parse(piece)],
    )
    # Pydantic's own JSON refuses the halves of characters that an agent may have printed.
    data = json.dumps(content.model_dump())
    return f"id: {piece.next}\nevent: output\ndata: {data}\n\n".encode()
