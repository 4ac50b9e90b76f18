"""Tasks that are started while their dependencies are open, on both databases."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.task import Task
from agents_manager.errors import StaleTask, TransitionRefused
from agents_manager.flow import board, edits, later, removal, tasks, views
from agents_manager.flow.views import TaskView
from tests.api.scenes import ANN
from tests.asking import Clock, Table, seated


@pytest.fixture
async def table(tmp_path: Path, repo: Path, used_address: str) -> AsyncIterator[Table]:
    async with seated(tmp_path / "home", repo, used_address, Clock()) as table:
        yield table


async def made(table: Table, title: str, *after: Task, **fields: Any) -> Task:
    dependencies = [one.id for one in after]
    return await table.task(title, pipeline="simple", dependencies=dependencies, **fields)


async def waiting(table: Table, title: str, *after: Task) -> Task:
    task = await made(table, title, *after)
    started = await later.start(table.s, task.id, ANN)
    assert isinstance(started, later.Waiting)
    return started.task


async def seen(table: Table, task: Task) -> TaskView:
    return await table.s.store.read(lambda tx: views.task(tx, table.s, task.id, ANN))


async def test_a_start_waits_for_the_dependencies_and_is_made_once(table: Table) -> None:
    first, second = await made(table, "First"), await made(table, "Second")
    task = await waiting(table, "Third", first, second)
    sentence = (
        'It starts when "First" (Open, not started) and "Second" (Open, not started) are finished.'
    )
    view = await seen(table, task)
    assert (view.task.status, view.next_mover.kind) == ("open", "dependency")
    assert view.next_mover.text == sentence
    assert sentence in view.why
    assert (await table.types(task.id))[-1] == "task.start_waits"
    await tasks.move(table.s, first.id, ANN)
    await table.finish(first)
    await later.fire(table.s)
    assert (await table.now(task.id)).status == "open"
    assert '"First"' not in (await seen(table, task)).next_mover.text
    await tasks.move(table.s, second.id, ANN)
    await table.finish(second)
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(later.fire(table.s))
    started = await table.now(task.id)
    assert (started.status, started.starts_at) == ("in_progress", None)
    assert (await table.types(task.id)).count("agent.queued") == 1


async def test_starting_again_and_cancelling_a_start_that_waits(table: Table) -> None:
    first = await made(table, "First")
    task = await waiting(table, "Second", first)
    again = await later.start(table.s, task.id, ANN)
    assert isinstance(again, later.Waiting)
    assert again.task.version == task.version
    assert (await table.types(task.id)).count("task.start_waits") == 1
    with pytest.raises(StaleTask):
        await later.start(table.s, task.id, ANN, expect_version=task.version - 1)
    await later.set_time(table.s, task.id, None, ANN)
    await tasks.move(table.s, first.id, ANN)
    await table.finish(first)
    await later.fire(table.s)
    assert (await table.now(task.id)).status == "open"


async def test_a_start_at_a_time_waits_for_the_dependencies_too(table: Table) -> None:
    first = await made(table, "First")
    task = await made(table, "Second", first)
    at = table.clock.now() + timedelta(hours=1)
    await later.set_time(table.s, task.id, at, ANN)
    view = await seen(table, task)
    assert view.next_mover.kind == "timer"
    assert "13:00:00 UTC or later: It starts when" in view.next_mover.text
    await tasks.move(table.s, first.id, ANN)
    await table.finish(first)
    await later.fire(table.s)
    assert (await table.now(task.id)).status == "open"
    table.clock.turn(hours=1)
    await later.fire(table.s)
    assert (await table.now(task.id)).status == "in_progress"


async def test_a_cancelled_dependency_ends_the_wait_and_is_reported(table: Table) -> None:
    first, second = await made(table, "First"), await made(table, "Second")
    task = await waiting(table, "Third", first, second)
    await tasks.move(table.s, first.id, ANN, to="cancelled")
    await later.fire(table.s)
    await later.fire(table.s)
    assert (await table.now(task.id)).starts_at is None
    assert (await table.types(task.id)).count("task.not_started") == 1
    notices = [e.payload for e in await table.effects(task.id)]
    assert [n["title"] for n in notices] == ["Could not be started: Third"]
    assert '"First" (Cancelled), which was cancelled. Remove the dependency' in notices[0]["body"]
    with pytest.raises(TransitionRefused, match="which was cancelled"):
        await later.start(table.s, task.id, ANN)
    await edits.edit(table.s, task.id, {"dependencies": [second.id]}, ANN)
    assert isinstance(await later.start(table.s, task.id, ANN), later.Waiting)


async def test_a_dependency_that_needs_a_person_is_named(table: Table) -> None:
    asked = await table.asking(pipeline="simple", title="First")
    first = await table.now(asked.task_id)
    task = await waiting(table, "Second", first)
    text = (await seen(table, task)).next_mover.text
    assert text == 'It starts when "First" (Needs info, waits for a person) is finished.'


async def test_removing_a_dependency_releases_the_start(table: Table) -> None:
    first, second = await made(table, "First"), await made(table, "Second")
    one, other = await waiting(table, "A", first), await waiting(table, "B", second)
    await edits.edit(table.s, one.id, {"dependencies": []}, ANN)
    await removal.delete(table.s, second.id, ANN, force=True)
    await later.fire(table.s)
    for task in (one, other):
        assert (await table.now(task.id)).status == "in_progress"


async def test_other_refusals_of_a_start_are_not_waited_for(table: Table) -> None:
    first = await made(table, "First")
    task = await made(table, "Second", first)
    with pytest.raises(TransitionRefused, match="It waits for"):
        await tasks.move(table.s, task.id, ANN, to="in_progress")
    assert (await table.now(task.id)).starts_at is None
    await tasks.move(table.s, task.id, ANN, to="cancelled")
    with pytest.raises(TransitionRefused):
        await later.start(table.s, task.id, ANN)


async def test_the_board_shows_what_a_card_waits_for(table: Table) -> None:
    before = [await made(table, f"Part {number}") for number in range(12)]
    task = await waiting(table, "Whole", *before)
    plain = await made(table, "Alone")

    def read(tx: Any) -> dict[str, Any]:
        found = board.board(tx, table.s, None)
        return {card.id: card for card in found.cards}

    cards = await table.s.store.read(read)
    card, alone = cards[task.id], cards[plain.id]
    assert (card.mover, card.starts_at, card.waits_for_total) == ("dependency", task.starts_at, 12)
    assert {one.id for one in card.waits_for} < {one.id for one in before}
    assert len(card.waits_for) == 10
    assert (alone.mover, alone.starts_at, alone.waits_for) == ("person", None, ())
    for one in before:
        await tasks.move(table.s, one.id, ANN)
        await table.finish(one)
    card = (await table.s.store.read(read))[task.id]
    assert (card.mover, card.waits_for_total) == ("timer", 0)
