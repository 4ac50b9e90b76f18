"""Tasks that begin later, and schedules, on both databases: each period is had once, whatever the
clock does and whoever looks."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.schedule import Came, Schedule, ScheduleState, WhenOpen
from agents_manager.domain.task import Task
from agents_manager.errors import Conflict, InvalidInput, NotFound, TransitionRefused
from agents_manager.flow import audit, firing, later, removal, schedules, tasks, views
from agents_manager.flow.schedules import NewSchedule
from agents_manager.flow.tasks import NewTask
from tests.api.scenes import ANN
from tests.asking import Clock, Table, seated
from tests.repos import make_repo

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
"""A Monday; the clock of the tests begins three hours later."""
DAY = timedelta(days=1)


@pytest.fixture
async def table(tmp_path: Path, repo: Path, used_address: str) -> AsyncIterator[Table]:
    async with seated(tmp_path / "home", repo, used_address, Clock()) as table:
        yield table


async def added(table: Table, **given: Any) -> Schedule:
    words = {"title": "Tidy up {date}", "pipeline": "simple", **given.pop("task", {})}
    fields = {"name": "Tidy", "rule": "every day at 09:00", "zone": "UTC", **given}
    new = NewSchedule(task=NewTask(**words), **fields)
    return await schedules.add(table.s, table.project, new, ANN)


async def made(table: Table) -> list[Task]:
    """Tasks in the order in which they were made."""
    page = await table.s.store.read(
        lambda tx: tx.tasks.page(project=None, status=None, after=None, limit=50)
    )
    return page[::-1]


async def titles(table: Table) -> list[str]:
    return [task.title for task in await made(table)]


async def now(table: Table, schedule: Schedule) -> Schedule:
    return await table.s.store.read(lambda tx: tx.schedules.get(schedule.id))


async def ended(table: Table, task: Task) -> None:
    await tasks.move(table.s, task.id, ANN, to="cancelled")


# --------------------------------------------------------------------------- tasks that begin later


async def test_a_task_is_started_at_its_time_and_once(table: Table) -> None:
    at = table.clock.now() + timedelta(hours=1)
    new = NewTask(title="Later", pipeline="simple", starts_at=at)
    task = await tasks.create(table.s, table.project, new, ANN)
    view = await table.s.store.read(lambda tx: views.task(tx, table.s, task.id, ANN))
    assert (view.next_mover.kind, task.starts_at) == ("timer", at)
    assert "It starts at 2026-03-02 13:00:00 UTC." in view.why
    await later.fire(table.s)
    assert (await table.now(task.id)).status == "open"
    table.clock.turn(hours=1)
    async with asyncio.TaskGroup() as at_once:
        for _ in range(2):
            at_once.create_task(later.fire(table.s))
    started = await table.now(task.id)
    assert (started.status, started.starts_at) == ("in_progress", None)
    table.clock.turn(hours=-5)
    await later.fire(table.s)
    table.clock.turn(hours=50)
    await later.fire(table.s)
    assert (await table.types(task.id)).count("agent.queued") == 1
    entries = await table.s.store.read(lambda tx: tx.history.of_task(task.id))
    assert [(e.actor.name, e.reason) for e in entries] == [("engine", "its time to start had come")]


async def test_a_time_is_changed_taken_back_and_ends_with_a_move(table: Table) -> None:
    hour = timedelta(hours=1)
    at = table.clock.now() + hour
    task = await tasks.create(table.s, table.project, NewTask(title="A", pipeline="simple"), ANN)
    assert (await later.set_time(table.s, task.id, at, ANN)).starts_at == at
    again = await later.set_time(table.s, task.id, at + hour, ANN)
    assert (again.starts_at, again.version) == (at + hour, 3)
    table.clock.turn(hours=1)
    await later.fire(table.s)
    assert (await table.now(task.id)).status == "open"
    assert (await later.set_time(table.s, task.id, None, ANN)).starts_at is None
    table.clock.turn(hours=5)
    await later.fire(table.s)
    assert (await table.now(task.id)).status == "open"
    await later.set_time(table.s, task.id, table.clock.now() + hour, ANN)
    await tasks.move(table.s, task.id, ANN)
    assert (await table.now(task.id)).starts_at is None
    told = [t for t in await table.types(task.id) if t == "task.start_set"]
    assert len(told) == 4
    with pytest.raises(TransitionRefused):
        await later.set_time(table.s, task.id, table.clock.now() + hour, ANN)


async def test_a_time_that_is_over_is_refused(table: Table) -> None:
    new = NewTask(title="A", pipeline="simple", starts_at=table.clock.now())
    with pytest.raises(InvalidInput, match=r"2026-03-02 12:00 UTC is over"):
        await tasks.create(table.s, table.project, new, ANN)
    assert await made(table) == []


async def test_what_waits_for_others_is_started_once_they_are_done(table: Table) -> None:
    first = await tasks.create(table.s, table.project, NewTask(title="A", pipeline="simple"), ANN)
    at = table.clock.now() + timedelta(hours=1)
    new = NewTask(title="B", pipeline="simple", dependencies=[first.id], starts_at=at)
    second = await tasks.create(table.s, table.project, new, ANN)
    table.clock.turn(hours=2)
    await later.fire(table.s)
    view = await table.s.store.read(lambda tx: views.task(tx, table.s, second.id, ANN))
    assert (view.task.status, view.next_mover.kind) == ("open", "dependency")
    await tasks.move(table.s, first.id, ANN)
    await table.finish(first)
    await later.fire(table.s)
    assert (await table.now(second.id)).status == "in_progress"


async def test_what_cannot_be_started_is_told_once(table: Table) -> None:
    at = table.clock.now() + timedelta(hours=1)
    task = await tasks.create(table.s, table.project, NewTask(title="A", pipeline="simple"), ANN)
    await tasks.move(table.s, task.id, ANN, to="cancelled")
    await table.s.store.write(lambda tx: tx.tasks.update(task.id, table.clock.now(), starts_at=at))
    table.clock.turn(hours=2)
    await later.fire(table.s)
    await later.fire(table.s)
    assert (await table.types(task.id)).count("task.not_started") == 1
    told = [e.payload["title"] for e in await table.effects(task.id)]
    assert "Could not be started: A" in told


# --------------------------------------------------------------------------------------- schedules


async def test_a_schedule_makes_a_task_for_each_period(table: Table) -> None:
    schedule = await added(table)
    assert schedule.next_at == NINE + DAY
    await firing.fire(table.s)
    assert await titles(table) == []
    for day in range(3):
        table.clock.time = NINE + (day + 1) * DAY
        await firing.fire(table.s)
        await firing.fire(table.s)
        [*_, task] = await made(table)
        assert (task.status, task.starts_at) == ("open", None)
        await ended(table, task)
    assert await titles(table) == [f"Tidy up 2026-03-0{day}" for day in (3, 4, 5)]
    after = await now(table, schedule)
    assert (after.fired, after.next_at) == (3, NINE + 4 * DAY)
    [first, *_] = await made(table)
    [creation, *_] = await table.s.store.read(
        lambda tx: tx.events.of_task(first.id, after_seq=0, limit=5)
    )
    assert creation.actor.name == 'schedule "Tidy"'


async def test_tasks_are_started_only_where_that_was_said(table: Table) -> None:
    await added(table, start=True)
    table.clock.time = NINE + DAY
    await firing.fire(table.s)
    await later.fire(table.s)
    [task] = await made(table)
    assert task.status == "in_progress"


async def test_a_period_is_skipped_while_the_last_task_is_open(table: Table) -> None:
    schedule = await added(table)
    for day in (1, 2, 3):
        table.clock.time = NINE + day * DAY
        await firing.fire(table.s)
    [task] = await made(table)
    assert (await table.types(task.id)).count("schedule.skipped") == 2
    view = await table.s.store.read(lambda tx: schedules.view(tx, table.s, "Tidy"))
    assert [f.came for f in view.firings] == [Came.SKIPPED, Came.SKIPPED, Came.CREATED]
    assert view.schedule.fired == 1
    await schedules.edit(table.s, schedule.id, {"when_open": WhenOpen.QUEUE}, ANN)
    table.clock.time = NINE + 4 * DAY
    await firing.fire(table.s)
    assert len(await made(table)) == 2


async def test_what_was_missed_is_made_up_for_once(table: Table) -> None:
    schedule = await added(table, rule="0 * * * *", when_open=WhenOpen.QUEUE)
    table.clock.turn(days=30, minutes=20)
    await firing.fire(table.s)
    await firing.fire(table.s)
    assert await titles(table) == ["Tidy up 2026-04-01"]
    [one] = await table.s.store.read(lambda tx: tx.schedules.firings(schedule.id, 9))
    assert one.period == datetime(2026, 4, 1, 12, tzinfo=UTC)
    assert (await now(table, schedule)).next_at == datetime(2026, 4, 1, 13, tzinfo=UTC)


async def test_a_clock_that_is_put_back_brings_no_period_twice(table: Table) -> None:
    schedule = await added(table, when_open=WhenOpen.QUEUE)
    table.clock.time = NINE + DAY
    await firing.fire(table.s)
    table.clock.turn(hours=-1)
    assert await firing.mend(table.s) == []
    for _ in range(3):
        table.clock.turn(minutes=40)
        await firing.fire(table.s)
    assert len(await made(table)) == 1
    assert (await now(table, schedule)).next_at == NINE + 2 * DAY


async def test_a_clock_that_was_years_ahead_does_not_end_the_schedule(table: Table) -> None:
    schedule = await added(table, when_open=WhenOpen.QUEUE)
    table.clock.turn(days=3650)
    await firing.fire(table.s)
    table.clock.turn(days=-3650)
    assert await firing.mend(table.s) == [schedule.id]
    assert (await now(table, schedule)).next_at == NINE + DAY
    table.clock.time = NINE + DAY
    await firing.fire(table.s)
    assert await titles(table) == ["Tidy up 2026-03-03", "Tidy up 2036-02-28"]
    table.clock.time = datetime(2036, 2, 28, 12, tzinfo=UTC)
    await firing.fire(table.s)
    assert len(await made(table)) == 2


async def test_several_machines_have_a_period_once(
    tmp_path: Path, repo: Path, used_address: str
) -> None:
    """Each with its own connection to the database; a second look comes right behind the first."""
    clock = Clock()
    async with (
        seated(tmp_path / "home", repo, used_address, clock) as one,
        seated(tmp_path / "home", repo, used_address, clock) as two,
    ):
        await added(one, when_open=WhenOpen.QUEUE, start=True)
        for day in (1, 2, 3):
            clock.time = NINE + day * DAY
            async with asyncio.TaskGroup() as at_once:
                for table in (one, two, one, two):
                    at_once.create_task(firing.fire(table.s))
            async with asyncio.TaskGroup() as at_once:
                for table in (one, two):
                    at_once.create_task(later.fire(table.s))
        assert await titles(one) == [f"Tidy up 2026-03-0{day}" for day in (3, 4, 5)]
        for task in await made(one):
            assert (await one.types(task.id)).count("agent.queued") == 1


async def test_it_goes_by_the_clock_on_the_wall(table: Table) -> None:
    schedule = await added(table, zone="Europe/Berlin", when_open=WhenOpen.QUEUE)
    assert schedule.next_at == datetime(2026, 3, 3, 8, tzinfo=UTC)
    view = await table.s.store.read(lambda tx: schedules.view(tx, table.s, schedule.id))
    assert len(view.next) == 5
    table.clock.time = datetime(2026, 3, 28, 12, tzinfo=UTC)
    await firing.fire(table.s)
    assert (await now(table, schedule)).next_at == datetime(2026, 3, 29, 7, tzinfo=UTC)


# --------------------------------------------------------------------------------- what people do


async def test_a_pause_is_not_made_up_for(table: Table) -> None:
    schedule = await added(table)
    paused = await schedules.pause(table.s, "Tidy", ANN)
    assert (paused.state, paused.next_at) == (ScheduleState.PAUSED, None)
    with pytest.raises(Conflict, match="is paused; nothing is to pause"):
        await schedules.pause(table.s, schedule.id, ANN)
    table.clock.turn(days=5)
    await firing.fire(table.s)
    resumed = await schedules.resume(table.s, schedule.id, ANN)
    await firing.fire(table.s)
    assert (resumed.next_at, await titles(table)) == (NINE + 6 * DAY, [])
    with pytest.raises(Conflict, match="is active; nothing is to resume"):
        await schedules.resume(table.s, schedule.id, ANN)


async def test_it_ends_by_a_number_or_a_date(table: Table) -> None:
    counted = await added(table, name="Twice", most=2, when_open=WhenOpen.QUEUE)
    dated = await added(
        table, name="Until", until=NINE + 2 * DAY + DAY / 2, when_open=WhenOpen.QUEUE
    )
    assert counted.next_at == NINE + DAY
    for day in range(1, 5):
        table.clock.time = NINE + day * DAY
        await firing.fire(table.s)
    assert len(await made(table)) == 4
    for one in (counted, dated):
        after = await now(table, one)
        assert (after.state, after.next_at, after.fired) == (ScheduleState.ENDED, None, 2)
    again = await schedules.edit(table.s, counted.id, {"most": 3}, ANN)
    assert (again.state, again.next_at) == (ScheduleState.ACTIVE, NINE + 5 * DAY)
    with pytest.raises(InvalidInput, match="would have no time left"):
        await schedules.edit(table.s, counted.id, {"most": 2}, ANN)


async def test_a_task_out_of_turn_changes_no_period(table: Table) -> None:
    schedule = await added(table, start=True)
    task = await schedules.run_now(table.s, schedule.id, ANN)
    await later.fire(table.s)
    assert (await table.now(task.id)).status == "in_progress"
    after = await now(table, schedule)
    assert (after.next_at, after.fired, after.last_task_id) == (NINE + DAY, 0, task.id)
    [one] = await table.s.store.read(lambda tx: tx.schedules.firings(schedule.id, 9))
    assert one.by == "ann"


async def test_what_is_wrong_with_one_is_said(table: Table) -> None:
    for wrong, why in (
        ({"rule": "0 9 31 2 *"}, "a day that never comes"),
        ({"rule": "* * * * *"}, "more often than every 15 minutes"),
        ({"rule": "every \ud800 day"}, "cannot be read"),
        ({"zone": "Mars/Olympus"}, "no time zone"),
        ({"until": NINE}, "is over"),
        ({"until": NINE + DAY / 2}, "would have no time left"),
        ({"most": 0}, "one task or more"),
        ({"name": " "}, "a line of 1 to 100"),
        ({"task": {"title": ""}}, "No task can be made"),
        ({"task": {"priority": "blue"}}, "No task can be made"),
    ):
        with pytest.raises(InvalidInput, match=why):
            await added(table, **wrong)
    with pytest.raises(NotFound, match="nowhere"):
        await added(table, task={"pipeline": "nowhere"})
    schedule = await added(table)
    with pytest.raises(Conflict, match='has a schedule "Tidy" already'):
        await added(table)
    with pytest.raises(InvalidInput, match="Nothing was given"):
        await schedules.edit(table.s, schedule.id, {}, ANN)
    with pytest.raises(InvalidInput, match="cannot be changed like this"):
        await schedules.edit(table.s, schedule.id, {"rules": "x"}, ANN)
    await schedules.remove(table.s, "Tidy", ANN)
    with pytest.raises(NotFound):
        await schedules.pause(table.s, "Tidy", ANN)


async def test_what_is_changed_counts_from_now_on(table: Table) -> None:
    schedule = await added(table)
    changes = {"rule": "weekdays at 18:00", "name": "Evening", "task": {"title": "Look"}}
    edited = await schedules.edit(table.s, schedule.id, changes, ANN)
    assert (edited.name, edited.next_at) == ("Evening", NINE + timedelta(hours=9))
    table.clock.time = NINE + DAY
    await firing.fire(table.s)
    assert await titles(table) == ["Look"]
    deeds = await table.s.store.read(lambda tx: audit.page(tx, what="schedule", limit=9))
    assert [d.what for d in deeds] == ["schedule.edited", "schedule.added"]
    assert deeds[0].summary == 'changed rule, name, task of schedule "Tidy" of project "a repo"'


# ------------------------------------------------------------------------------ what cannot go on


async def test_a_schedule_of_a_project_that_is_gone_waits_for_another(
    table: Table, tmp_path: Path
) -> None:
    schedule = await added(table)
    await removal.remove_project(table.s, table.project.id, ANN)
    halted = await now(table, schedule)
    assert (halted.state, halted.next_at) == (ScheduleState.HALTED, None)
    assert halted.reason == 'Project "a repo" was removed.'
    table.clock.turn(days=3)
    await firing.fire(table.s)
    with pytest.raises(NotFound):
        await schedules.resume(table.s, schedule.id, ANN)
    other = await tasks.add_project(table.s, make_repo(tmp_path / "other"), None, None)
    await schedules.edit(table.s, schedule.id, {"project": "other"}, ANN)
    resumed = await schedules.resume(table.s, schedule.id, ANN)
    assert (resumed.state, resumed.project_id) == (ScheduleState.ACTIVE, other.id)
    table.clock.turn(days=1)
    await firing.fire(table.s)
    assert len(await made(table)) == 1


async def test_a_schedule_of_an_earlier_version_makes_tasks_of_the_default_agent(
    table: Table,
) -> None:
    schedule = await added(table)
    earlier = {n: v for n, v in schedule.template.items() if n not in ("agent", "model")}
    await table.s.store.write(
        lambda tx: tx.schedules.update(schedule.id, table.clock.now(), template=earlier)
    )
    table.clock.turn(days=1)
    await firing.fire(table.s)
    assert [(task.agent, task.model) for task in await made(table)] == [(None, None)]


async def test_a_pipeline_that_is_gone_halts_it_and_people_are_told(table: Table) -> None:
    task = await tasks.create(table.s, table.project, NewTask(title="A", pipeline="simple"), ANN)
    schedule = await added(table)
    template = {**schedule.template, "pipeline": "gone"}
    await table.s.store.write(
        lambda tx: tx.schedules.update(schedule.id, table.clock.now(), template=template)
    )
    table.clock.turn(days=1)
    await firing.fire(table.s)
    await firing.fire(table.s)
    halted = await now(table, schedule)
    assert halted.state is ScheduleState.HALTED
    assert 'There is no pipeline "gone"' in str(halted.reason)
    assert (await table.types(task.id)).count("schedule.halted") == 1
    assert [e.payload["title"] for e in await table.effects(task.id)] == [
        'Schedule "Tidy" is halted'
    ]
    await schedules.edit(table.s, schedule.id, {"task": {"pipeline": "simple"}}, ANN)
    assert (await now(table, schedule)).state is ScheduleState.HALTED
    assert (await schedules.resume(table.s, schedule.id, ANN)).reason is None
