"""A server with much to do: many who follow the events, many agents at work, retention meanwhile;
and then one that was killed and comes back."""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from agents_manager import webbuild
from agents_manager.domain.ids import TaskId
from agents_manager.domain.run import RunStatus
from agents_manager.flow import agents
from agents_manager.flow.ports import Tx
from agents_manager.settings import Settings
from bench import commands, programs
from bench.crowd import Place
from bench.programs import Server
from bench.rows import Row, quantile
from tests.followers import Follower

FOLLOWERS = 200
"""Every second one follows one task, the others all."""
RUNS = 50
LISTEN_S = 20.0
LONGEST_S = 120.0
SETTLE_S = 2.0
PATIENCE_S = 300.0
GOAL_READY_S = 3.0

PRINTS = """#!/bin/sh
n=0
until [ -e {told}/finish ]; do n=$((n+1)); echo "line $n"; sleep 1; done
printf '<<<OUTCOME:no_changes>>>\\n{{"reason": "It is there."}}\\n<<<END_PAYLOAD>>>\\n'
"""


async def live(where: Place) -> list[Row]:
    """The rows of a server at work, and of the same after `kill -9`."""
    settings = where.program.settings
    told = settings.home.parent / "told"
    told.mkdir()
    finish = told / "finish"
    commands.install(settings, PRINTS.format(told=told), RUNS)
    file = settings.home / "config.json"
    # In their sandbox, agents see little more than their workspace.
    more = {"sandbox": {"read": [str(told)]}}
    file.write_text(json.dumps({**json.loads(file.read_text()), **more}))
    if not webbuild.is_current(webbuild.CHECKOUT):
        webbuild.build(webbuild.CHECKOUT)  # Without it a server is not ready.
    try:
        with programs.serve(settings.home, settings.database_url) as server:
            usual = Started(server.ready_s, _processor_s(psutil.Process(server.pid)))
            working = await _working(where)
            rows = await _followed(where, server, working)
            programs.kill(server)
        with programs.serve(settings.home, settings.database_url) as server:
            rows.append(await _back(where, server, usual))
            finish.touch()
            await _until(lambda: _all(where, working, RunStatus.COMPLETED))
    finally:
        finish.touch()
    return rows


async def _working(where: Place) -> list[TaskId]:
    """Tasks whose agents are all at work."""
    s = where.program.services
    project = await s.store.read(lambda tx: tx.projects.get(where.project))
    await agents.consent(s, project, given=True)
    started = [await commands.start(s, project) for _ in range(RUNS)]
    await _until(lambda: _all(where, started, RunStatus.RUNNING))
    return started


async def _all(where: Place, tasks: Sequence[TaskId], status: RunStatus) -> bool:
    found = await where.program.services.store.read(
        lambda tx: [tx.runs.of_task(task)[-1].status for task in tasks]
    )
    if RunStatus.FAILED in found:
        raise RuntimeError("a run failed")
    return all(one is status for one in found)


async def _until(is_so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await is_so():  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.02)


# ------------------------------------------------------------------------------ who follows


@dataclass(frozen=True)
class Heard:
    wrong: int
    """Followers that missed an event, or had one twice or out of turn."""
    events: int
    late_ms: list[float]
    appended_ms: list[float]
    percent: float
    """Of a core, by the server."""
    retention_s: float | None
    """None: it was not over in time."""


async def _followed(where: Place, server: Server, working: Sequence[TaskId]) -> list[Row]:
    own = psutil.Process(server.pid)
    before = own.memory_info().rss / 1024**2
    heard = await _listen(where, server, working)
    after = own.memory_info().rss / 1024**2
    told = f"{FOLLOWERS} followers, {RUNS} agents, retention"
    took = "over 120 s" if heard.retention_s is None else f"{heard.retention_s:.0f} s"
    return [
        Row(
            name=f"{told}: who missed or doubled an event",
            ours=f"{heard.wrong} of {FOLLOWERS}",
            beside=f"{heard.events:,} events, brought {len(heard.late_ms):,} times",
            goal="0",
            met=heard.wrong == 0,
        ),
        Row(
            name="from an event's time to a follower",
            ours=_both(heard.late_ms),
            beside=f"at most {max(heard.late_ms):.0f} ms",
        ),
        Row(
            name="an event appended by another process meanwhile",
            ours=_both(heard.appended_ms),
            beside=f"at most {max(heard.appended_ms):.0f} ms",
            goal="p99 <= 50 ms",
            met=quantile(heard.appended_ms, 0.99) <= 50,
        ),
        Row(
            name="the server meanwhile",
            ours=f"{after:.0f} MB, {heard.percent:.0f} % of a core",
            beside=f"{before:.0f} MB (before)",
        ),
        Row(name="the pass of retention meanwhile", ours=took),
    ]


