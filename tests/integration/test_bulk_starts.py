"""Starting many tasks at once: all of a project, some that are named, and those of an import."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.task import Task
from agents_manager.errors import InvalidInput
from agents_manager.flow import bulk_starts, importing, later, tasks
from agents_manager.flow.bulk_starts import StartState
from agents_manager.flow.importing import Format, Starting
from tests.api.scenes import ANN
from tests.asking import Clock, Table, seated
from tests.repos import make_repo

LIST = """\
title,depends_on,pipeline
Roof,Walls,simple
Walls,Floor,simple
Floor,,simple
"""


@pytest.fixture
async def table(tmp_path: Path, repo: Path, used_address: str) -> AsyncIterator[Table]:
    async with seated(tmp_path / "home", repo, used_address, Clock()) as table:
        yield table


async def made(table: Table, title: str, *after: Task) -> Task:
    return await table.task(title, pipeline="simple", dependencies=[one.id for one in after])


def states(done: list[bulk_starts.StartResult]) -> dict[str, StartState]:
    return {one.task.title: one.state for one in done}


async def imported(table: Table, **given: Any) -> importing.Imported:
    named = {"format": Format.CSV, "source": "house.csv", **given}
    return await importing.import_(table.s, table.project, LIST, ANN, **named)


async def test_all_tasks_that_nobody_started_are_started(table: Table, tmp_path: Path) -> None:
    first = await made(table, "First")
    await made(table, "Second", first)
    gone = await made(table, "Gone")
    await tasks.move(table.s, gone.id, ANN, to="cancelled")
    await made(table, "Stuck", gone)
    planned = await made(table, "Planned")
    hour = timedelta(hours=1)
    await later.set_time(table.s, planned.id, table.clock.now() + hour, ANN)
    await table.running("Begun", pipeline="simple")
    other = await tasks.add_project(table.s, make_repo(tmp_path / "other"), None, None)
    await tasks.create(table.s, other, tasks.NewTask(title="Elsewhere", pipeline="simple"), ANN)
    done = await bulk_starts.start_all(table.s, table.project, ANN)
    assert states(done) == {
        "First": StartState.STARTED,
        "Second": StartState.WAITING,
        "Stuck": StartState.REFUSED,
    }
    (again,) = await bulk_starts.start_all(table.s, table.project, ANN)
    assert 'It depends on "Gone" (Cancelled), which was cancelled.' in again.reason


async def test_named_tasks_are_started_and_a_refusal_stops_none(table: Table) -> None:
    first, gone = await made(table, "First"), await made(table, "Gone")
    await tasks.move(table.s, gone.id, ANN, to="cancelled")
    second = await made(table, "Second", first)
    named = [gone.id, second.id[:12], first.id, first.id]
    done = await bulk_starts.start_many(table.s, named, ANN)
    assert [(one.task.title, one.state) for one in done] == [
        ("Gone", StartState.REFUSED),
        ("Second", StartState.WAITING),
        ("First", StartState.STARTED),
    ]
    assert done[0].reason.startswith('Task "Gone" (cancelled) has no single next move')


async def test_many_tasks_are_started_at_a_time(table: Table) -> None:
    first = await made(table, "First")
    await made(table, "Second", first)
    with pytest.raises(InvalidInput, match="is over"):
        await bulk_starts.start_all(table.s, table.project, ANN, at=table.clock.now())
    at = table.clock.now() + timedelta(hours=1)
    done = await bulk_starts.start_all(table.s, table.project, ANN, at=at)
    assert set(states(done).values()) == {StartState.SCHEDULED}
    await later.fire(table.s)
    assert (await table.now(first.id)).status == "open"
    table.clock.turn(hours=1)
    await later.fire(table.s)
    assert (await table.now(first.id)).status == "in_progress"


async def test_imported_tasks_are_started_in_the_order_of_their_dependencies(table: Table) -> None:
    shown = await imported(table, dry_run=True, starting=Starting())
    assert [item.start for item in shown.items] == [None, None, None]
    done = await imported(table, starting=Starting())
    assert [(item.title, item.start) for item in done.items] == [
        ("Roof", StartState.WAITING),
        ("Walls", StartState.WAITING),
        ("Floor", StartState.STARTED),
    ]
    again = await imported(table, starting=Starting())
    assert [item.start for item in again.items] == [None, None, None]


async def test_an_import_that_cannot_start_at_a_time_makes_nothing(table: Table) -> None:
    with pytest.raises(InvalidInput, match="is over"):
        await imported(table, starting=Starting(table.clock.now()))
    at = table.clock.now() + timedelta(hours=1)
    done = await imported(table, starting=Starting(at))
    assert {(item.state.value, item.start) for item in done.items} == {
        ("made", StartState.SCHEDULED)
    }
