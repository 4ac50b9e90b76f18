"""What do many tasks and events cost? 100,000 tasks with 10 million events beside 1,000 with
100,000, asked in turns; then a server on each that has nothing to do, and one with very much.

`BENCH_EVENTS=1000000` makes fewer, `BENCH_DATABASE=postgres` asks a Postgres of its own."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace

from agents_manager.domain import event
from agents_manager.domain.ids import RunId
from agents_manager.flow import agents, liveness
from agents_manager.flow.ports import Tx
from bench import commands, load_live, programs
from bench.crowd import Place, Served, filled, served
from bench.places import ANN
from bench.rows import Row, quantile
from bench.serve import idle_percent
from bench.starts import question

EVENTS = 10_000_000
EVENTS_A_TASK = 100
SMALL = 1_000
WAITING = 50
TIMES = 30
WALKS = 5
GOAL = 2.0
GOAL_MS = 500
IDLE_S = 35.0
"""The supervisor looks around every 30 s."""
SETTLE_S = 5.0
FOLDERS = 20_000
"""Of runs that are over, in the larger data directory."""

Ask = Callable[[Served], Awaitable[object]]


def run() -> list[Row]:
    events = int(os.environ.get("BENCH_EVENTS", EVENTS))
    with _addresses(os.environ.get("BENCH_DATABASE") == "postgres") as addresses:
        rows = asyncio.run(_run(events, addresses))
    easier = f"{events:,} events" if events < EVENTS else ""
    return [replace(row, easier=easier) for row in rows]


@contextmanager
def _addresses(postgres: bool) -> Iterator[tuple[str | None, str | None]]:
    if not postgres:
        yield None, None
        return
    from tests.postgres import cluster, find_programs, fresh_database

    found = find_programs()
    if found is None:
        raise RuntimeError("there is no Postgres")
    with cluster(found, fsync=True) as url:
        yield fresh_database(url), fresh_database(url)


async def _run(events: int, addresses: tuple[str | None, str | None]) -> list[Row]:
    sizes = (SMALL, events // EVENTS_A_TASK)
    async with AsyncExitStack() as stack:
        begun = time.monotonic()
        few, many = [
            await stack.enter_async_context(
                filled(size - WAITING, WAITING, events=EVENTS_A_TASK, url=url)
            )
            for size, url in zip(sizes, addresses, strict=True)
        ]
        made = Row(
            name=f"made: {sizes[1]:,} tasks, {events:,} events",
            ours=f"{time.monotonic() - begun:.0f} s",
            beside=f"{sizes[0]:,} tasks, {sizes[0] * EVENTS_A_TASK:,} events",
        )
        _folders(many)
        for place in (few, many):
            await _with_an_agent(place)
        async with served(few) as small, served(many) as large:
            rows = [
                made,
                *[await _asked(name, ask, small, large) for name, ask in QUESTIONS.items()],
                *[
                    await _asked(name, ask, small, large, bounded=True)
                    for name, ask in GROWING.items()
                ],
                *await _servers(small, large),
            ]
        return [*rows, *await load_live.live(many)]


async def _with_an_agent(where: Place) -> None:
    """Installs one that asks, in the default sandbox, and lets it work."""
    s = where.program.services
    commands.install(where.program.settings, commands.ASKS, 1)
    await agents.consent(
        s, await s.store.read(lambda tx: tx.projects.get(where.project)), given=True
    )


def _folders(where: Place) -> None:
    """What retention keeps for half a year."""
    for number in range(FOLDERS):
        folder = where.program.services.jobs_dir / f"over-{number:06}" / "1"
        folder.mkdir(parents=True)
        for name in ("runner.json", "exit.json", "output"):
            (folder / name).touch()


async def _asked(
    name: str, ask: Ask, few: Served, many: Served, *, times: int = TIMES, bounded: bool = False
) -> Row:
    """What is bounded may take longer where there is more, but not longer than so."""
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(times + 2):
        for where, spent in zip((few, many), taken, strict=True):
            begun = time.perf_counter()
            await ask(where)
            spent.append((time.perf_counter() - begun) * 1000)
    small, large = (spent[2:] for spent in taken)
    ratio, most = quantile(large, 0.5) / quantile(small, 0.5), quantile(large, 0.95)
    return Row(
        name=name,
        ours=_told(large),
        beside=_told(small),
        ratio=ratio,
        goal=f"p95 <= {GOAL_MS} ms" if bounded else f"p50 <= {GOAL:.0f} x",
        met=most <= GOAL_MS if bounded else ratio <= GOAL,
    )


def _told(times: Sequence[float]) -> str:
    middle, most = (quantile(times, share) for share in (0.5, 0.95))
    return f"p50 {middle:.1f}, p95 {most:.1f} ms"


# ------------------------------------------------------------------------------ what is asked


def _get(path: Callable[[Served], str], **params: str) -> Ask:
    async def ask(where: Served) -> None:
        address = path(where)
        full = address if address.startswith("/metrics") else f"/api/v1{address}"
        response = await where.api.get(full, params=params)
        assert response.status_code == 200, response.text

    return ask


async def _append(where: Place) -> None:
    s = where.program.services
    told = event.ChecksPassed(run=RunId("run"), checks=("tests",))
    await s.store.write(lambda tx: tx.events.add(where.task, told, ANN, s.clock.now()))


async def _look(where: Place) -> None:
    s = where.program.services
    now = s.clock.now()

    def look(tx: Tx) -> None:
        tx.effects.due(now, 1)
        tx.effects.next_due(now)
        tx.effects.started()
        tx.prompts.due(now)
        liveness.stranded(tx, now)

    await s.store.read(look)


async def _command(where: Place) -> None:
    settings = where.program.settings
    arguments = ("task", "list", "--all")
    await asyncio.to_thread(
        programs.run, settings.home, *arguments, database_url=settings.database_url
    )


QUESTIONS: dict[str, Ask] = {
    "GET /tasks": _get(lambda _: "/tasks"),
    "GET /tasks, done, deep in the list": _get(
        lambda where: f"/tasks?status=done&cursor={where.middle}"
    ),
    "GET /tasks/{id}": _get(lambda where: f"/tasks/{where.task}"),
    "GET /tasks/{id}/events": _get(lambda where: f"/tasks/{where.middle}/events"),
    "GET /tasks/{id}/history": _get(lambda where: f"/tasks/{where.middle}/history"),
    "GET /prompts": _get(lambda _: "/prompts"),
    "GET /health": _get(lambda _: "/health"),
    "GET /cost of 7 days": _get(lambda _: "/cost", by="agent", since="7d"),
    "GET /stats of 7 days": _get(lambda _: "/stats", since="7d"),
    "GET /performance of 7 days": _get(lambda _: "/performance", since="7d"),
    "an event appended": _append,
    "a look of dispatcher and supervisor": _look,
}
GROWING: dict[str, Ask] = {
    "GET /board": _get(lambda _: "/board"),
    "GET /board of a project": _get(lambda where: f"/board?project={where.project}"),
    "GET /search, a rare word": _get(lambda _: "/search", q="no. 7919"),
    "GET /tasks, a rare title": _get(lambda _: "/tasks", title="no. 7919"),
    "GET /metrics": _get(lambda _: "/metrics"),
    "GET /cost of all time": _get(lambda _: "/cost", by="agent"),
}
"""These count or look through all there is."""


# ------------------------------------------------------------------------------ on a server


async def _servers(small: Served, large: Served) -> list[Row]:
    """Both at the same time, so that other programs disturb them alike."""
    await asyncio.sleep(SETTLE_S)
    pids = (small.server.pid, large.server.pid)
    less, more = await asyncio.gather(
        *(asyncio.to_thread(idle_percent, pid, IDLE_S) for pid in pids)
    )
    return [
        Row(
            name=f"am serve ready, {FOLDERS:,} folders of runs",
            ours=f"{large.server.ready_s:.2f} s",
            beside=f"{small.server.ready_s:.2f} s (no folders)",
            ratio=large.server.ready_s / small.server.ready_s,
        ),
        Row(
            name=f"am serve idle, {IDLE_S:.0f} s",
            ours=f"{more:.1f} % of a core",
            beside=f"{less:.1f} %",
            ratio=more / less,
        ),
        await _asked("a task, from start to its question", _walk, small, large, times=WALKS),
        await _asked("am task list", _command, small, large, times=WALKS),
    ]


async def _walk(where: Place) -> None:
    s = where.program.services
    project = await s.store.read(lambda tx: tx.projects.get(where.project))
    task_id = await commands.start(s, project)
    await question(s, await s.store.read(lambda tx: tx.tasks.get(task_id)))