async def _listen(where: Place, server: Server, working: Sequence[TaskId]) -> Heard:
    s, bearer = where.program.services, f"Bearer {where.token}"
    own = psutil.Process(server.pid)
    everybody = [Follower(working[n % RUNS] if n % 2 else None) for n in range(FOLLOWERS)]
    following = [asyncio.create_task(one.follow(server.address, bearer)) for one in everybody]
    await asyncio.gather(*(one.there.wait() for one in everybody))
    first = await s.store.read(lambda tx: tx.events.last_id())
    begun, spent = time.monotonic(), _processor_s(own)
    retention = asyncio.create_task(_retention(server, bearer))
    settings = where.program.settings
    appended = await _speak(settings, working, retention.done)
    percent = 100 * (_processor_s(own) - spent) / (time.monotonic() - begun)
    over = await retention if retention.done() else None
    retention.cancel()
    last = await s.store.read(lambda tx: tx.events.last_id())
    await asyncio.sleep(SETTLE_S)
    for one in following:
        one.cancel()
    await asyncio.gather(*following, return_exceptions=True)
    written = await s.store.read(lambda tx: _written(tx, first, last))
    return Heard(
        wrong=sum(one.heard(first, last) != _due(one, written) for one in everybody),
        events=len(written),
        late_ms=[late for one in everybody for late in one.late_ms],
        appended_ms=appended,
        percent=percent,
        retention_s=over,
    )


async def _retention(server: Server, bearer: str) -> float:
    begun = time.monotonic()
    async with httpx.AsyncClient(base_url=server.address, timeout=PATIENCE_S) as api:
        response = await api.post("/api/v1/retention", headers={"Authorization": bearer})
    assert response.status_code == 200, response.text
    return time.monotonic() - begun


async def _speak(
    settings: Settings, working: Sequence[TaskId], over: Callable[[], bool]
) -> list[float]:
    """Has events of the tasks in work written for a while; how long each took, in milliseconds."""
    arguments = (str(settings.home), settings.database_url or "", *working)
    speaker = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.speaker", *arguments, stdout=asyncio.subprocess.PIPE
    )
    least, most = time.monotonic() + LISTEN_S, time.monotonic() + LONGEST_S
    while time.monotonic() < (most if not over() else least):  # noqa: ASYNC110 - or it is late
        await asyncio.sleep(0.5)
    speaker.terminate()
    told, _ = await speaker.communicate()
    if speaker.returncode:
        raise RuntimeError("nobody wrote events")
    return json.loads(told)


def _written(tx: Tx, after: int, last: int) -> list[tuple[int, TaskId]]:
    found: list[tuple[int, TaskId]] = []
    while page := tx.events.after(after, task=None, limit=1_000):
        found += [(one.id, one.task_id) for one in page if one.id <= last]
        after = page[-1].id
    return found


def _due(one: Follower, written: Sequence[tuple[int, TaskId]]) -> list[int]:
    return [id for id, task in written if one.task in (None, task)]


def _both(times: Sequence[float]) -> str:
    middle, most = (quantile(times, share) for share in (0.5, 0.95))
    return f"p50 {middle:.0f}, p95 {most:.0f} ms"


def _processor_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


# ------------------------------------------------------------------------------ who comes back


@dataclass(frozen=True)
class Started:
    seconds: float
    processor_s: float

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s ({self.processor_s:.2f} of a core)"


async def _back(where: Place, server: Server, usual: Started) -> Row:
    """A server has adopted a run when it holds a handle of the runner's process."""
    pending = await where.program.services.store.read(lambda tx: tx.prompts.open(None))
    handles = Path(f"/proc/{server.pid}/fd")
    async with httpx.AsyncClient(base_url=server.address) as api:
        await _until(lambda: _ready(api))
    own = psutil.Process(server.pid)
    ready = Started(time.monotonic() - server.begun, _processor_s(own))
    await _until(lambda: asyncio.to_thread(lambda: _adopted(handles) >= RUNS))
    adopted = Started(time.monotonic() - server.begun, _processor_s(own))
    return Row(
        name=f"after kill -9 with {RUNS} agents and {pending} questions: ready",
        ours=f"{ready}, all adopted {adopted}",
        beside=f"{usual} with none",
        ratio=adopted.seconds / usual.seconds,
        goal=f"<= {GOAL_READY_S:g} s",
        met=adopted.seconds <= GOAL_READY_S,
    )


async def _ready(api: httpx.AsyncClient) -> bool:
    return (await api.get("/readyz")).status_code == 200


def _adopted(handles: Path) -> int:
    found = 0
    for handle in handles.iterdir():
        try:
            found += "pidfd" in str(handle.readlink())
        except OSError:
            continue
    return found
