"""Many tasks: two are walked by the engine's own functions, one to its end and one to a question,
and the database is filled with copies of them and of all that belongs to them. One is made every
quarter of an hour, however many there are, so that a larger database goes back further."""

from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import Connection, Table

from agents_manager import bootstrap
from agents_manager.api import auth
from agents_manager.bootstrap import Program
from agents_manager.domain import event
from agents_manager.domain.ids import ProjectId, TaskId
from agents_manager.domain.run import Run
from agents_manager.domain.task import LOCAL, Project, PullRequest, PullState
from agents_manager.flow import prompts, tasks
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import close
from agents_manager.flow.runs.verdict import Verdict
from agents_manager.settings import Settings
from agents_manager.store import schema
from agents_manager.store.columns import UtcTime
from bench import programs
from bench.places import ANN, ANSWER, QUESTION, git, place
from bench.programs import Server
from bench.world import observed

PROJECTS = 5
MINUTES = 15
"""Between two tasks."""
BLOCK = 1_000
"""Tasks that are copied in one transaction, their events mixed as they are in life."""


@dataclass(frozen=True)
class Place:
    program: Program
    token: str
    project: ProjectId
    task: TaskId
    """One that waits for an answer."""
    middle: TaskId
    """One that is deep in the list, and finished."""


@dataclass(frozen=True)
class Served(Place):
    server: Server
    api: httpx.AsyncClient


@asynccontextmanager
async def filled(
    finished: int, waiting: int, *, events: int = 0, url: str | None = None
) -> AsyncIterator[Place]:
    """With so many events a task, where those of its walk are not more; on SQLite, or at `url`."""
    with place() as (settings, repo):
        async with bootstrap.client(Settings(settings.home, url)) as program:
            s = program.services
            project = await tasks.add_project(s, repo, None, None)
            done, asking = await _walked(s, project, "done"), await _walked(s, project)
            await s.store.write(lambda tx: _told_people(tx, s))
            await s.store.write(lambda tx: _merged(tx, s, done))
            for task in (done, asking):
                await s.store.write(lambda tx, task=task: _talkative(tx, s, task, events))
            projects = await s.store.write(lambda tx: _projects(tx, project))
            _copies(program, done, finished - 1, projects)
            _copies(program, asking, waiting - 1, projects)
            if url is not None:  # As Postgres does by itself in the course of years.
                with program.database.engines.writer.begin() as connection:
                    connection.exec_driver_sql("ANALYZE")
            token = await auth.ensure_owner_token(program, "ann")
            middle = TaskId(f"{done}.{(finished + waiting) // 2:06}")
            yield Place(program, token, project.id, asking, middle)
            observed.levels_on(program)


@asynccontextmanager
async def served(where: Place) -> AsyncIterator[Served]:
    """With `am serve` on the database, and a client that keeps its connection."""
    settings = where.program.settings
    with programs.serve(settings.home, settings.database_url) as server:
        async with httpx.AsyncClient(
            base_url=server.address,
            headers={"Authorization": f"Bearer {where.token}"},
            timeout=60,
            trust_env=False,
        ) as api:
            yield Served(**vars(where), server=server, api=api)


# ------------------------------------------------------------------------------ what is copied


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
    await _close(s, run, nothing)
    await tasks.move(s, task.id, ANN, to=to)
    return task.id


async def _ask(s: Services, task_id: TaskId) -> None:
    (run,) = await s.store.read(lambda tx: tx.runs.live(task_id))
    await _close(s, run, Verdict(outcome="needs_info", payload=QUESTION, inferred=False))


async def _close(s: Services, run: Run, verdict: Verdict) -> None:
    here = s.here
    if here is not None:  # Where there may be several machines, only that of a run ends it.
        await s.store.write(lambda tx: tx.effects.update(run.effect_id, host=here.host))
    await close.close(run.id, verdict, s)


def _told_people(tx: Tx, s: Services) -> None:
    """A server that is started on the copies has no thousands of notices to send."""
    for effect in tx.effects.open():
        tx.effects.update(effect.id, status="done", finished_at=s.clock.now())


def _merged(tx: Tx, s: Services, task_id: TaskId) -> None:
    """For the figures: its runs had begun and cost something, and its work was merged."""
    now, task = s.clock.now(), tx.tasks.get(task_id)
    for run in tx.runs.of_task(task_id):
        began = run.created_at - timedelta(minutes=5)
        tx.runs.update(run.id, agent="scripted", model="m", started_at=began, cost_usd=0.25)
    pull = PullRequest(
        id=f"pull-{task_id}",
        project_id=task.project_id,
        task_id=task_id,
        number=1,
        title=task.title,
        body="",
        head_branch="task",
        base_branch="main",
        head_sha="0" * 40,
        state=PullState.MERGED,
        merge_sha="0" * 40,
        created_at=now,
        updated_at=now,
        forge=LOCAL,
    )
    tx.pulls.add(pull)


