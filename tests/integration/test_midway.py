"""What an agent asks in the middle of its run, with an agent that really works beside it."""

import asyncio
from typing import Any

import pytest

from agents_manager.domain.run import Run
from agents_manager.domain.task import Task
from agents_manager.flow.runs import lifecycle, midway, reports
from tests.worlds import World

pytestmark = pytest.mark.slow

COLOUR = {"questions": [{"id": "q1", "question": "Which colour?"}]}
BLUE = {"answers": [{"question_id": "q1", "text": "Blue."}]}
DONE = [{"outcome": {"name": "no_changes", "payload": {"reason": "It is blue."}}}]


async def at_work(world: World, *steps: Any) -> tuple[Task, Run]:
    task = await world.start({"implement": [list(steps), DONE]}, pipeline="simple")
    view = await world.wait(task, lambda v: bool(v.run and v.run.started_at), "at work")
    assert view.run is not None
    directory = lifecycle.job_dir(world.s, view.run.id, 1)
    async with asyncio.timeout(30):
        while await world.s.runners.pulse(directory) is None:
            await asyncio.sleep(0.05)
    return task, view.run


async def test_an_agent_that_was_cut_off_from_its_question_has_paused(world: World) -> None:
    """As it is where the server went while it waited: it ends without an outcome."""
    write = {"write": {"path": "half.txt", "text": "half\n"}}
    task, run = await at_work(world, write, {"sleep": 3}, {"say": "Nobody answers."})
    await world.s.store.write(lambda tx: midway.put(tx, world.s, run.id, COLOUR))
    view = await world.wait(task, lambda v: v.run is None, "paused")
    assert (view.task.status, [r.outcome for r in view.runs]) == ("in_progress", ["needs_info"])
    (prompt,) = view.prompts
    await world.answer(prompt, BLUE)
    view = await world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "ended")
    assert view.runs[1].outcome == "no_changes"
    assert "Answer: Blue." in (view.runs[1].prompt or "")


async def test_an_agent_that_goes_on_though_its_run_pauses_is_ended(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(midway, "GRACE_S", 0)
    task, run = await at_work(world, {"hang": {}})
    directory = lifecycle.job_dir(world.s, run.id, 1)
    async with asyncio.TaskGroup() as group:
        group.create_task(midway.attend(world.s, directory))
        assert await midway.ask(world.s, run.id, directory, 0, COLOUR) == midway.PAUSES
        assert reports.paused(directory)
    view = await world.wait(task, lambda v: v.run is None, "paused")
    assert [r.outcome for r in view.runs] == ["needs_info"]
    assert [p.midway for p in view.prompts] == [True]


async def test_a_run_with_little_time_left_pauses_before_it_runs_out(world: World) -> None:
    world.configure({"agents": {"scripted": {"timeout": 31_000}}})
    task, run = await at_work(world, {"hang": {}})
    directory = lifecycle.job_dir(world.s, run.id, 1)
    async with asyncio.timeout(20):
        asked = await midway.ask(world.s, run.id, directory, 600, COLOUR)
    assert asked == midway.PAUSES
    await world.s.runners.stop(directory, "paused")
    await world.wait(task, lambda v: v.run is None, "paused")
