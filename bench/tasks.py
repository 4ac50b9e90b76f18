"""Do a page of tasks, one task with its *why*, and events take longer when there are many tasks?
100,000 beside 100, asked in turns: over HTTP as clients do, and by the functions that the routes
call, whose times are not covered by those of HTTP."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack

from agents_manager.domain.ids import ProjectId
from agents_manager.flow import views
from agents_manager.flow.ports import Tx
from bench.crowd import Served, filled, served
from bench.places import ANN
from bench.rows import Row, quantile

SIZES = (100, 100_000)
WAITING = 20
"""Tasks that wait for an answer, however many are finished: people do not ask more of themselves
because there were more before."""
TIMES = 200
GOAL = 2.0
PAGE = 16


def run() -> list[Row]:
    return asyncio.run(_run())


async def _run() -> list[Row]:
    async with AsyncExitStack() as stack:
        places = [
            await stack.enter_async_context(
                served(await stack.enter_async_context(filled(size - WAITING, WAITING)))
            )
            for size in SIZES
        ]
        rows: list[Row] = []
        for name, ask in QUESTIONS.items():
            taken: tuple[list[float], list[float]] = ([], [])
            for _ in range(TIMES + 10):
                for where, times in zip(places, taken, strict=True):
                    begun = time.perf_counter()
                    await ask(where)
                    times.append(time.perf_counter() - begun)
            rows.append(_row(name, *(times[10:] for times in taken)))
        return rows


def _row(name: str, few: Sequence[float], many: Sequence[float]) -> Row:
    ratio = quantile(many, 0.95) / quantile(few, 0.95)
    return Row(
        name=f"{name}, {SIZES[1]:,} tasks",
        ours=_told(many),
        beside=f"{_told(few)} ({SIZES[0]} tasks)",
        ratio=ratio,
        goal=f"p95 <= {GOAL:.0f} x",
        met=ratio <= GOAL,
    )


def _told(times: Sequence[float]) -> str:
    middle, most = (quantile(times, share) * 1000 for share in (0.5, 0.95))
    return f"p50 {middle:.2f}, p95 {most:.2f} ms"


# ------------------------------------------------------------------------------ what is asked


def _read(fn: Callable[[Tx, Served], object]) -> Callable[[Served], Awaitable[object]]:
    return lambda where: where.program.services.store.read(lambda tx: fn(tx, where))


def _page(
    tx: Tx, project: ProjectId | None = None, status: str | None = None, after: str | None = None
) -> None:
    assert tx.tasks.page(project=project, status=status, after=after, limit=PAGE)


def _view(tx: Tx, where: Served) -> None:
    seen = views.task(tx, where.program.services, where.task, ANN)
    assert "REST or GraphQL?" in seen.why


def _feed(tx: Tx, _: Served) -> None:
    assert len(tx.events.after(tx.events.last_id() - 50, task=None, limit=100)) == 50


def _events(tx: Tx, where: Served) -> None:
    assert tx.events.of_task(where.task, after_seq=0, limit=101)


def _inbox(tx: Tx, _: Served) -> None:
    assert len(views.inbox(tx).items) == WAITING


def _get(path: Callable[[Served], str]) -> Callable[[Served], Awaitable[object]]:
    async def ask(where: Served) -> None:
        response = await where.api.get(f"/api/v1{path(where)}")
        assert response.status_code == 200, response.text

    return ask


QUESTIONS: dict[str, Callable[[Served], Awaitable[object]]] = {
    "GET /tasks": _get(lambda _: f"/tasks?limit={PAGE}"),
    "GET /tasks of a project": _get(lambda where: f"/tasks?limit={PAGE}&project={where.project}"),
    "GET /tasks, deep in the list": _get(lambda at: f"/tasks?limit={PAGE}&cursor={at.middle}"),
    "GET /tasks/{id}": _get(lambda where: f"/tasks/{where.task}"),
    "GET /tasks/{id}/events": _get(lambda where: f"/tasks/{where.task}/events"),
    "GET /prompts": _get(lambda _: "/prompts"),
    "function: page of all tasks": _read(lambda tx, _: _page(tx)),
    "function: page deep in the list": _read(lambda tx, where: _page(tx, after=where.middle)),
    "function: page of a project": _read(lambda tx, where: _page(tx, where.project)),
    "function: page of a project, done": _read(lambda tx, at: _page(tx, at.project, "done")),
    "function: page of a status": _read(lambda tx, _: _page(tx, status="needs_info")),
    "function: a task with its why": _read(_view),
    "function: events of a task": _read(_events),
    "function: newest events of all": _read(_feed),
    "function: inbox": _read(_inbox),
}
