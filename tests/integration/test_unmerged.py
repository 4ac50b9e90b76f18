"""Closing a task as done that has unmerged commits: it is confirmed first, and the tasks that
depend on it keep waiting unless they are released."""

import asyncio
from typing import Any

import pytest

from agents_manager.domain.task import SYSTEM, Task
from agents_manager.errors import UnmergedWork
from agents_manager.flow import blockers, board, later, pipelines, prompts, remedies, tasks
from agents_manager.flow.tasks import Stopping
from agents_manager.flow.unmerged import Consent
from tests.pipeline_desk import shipped
from tests.repos import own_home, run
from tests.worlds import ANN, GREETING, World, repo, world

__all__ = ["own_home", "repo", "world"]

LEAVE = Consent(leave_unmerged=True)
RELEASE = Consent(leave_unmerged=True, release_dependents=True)
COMMITS: list[dict[str, Any]] = [
    {"modify": {"path": "greeting.txt", "append": "hello\n"}},
    {"commit": "Say hello"},
]
FAILS = {"implement": [[*COMMITS, {"crash": 3}]]}


@pytest.fixture
async def failed(world: World) -> Task:
    task = await world.start(FAILS, pipeline="simple")
    await world.until(task, "needs_decision")
    return task


@pytest.fixture
async def dependent(world: World, failed: Task) -> Task:
    """It is to start as soon as the other is finished."""
    task = await world.create(GREETING, title="Next", pipeline="simple", dependencies=[failed.id])
    assert isinstance(await later.start(world.s, task.id, ANN), later.Waiting)
    return task


async def close(world: World, task: Task, consent: Consent) -> None:
    [prompt] = (await world.view(task)).prompts
    await prompts.answer(world.s, prompt.id, {"choice_id": "finish"}, ANN, consent=consent)


async def test_it_is_refused_with_the_commits_and_nothing_moves(
    world: World, failed: Task, dependent: Task
) -> None:
    with pytest.raises(UnmergedWork) as refused:
        await close(world, failed, Consent())
    with pytest.raises(UnmergedWork):
        await tasks.move(world.s, failed.id, ANN, to="done")
    head = run(world.repo, "log", "-1", "--format=%h", "--abbrev=8", "--branches=agent/*")
    assert refused.value.details == (f"{head} Say hello",)
    assert '"Add greeting" has 1 commit that is not merged into main' in refused.value.message
    assert "1 task that depends on it keeps waiting" in refused.value.message
    view = await world.view(failed)
    assert (view.task.status, len(view.prompts)) == ("needs_decision", 1)


async def test_dependents_keep_waiting_until_they_are_released(
    world: World, failed: Task, dependent: Task
) -> None:
    await close(world, failed, LEAVE)
    await world.until(failed, "done")
    assert "task.closed_unmerged" in await world.types(failed)
    await later.fire(world.s)
    view = await world.view(dependent)
    assert (view.task.status, view.next_mover.kind) == ("open", "dependency")
    said = 'It depends on "Add greeting". Closed as done with 1 commit not merged into main'
    assert said in view.why
    assert "am knowledge resolve" in view.why
    shown = await world.s.store.read(lambda tx: board.board(tx, world.s, None))
    assert {card.title: card.mover for card in shown.cards}["Next"] == "dependency"

    [held] = await world.s.store.read(lambda tx: tx.knowledge.blocking(dependent.id))
    await world.s.store.write(lambda tx: blockers.resolve(tx, world.s, held.id, ANN))
    await world.until(dependent, "review")


@pytest.mark.slow
async def test_dependents_start_when_they_are_released_with_it(
    world: World, failed: Task, dependent: Task
) -> None:
    await tasks.move(world.s, failed.id, ANN, to="done", consent=RELEASE)
    await world.until(dependent, "review")


@pytest.mark.slow
async def test_work_that_is_merged_by_hand_is_not_asked_about(world: World, failed: Task) -> None:
    branch = (await world.view(failed)).runs[0].branch
    run(world.repo, "merge", "-q", str(branch))
    await close(world, failed, Consent())
    await world.until(failed, "done")
    assert "task.closed_unmerged" not in await world.types(failed)


@pytest.mark.slow
async def test_cancelling_is_not_asked_about(world: World, failed: Task) -> None:
    await tasks.move(world.s, failed.id, ANN, to="cancelled")


@pytest.mark.slow
async def test_commits_that_cannot_be_read_are_asked_about(world: World, failed: Task) -> None:
    run(world.repo, "branch", "-q", "-m", "main", "trunk")
    with pytest.raises(UnmergedWork) as refused:
        await close(world, failed, Consent())
    assert 'cannot be read: There is no branch "main"' in refused.value.details[0]


async def add_way(world: World) -> None:
    """The pipeline `more` is `simple` with a move by hand from work to its end."""
    simple = shipped()
    way = {"id": "drop", "from": "in_progress", "to": "done", "trigger": {"type": "manual"}}
    rows = [*simple["transitions"], way]
    await pipelines.add(world.s, {**simple, "id": "more", "transitions": rows})


@pytest.mark.slow
async def test_a_move_that_first_stops_the_agent_holds_dependents_too(world: World) -> None:
    await add_way(world)
    task = await world.start({"implement": [[*COMMITS, {"hang": True}]]}, pipeline="more")
    other = await world.create(GREETING, title="Next", pipeline="simple", dependencies=[task.id])
    await later.start(world.s, other.id, ANN)
    async with asyncio.timeout(30):
        while not run(world.repo, "log", "--format=%s", "main..", "--branches=agent/*"):
            await asyncio.sleep(0.1)
    moved = await tasks.move(world.s, task.id, ANN, to="done", stop=True, consent=LEAVE)
    assert isinstance(moved, Stopping)
    await world.until(task, "done")
    assert await world.s.store.read(lambda tx: tx.knowledge.blocking(other.id))


@pytest.mark.slow
async def test_taking_the_move_back_releases_dependents_from_it(
    world: World, failed: Task, dependent: Task
) -> None:
    """As when a hook of the move fails."""
    await close(world, failed, LEAVE)
    view = await world.until(failed, "done")
    last = (await world.history(failed))[-1]
    await world.s.store.write(
        lambda tx: remedies.take_back(tx, world.s, view.task, last, SYSTEM, "A hook failed.")
    )
    assert not await world.s.store.read(lambda tx: tx.knowledge.blocking(dependent.id))
    assert (await world.view(dependent)).next_mover.kind == "dependency"
