"""How many transitions a second are decided and written? Beside bare SQLite writing the same rows.

Both files have our schema, our settings and the same library. The other side knows beforehand what
to write: one SELECT, the UPDATE that compares and swaps, then the rows, then COMMIT. What lies
between the two is the price of guards, history, types and one schema for two databases.
"""

import asyncio
import statistics
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_manager import bootstrap
from agents_manager.domain.task import Project, Task
from agents_manager.flow import tasks
from agents_manager.flow.ports import Services
from agents_manager.store import library
from bench.places import ANN, place
from bench.rows import Row

BATCHES = 30
MOVES = 15

MOVE = "UPDATE am_task SET status=?, version=?, updated_at=? WHERE id=? AND version=?"


def run() -> list[Row]:
    return asyncio.run(_run())


async def _run() -> list[Row]:
    ours: list[float] = []
    theirs: list[float] = []
    with place() as (settings, repo):
        async with bootstrap.client(settings) as program:
            s = program.services
            project = await tasks.add_project(s, repo, None, None)
            batches = [await _tasks(s, project, MOVES) for _ in range(BATCHES + 1)]
            with closing(_copy(settings.database, settings.home / "raw.db")) as copy:
                for batch in batches:
                    ours.append(await _move(s, batch))
                    theirs.append(_replay(copy, _written(settings.database, batch)))
    # The first batch warms up; the median passes over those that something else disturbed.
    own, other = statistics.median(ours[1:]), statistics.median(theirs[1:])
    return [
        Row(
            name="function: transitions with an effect each",
            ours=f"{MOVES / own:,.0f} /s",
            beside=f"{MOVES / other:,.0f} /s (bare SQLite)",
            ratio=other / own,
        )
    ]


async def _tasks(s: Services, project: Project, number: int) -> list[Task]:
    new = tasks.NewTask(title="Add auth", pipeline="simple")
    return [await tasks.create(s, project, new, ANN) for _ in range(number)]


async def _move(s: Services, open_tasks: Sequence[Task]) -> float:
    begun = time.perf_counter()
    for task in open_tasks:
        await tasks.move(s, task.id, ANN)
    return time.perf_counter() - begun


@dataclass(frozen=True, slots=True)
class Written:
    """What one transition left in the database."""

    task_id: str
    task: Sequence[Any]
    rows: Sequence[tuple[str, Sequence[Any]]]


def _copy(database: str | Path, to: Path) -> Any:
    """A connection, as our own writer has one, to a copy of the file."""
    with closing(library.sqlite().connect(database)) as connection:
        connection.execute("VACUUM INTO ?", (str(to),))
    copy = library.sqlite().connect(to, isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        copy.execute(f"PRAGMA {pragma}")
    return copy


def _written(database: str | Path, moved: Sequence[Task]) -> list[Written]:
    found: list[Written] = []
    with closing(library.sqlite().connect(database)) as connection:
        for task in moved:
            after = "SELECT status, version, updated_at FROM am_task WHERE id=?"
            [state] = connection.execute(after, (task.id,))
            rows: list[tuple[str, Sequence[Any]]] = []
            for table, which in (
                ("am_history", "1"),
                ("am_event", "seq > 1"),
                ("am_run", "1"),
                ("am_effect", "1"),
            ):
                cursor = connection.execute(
                    f"SELECT * FROM {table} WHERE task_id=? AND {which}", (task.id,)
                )
                marks = ", ".join("?" for _ in cursor.description)
                rows += [(f"INSERT INTO {table} VALUES ({marks})", row) for row in cursor]
            found.append(Written(task.id, state, rows))
    return found


def _replay(connection: Any, written: Sequence[Written]) -> float:
    begun = time.perf_counter()
    for one in written:
        connection.execute("BEGIN IMMEDIATE")
        [task] = connection.execute("SELECT * FROM am_task WHERE id=?", (one.task_id,))
        assert task[0] == one.task_id
        moved = connection.execute(MOVE, (*one.task, one.task_id, one.task[1] - 1))
        assert moved.rowcount == 1
        for statement, row in one.rows:
            connection.execute(statement, row)
        connection.execute("COMMIT")
    return time.perf_counter() - begun
