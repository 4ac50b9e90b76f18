"""Live events: none missed, none twice, and nobody waits for a slow client."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from httpx_sse import EventSource, ServerSentEvent, aconnect_sse

from agents_manager import bootstrap
from agents_manager.api import stream
from agents_manager.api.stream import Feed
from agents_manager.bootstrap import Program
from agents_manager.errors import Conflict
from agents_manager.flow import tasks
from agents_manager.settings import Settings
from tests.api.scenes import Scene, serving, told
from tests.postgres import fresh_database

STREAM = "/api/v1/events/stream"


@asynccontextmanager
async def following(api: httpx.AsyncClient, **options: Any) -> AsyncIterator[EventSource]:
    async with aconnect_sse(api, "GET", STREAM, **options) as source:
        source.response.raise_for_status()
        yield source


async def take(source: EventSource, number: int) -> list[ServerSentEvent]:
    got: list[ServerSentEvent] = []
    async with asyncio.timeout(10):
        async for event in source.aiter_sse():
            got.append(event)
            if len(got) == number:
                break
    return got


def ids(events: list[ServerSentEvent]) -> list[int]:
    return [int(event.id) for event in events]


async def test_a_stream_that_drops_at_every_event_loses_nothing(
    program: Program, scene: Scene
) -> None:
    task = await scene.task()
    wanted = [await scene.note(task, f"Past {n}") for n in range(10)]
    async with serving(program) as api:

        async def write() -> None:
            for n in range(10):
                await asyncio.sleep(0.02)
                wanted.append(await scene.note(task, f"Live {n}"))

        async with asyncio.TaskGroup() as group:
            group.create_task(write())
            got = [wanted[0]]
            while len(got) < 20:
                headers = {"Last-Event-ID": str(got[-1])}
                async with following(api, headers=headers) as source:
                    event = (await take(source, 1))[0]
                    assert event.json()["id"] == int(event.id)
                    got.append(int(event.id))
    assert got == wanted


async def test_clients_that_join_at_any_moment_see_the_same(program: Program, scene: Scene) -> None:
    task = await scene.task()
    first = await scene.note(task, "First")
    async with serving(program) as api:

        async def follow(after_s: float) -> list[int]:
            await asyncio.sleep(after_s)
            async with following(api, params={"after": first}) as source:
                return ids(await take(source, 60))

        async def write() -> list[int]:
            return [await scene.note(task, f"Note {n}") for n in range(60)]

        async with asyncio.TaskGroup() as group:
            clients = [group.create_task(follow(n * 0.01)) for n in range(8)]
            writer = group.create_task(write())
        for client in clients:
            assert client.result() == writer.result()


async def test_without_a_start_only_what_is_new_comes(program: Program, scene: Scene) -> None:
    task = await scene.task()
    await scene.note(task, "Old")
    async with serving(program) as api, following(api) as source:
        new = await scene.note(task, "New")
        assert ids(await take(source, 1)) == [new]


async def test_one_task_can_be_followed(program: Program, scene: Scene) -> None:
    one, other = await scene.task("One"), await scene.task("Other")
    async with serving(program) as api:
        wanted = [await scene.note(one, "1")]
        await scene.note(other, "x")
        options = {"params": {"task": one.id, "after": wanted[0] - 1}}
        async with following(api, **options) as source:
            await scene.note(other, "y")
            wanted.append(await scene.note(one, "2"))
            events = await take(source, 2)
    assert ids(events) == wanted
    assert {event.json()["task_id"] for event in events} == {one.id}


async def test_what_another_process_writes_is_noticed(
    program: Program, scene: Scene, tmp_path: Path
) -> None:
    task = await scene.task()
    async with (
        bootstrap.client(Settings(tmp_path / "home", None)) as other,
        serving(program) as api,
        following(api) as source,
    ):
        noted = await Scene(other.services, scene.project).note(task, "From elsewhere")
        assert ids(await take(source, 1)) == [noted]


async def test_postgres_tells_of_what_another_process_writes(
    postgres_url: str, tmp_path: Path, repo: Path
) -> None:
    settings = Settings(tmp_path / "home", fresh_database(postgres_url))
    async with bootstrap.client(settings) as program, bootstrap.client(settings) as other:
        project = await tasks.add_project(other.services, repo, None, None)
        scene = Scene(other.services, project)
        task = await scene.task()
        async with serving(program) as api, following(api, params={"after": 0}) as source:
            wanted = [1, *[await scene.note(task, f"Note {n}") for n in range(20)]]
            assert ids(await take(source, 21)) == wanted


async def test_a_start_beyond_the_end_is_refused(api: httpx.AsyncClient, scene: Scene) -> None:
    response = await api.get(STREAM, params={"after": 10_000})
    assert "follow from now" in told(response, 409, "Conflict")["message"]
    wrong = await api.get(STREAM, headers={"Last-Event-ID": "yesterday"})
    assert told(wrong, 422, "InvalidInput")["details"][0].startswith("Last-Event-ID:")


@asynccontextmanager
async def feeding(program: Program, **options: Any) -> AsyncGenerator[Feed]:
    feed = Feed(program.services.store, program.database.watch, **options)
    async with feed.running():
        yield feed


async def test_a_long_past_comes_in_pages(
    program: Program, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A page of 500 would need thousands of events to show what a page of 3 shows.
    monkeypatch.setattr(stream, "PAGE", 3)
    task = await scene.task()
    first = await scene.note(task, "First")
    wanted = [await scene.note(task, f"Note {n}") for n in range(10)]
    async with feeding(program) as feed:
        frames = await feed.follow(task.id, first)
        assert await anext(frames) == stream.GREETING
        got = b""
        while got.count(b"id: ") < 10:
            got += await anext(frames)
        assert [int(line[4:]) for line in got.splitlines() if line.startswith(b"id: ")] == wanted
        wanted.append(await scene.note(task, "Live"))
        assert f"id: {wanted[-1]}\n".encode() in await anext(frames)


async def test_silence_is_broken_by_a_sign_of_life(program: Program) -> None:
    async with feeding(program, heartbeat_s=0.01) as feed:
        frames = await feed.follow(None, None)
        assert [await anext(frames) for _ in range(3)] == [
            stream.GREETING,
            stream.HEARTBEAT,
            stream.HEARTBEAT,
        ]


async def test_a_slow_client_is_dropped_and_reads_on_later(program: Program, scene: Scene) -> None:
    task = await scene.task()
    async with feeding(program, max_waiting_bytes=1000) as feed:
        slow, fast = await feed.follow(None, None), await feed.follow(None, None)
        seen: list[int] = []
        waiting = [asyncio.ensure_future(_to_the_end(fast, seen))]
        assert await anext(slow) == stream.GREETING
        first = asyncio.ensure_future(anext(slow))
        await asyncio.sleep(0)
        wanted: list[int] = []
        for n in range(10):
            wanted.append(await scene.note(task, f"Note {n}"))
            async with asyncio.timeout(5):
                while len(seen) <= n:
                    await asyncio.sleep(0.005)
        got = _ids(await first)
        rest: list[int] = []
        await _to_the_end(slow, rest)
        got += rest
        assert got == wanted[: len(got)]
        assert 1 < len(got) < 10
        again = await feed.follow(None, got[-1])
        assert await anext(again) == stream.GREETING
        assert got + _ids(await anext(again)) == wanted
    await waiting[0]
    assert seen == wanted


async def _to_the_end(frames: AsyncGenerator[bytes], into: list[int]) -> None:
    async for chunk in frames:
        into += _ids(chunk)


def _ids(chunk: bytes) -> list[int]:
    return [int(line[4:]) for line in chunk.splitlines() if line.startswith(b"id: ")]


async def test_a_client_that_leaves_is_forgotten(program: Program, scene: Scene) -> None:
    async with feeding(program) as feed:
        frames = await feed.follow(None, None)
        await anext(frames)
        waiting = asyncio.ensure_future(anext(frames))
        await asyncio.sleep(0.01)
        assert len(feed._clients) == 1  # pyright: ignore[reportPrivateUsage]
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        assert not feed._clients  # pyright: ignore[reportPrivateUsage]


async def test_closing_ends_every_stream_and_refuses_new_ones(program: Program) -> None:
    async with feeding(program) as feed:
        frames = await feed.follow(None, None)
        feed.close()
        assert [chunk async for chunk in frames] == [stream.GREETING]
        with pytest.raises(Conflict):
            await feed.follow(None, 99)
