"""Do a page of tasks, one task with its *why*, and events take longer when there are many tasks?
100,000 beside 100, asked in turns by the functions that the routes call, and once over HTTP."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

import httpx

from agents_manager import bootstrap
from agents_manager.api import auth
from agents_manager.api.app import build
from agents_manager.api.doors import doors
from agents_manager.api.stream import Feed
from agents_manager.bootstrap import Program
from agents_manager.domain.ids import ProjectId, RunId, TaskId
from agents_manager.domain.task import Project
from agents_manager.flow import prompts, tasks, views
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import close
from agents_manager.flow.runs.verdict import Verdict
from agents_manager.store import schema
from bench.places import ANN, ANSWER, QUESTION, place
from bench.rows import Row, quantile

SIZES = (100, 100_000)
PROJECTS = 5
WAITING = 20
"""Tasks that wait for an answer, however many are finished: people do not ask more of themselves
because there were more before."""
TIMES = 200
GOAL = 2.0
PORT = 4100
PAGE = 16


@dataclass(frozen=True)
class Place:
    program: Program
    api: httpx.AsyncClient
    project: ProjectId
    task: TaskId
    """One that waits for an answer."""
    middle: TaskId
    """Where a page begins that is deep in the list."""


def run() -> list[Row]:
    return asyncio.run(_run())


async def _run() -> list[Row]:
    async with AsyncExitStack() as stack:
        places = [
            await stack.enter_async_context(filled(size - WAITING, WAITING)) for size in SIZES
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


def _read(fn: Callable[[Tx, Place], object]) -> Callable[[Place], Awaitable[object]]:
    return lambda where: where.program.services.store.read(lambda tx: fn(tx, where))


def _page(
    tx: Tx, project: ProjectId | None = None, status: str | None = None, after: str | None = None
) -> None:
    assert tx.tasks.page(project=project, status=status, after=after, limit=PAGE)


def _view(tx: Tx, where: Place) -> None:
    seen = views.task(tx, where.program.services, where.task, ANN)
    assert "REST or GraphQL?" in seen.why


def _feed(tx: Tx, _: Place) -> None:
    assert len(tx.events.after(tx.events.last_id() - 50, task=None, limit=100)) == 50


def _events(tx: Tx, where: Place) -> None:
    assert tx.events.of_task(where.task, after_seq=0, limit=101)


def _inbox(tx: Tx, _: Place) -> None:
    assert len(views.inbox(tx).items) == WAITING


async def _over_http(where: Place) -> None:
    response = await where.api.get(
        "/api/v1/tasks", params={"project": where.project, "limit": PAGE}
    )
    assert response.status_code == 200


QUESTIONS: dict[str, Callable[[Place], Awaitable[object]]] = {
    "page of all tasks": _read(lambda tx, _: _page(tx)),
    "page deep in the list": _read(lambda tx, where: _page(tx, after=where.middle)),
    "page of a project": _read(lambda tx, where: _page(tx, where.project)),
    "page of a project, done": _read(lambda tx, where: _page(tx, where.project, "done")),
    "page of a status": _read(lambda tx, _: _page(tx, status="needs_info")),
    "a task with its why": _read(_view),
    "events of a task": _read(_events),
    "newest events of all": _read(_feed),
    "inbox": _read(_inbox),
    "GET /tasks of a project": _over_http,
}


# ----------------------------------------------------------------------------- what there is


@asynccontextmanager
async def filled(finished: int, waiting: int) -> AsyncIterator[Place]:
    with place() as (settings, repo):
        async with bootstrap.client(settings) as program:
            s = program.services
            project = await tasks.add_project(s, repo, None, None)
            done, asking = await _walked(s, project, "done"), await _walked(s, project)
            await s.store.write(lambda tx: _told_people(tx, s))
            projects = await s.store.write(lambda tx: _projects(tx, project))
            _copies(program, done, finished - 1, projects)
            _copies(program, asking, waiting - 1, projects)
            token = await auth.ensure_owner_token(program, "ann")
            app = build(s, Feed(s.store, program.database.watch), doors("127.0.0.1", PORT))
            async with httpx.AsyncClient(
                transport=httpx.ASGITransport(app),
                base_url=f"http://127.0.0.1:{PORT}",
                headers={"Authorization": f"Bearer {token}"},
            ) as api:
                middle = TaskId(f"{done}.{(finished + waiting) // 2:06}")
                yield Place(program, api, project.id, asking, middle)


async def _walked(s: Services, project: Project, to: str | None = None) -> TaskId:
    """A task that asked, was answered and asks again; or one that then was closed."""
    task = await tasks.create(s, project, tasks.NewTask(title="Add auth", pipeline="simple"), ANN)
    await tasks.move(s, task.id, ANN)
    await _ask(s, task.id)
    [asked] = await s.store.read(lambda tx: tx.prompts.pending(task.id))
    await prompts.answer(s, asked.id, ANSWER, ANN)
    if to is None:
        await _ask(s, task.id)
        return task.id
    (run,) = await s.store.read(lambda tx: tx.runs.live(task.id))
    nothing = Verdict(outcome="no_changes", payload={"reason": "It is there."}, inferred=False)
    await close.close(RunId(run.id), nothing, s)
    await tasks.move(s, task.id, ANN, to=to)
    return task.id


async def _ask(s: Services, task_id: TaskId) -> None:
    (run,) = await s.store.read(lambda tx: tx.runs.live(task_id))
    await close.close(run.id, Verdict(outcome="needs_info", payload=QUESTION, inferred=False), s)


def _told_people(tx: Tx, s: Services) -> None:
    """A server that is started on the copies has no thousands of notices to send."""
    for effect in tx.effects.open():
        tx.effects.update(effect.id, status="done", finished_at=s.clock.now())


def _projects(tx: Tx, first: Project) -> list[str]:
    others = [
        replace(first, id=ProjectId(f"{first.id}.{n}"), name=f"p{n}", path=f"{first.path}.{n}")
        for n in range(1, PROJECTS)
    ]
    for project in others:
        tx.projects.add(project)
    return [first.id, *(p.id for p in others)]


def _copies(program: Program, task_id: TaskId, number: int, projects: list[str]) -> None:
    """The task again and again, with everything that belongs to it, by one statement a table."""
    numbers = "WITH RECURSIVE many(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < ?)"
    with program.database.engines.writer.begin() as connection:
        for table in schema.metadata.sorted_tables:
            if table.name != "am_task" and "task_id" not in table.c:
                continue
            key = "id" if table.name == "am_task" else "task_id"
            names = [c.name for c in table.columns if (table.name, c.name) != ("am_event", "id")]
            copied = ", ".join(_copied(name, projects) for name in names)
            quoted = ", ".join(f'"{name}"' for name in names)
            connection.exec_driver_sql(
                f"INSERT INTO {table.name} ({quoted}) {numbers} "
                f"SELECT {copied} FROM many, {table.name} WHERE {key} = ?",
                (number, task_id),
            )


def _copied(name: str, projects: list[str]) -> str:
    if name in ("id", "task_id", "run_id", "history_id", "effect_id"):
        return f"\"{name}\" || printf('.%06d', n)"
    if name == "project_id":
        chosen = " ".join(f"WHEN {i} THEN '{p}'" for i, p in enumerate(projects))
        return f"CASE n % {len(projects)} {chosen} END"
    if name == "title":
        return "\"title\" || ' no. ' || (n * 7919 % 100003)"
    if name in ("created_at", "updated_at"):
        # Fixed width, as the store writes it; one task every few seconds.
        day = "strftime('%Y-%m-%dT%H:%M:%S', '2020-01-01', (n * 7) || ' seconds')"
        return f"{day} || '.000000+00:00'"
    return f'"{name}"'