def _talkative(tx: Tx, s: Services, task_id: TaskId, events: int) -> None:
    run = tx.runs.of_task(task_id)[0]
    known = len(tx.events.of_task(task_id, after_seq=0, limit=events))
    for _ in range(events - known):
        told = event.ChecksPassed(run=run.id, checks=("lint", "types", "tests"))
        tx.events.add(task_id, told, ANN, s.clock.now())


def _projects(tx: Tx, first: Project) -> list[str]:
    others = [
        replace(first, id=ProjectId(f"{first.id}.{n}"), name=f"p{n}", path=f"{first.path}.{n}")
        for n in range(1, PROJECTS)
    ]
    for project in others:
        tx.projects.add(project)
        # What a server looks at now and then has to be there.
        Path(project.path).mkdir()
        git(Path(project.path), "init", "--quiet")
    return [first.id, *(p.id for p in others)]


# ------------------------------------------------------------------------------ the copies


def _copies(program: Program, task_id: TaskId, number: int, projects: list[str]) -> None:
    """The task again and again, with everything that belongs to it, by one statement a table."""
    for first in range(1, number + 1, BLOCK):
        last = min(first + BLOCK - 1, number)
        with _hurried(program) as connection:
            for table in schema.metadata.sorted_tables:
                if table.name == "am_task" or "task_id" in table.c:
                    _copy(connection, table, task_id, (first, last, number), projects)


@contextmanager
def _hurried(program: Program) -> Generator[Connection]:
    """A transaction of the writer. SQLite checks no references meanwhile, which copies keep, and
    has room for all places of an index that a block is written to."""
    engine = program.database.engines.writer
    sqlite = engine.dialect.name == "sqlite"
    with engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
        if sqlite:
            driver.execute("PRAGMA foreign_keys=OFF")
            driver.execute("PRAGMA cache_size=-262144")
        with connection.begin():
            yield connection
        if sqlite:
            driver.execute("PRAGMA foreign_keys=ON")
            driver.execute("PRAGMA cache_size=-2000")


def _copy(
    connection: Connection,
    table: Table,
    task_id: TaskId,
    which: tuple[int, int, int],
    projects: list[str],
) -> None:
    first, last, number = which
    sqlite = connection.dialect.name == "sqlite"
    numbers = f"many(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM many WHERE n < {last})"
    columns = [c for c in table.columns if (table.name, c.name) != ("am_event", "id")]
    names = ", ".join(f'"{column.name}"' for column in columns)
    copied: list[str] = []
    for column in columns:
        if isinstance(column.type, UtcTime):
            back = f"({number} + 1 - n) * {MINUTES}"
            copied.append(_earlier(column.name, back, sqlite=sqlite))
        else:
            copied.append(_copied(column.name, projects, sqlite=sqlite))
    key = "id" if table.name == "am_task" else "task_id"
    # In SQLite the order of the tables is kept by CROSS JOIN: one row after another of the walk.
    statement = (
        f"WITH RECURSIVE {numbers} INSERT INTO {table.name} ({names}) SELECT {', '.join(copied)} "
        f"FROM {table.name} CROSS JOIN many WHERE {key} = '{task_id}'"
    )
    connection.exec_driver_sql(statement if sqlite else statement.replace("%", "%%"))


def _copied(name: str, projects: list[str], *, sqlite: bool) -> str:
    if name in ("id", "task_id", "run_id", "history_id", "effect_id"):
        counted = "printf('%06d', n)" if sqlite else "lpad(n::text, 6, '0')"
        return f"\"{name}\" || '.' || {counted}"
    if name == "project_id":
        chosen = " ".join(f"WHEN {i} THEN '{p}'" for i, p in enumerate(projects))
        return f"CASE n % {len(projects)} {chosen} END"
    if name == "title":
        return "\"title\" || ' no. ' || (n * 7919 % 100003)"
    # Those of pull requests are given once in a project.
    return "number + n" if name == "number" else f'"{name}"'


def _earlier(name: str, minutes: str, *, sqlite: bool) -> str:
    if not sqlite:
        return f"\"{name}\" - ({minutes}) * interval '1 minute'"
    # Of fixed width, as the store writes it.
    moved = f"strftime('%Y-%m-%dT%H:%M:%f', \"{name}\", '-' || ({minutes}) || ' minutes')"
    return f"{moved} || '000+00:00'"
