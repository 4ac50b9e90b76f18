"""Watching a run: the past, then what comes, with no gap and no repeat, for any number of us."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from httpx_sse import ServerSentEvent, aconnect_sse

from agents_manager.api import outputs
from agents_manager.api.stream import Feed
from agents_manager.bootstrap import Program
from agents_manager.domain.run import Run, RunStatus
from agents_manager.flow.runs import lifecycle, watch
from tests.api.scenes import Scene, serving, told


class Printer:
    """Stands in for a runner: writes the files that one would write."""

    def __init__(self, scene: Scene, run: Run) -> None:
        self._scene, self._run = scene, run

    def file(self, turn: int = 1) -> Path:
        folder = lifecycle.job_dir(self._scene.s, self._run.id, turn)
        folder.mkdir(parents=True, exist_ok=True)
        return folder / "output"

    def write(self, data: bytes, turn: int = 1) -> None:
        with self.file(turn).open("ab") as file:
            file.write(data)

    async def end(self) -> None:
        now = self._scene.s.clock.now()
        await self._scene.s.store.write(
            lambda tx: tx.runs.update(
                self._run.id, status=RunStatus.COMPLETED, outcome="pr_ready", ended_at=now
            )
        )


@pytest.fixture
async def run(scene: Scene) -> Run:
    _, run = await scene.running()
    return run


def line(text: str) -> bytes:
    return json.dumps({"type": "assistant", "text": text}).encode() + b"\n"


async def take(api: httpx.AsyncClient, run: Run, number: int = -1, **kw: Any) -> list[Any]:
    """That many entries, or all until the end."""
    got: list[ServerSentEvent] = []
    async with asyncio.timeout(20), aconnect_sse(api, "GET", url(run), **kw) as source:
        source.response.raise_for_status()
        async for event in source.aiter_sse():
            got.append(event)
            if len(got) == number or event.event == "end":
                break
    return got


def url(run: Run) -> str:
    return f"/api/v1/runs/{run.id}/output"


def texts(events: list[ServerSentEvent]) -> list[str]:
    return [m["text"] for e in events if e.event == "output" for m in e.json()["messages"]]


async def test_many_watchers_who_come_at_any_moment_and_come_back(
    program: Program, scene: Scene, run: Run
) -> None:
    printer = Printer(scene, run)
    wanted = [f"Line {n} 🎉" for n in range(40)]

    async def play() -> None:
        for n, text in enumerate(wanted):
            # In pieces that end in the middle of lines and of characters.
            data, cut = line(text), len(line(text)) - 4
            printer.write(data[:cut], 1 + n // 30)
            await asyncio.sleep(0.01)
            printer.write(data[cut:], 1 + n // 30)
        await printer.end()

    async def one_at_a_time() -> list[str]:
        got = await take(api, run, 1)
        while got[-1].event != "end":
            got += await take(api, run, 3, headers={"Last-Event-ID": got[-1].id})
        return texts(got)

    async with serving(program) as api, asyncio.TaskGroup() as group:
        early = [group.create_task(take(api, run)) for _ in range(5)]
        steps = group.create_task(one_at_a_time())
        await group.create_task(play())
        late = await take(api, run)
        for got in [late, *[await task for task in early]]:
            assert texts(got) == wanted
            assert got[-1].json() == {"status": "completed", "outcome": "pr_ready"}
        assert await steps == wanted


async def test_what_follows_an_entry(api: httpx.AsyncClient, scene: Scene, run: Run) -> None:
    printer = Printer(scene, run)
    printer.write(line("one") + line("two"))
    printer.write(line("three"), turn=2)
    await printer.end()
    everything = await take(api, run)
    assert [(e.json()["turn"], e.json()["offset"]) for e in everything[:-1]] == [
        (1, 0),
        (1, len(line("one"))),
        (2, 0),
    ]
    rest = await take(api, run, params={"after": everything[0].id})
    assert texts(rest) == ["two", "three"]


@pytest.mark.parametrize("after", ["x", "1", "1:-1", "0:0", "99:0", "1:²", "1:" + "9" * 60])
async def test_a_place_that_is_none(api: httpx.AsyncClient, run: Run, after: str) -> None:
    told(await api.get(url(run), params={"after": after}), 422, "InvalidInput")


async def test_what_no_agent_should_print(api: httpx.AsyncClient, scene: Scene, run: Run) -> None:
    """A line without end comes in parts, and no part of it passes for a message."""
    long = b"x" * watch.MAX_PIECE + line("not said")
    printer = Printer(scene, run)
    printer.write(long + b"\xff\x00\n" + line("said") + b'{"type": "assistant", "text": "\\ud800"}')
    await printer.end()
    events = await take(api, run)
    kinds = [m["type"] for e in events[:-1] for m in e.json()["messages"]]
    assert kinds == ["output", "output", "output", "assistant", "assistant"]
    assert "".join(texts(events)[:2]).encode() == long.rstrip(b"\n")
    assert texts(events)[3] == "said"
    # A client that comes back in the middle of the line is not told otherwise.
    again = await take(api, run, params={"after": events[0].id})
    assert [m["type"] for m in again[0].json()["messages"]] == ["output"]


async def test_a_long_line_of_json_is_one_message_once_it_is_complete(
    api: httpx.AsyncClient, scene: Scene, run: Run
) -> None:
    long = b'{"type": "assistant", "text": "' + b"x" * 2 * watch.MAX_PIECE
    printer = Printer(scene, run)
    printer.write(line("one") + long)
    output = watch.job_dir(scene.s, run.id, 1) / watch.OUTPUT
    assert len(watch.pieces(output, watch.Position(), over=False)) == 1
    printer.write(b'"}\n')
    await printer.end()
    events = await take(api, run)
    assert texts(events) == ["one", f"(A message of {len(long) + 2} bytes is left out.)"]


async def test_a_closing_server_ends_the_watching(program: Program, scene: Scene, run: Run) -> None:
    Printer(scene, run).write(line("one"))
    feed = Feed(program.services.store, program.database.watch)
    frames = outputs.frames(scene.s, feed, run, scene.project, watch.Position())
    got = [await anext(frames), await anext(frames)]
    assert b"one" in got[1]
    feed.close()
    assert [frame async for frame in frames] == []
