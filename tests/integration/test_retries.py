"""Runs that failed are tried again by themselves: when, how often, and what people can do about
it."""

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.ids import RunId
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.task import Task
from agents_manager.errors import TransitionRefused
from agents_manager.flow import remedies, retries, tasks
from agents_manager.flow.views import TaskView
from tests import worlds
from tests.worlds import ANN, GREETING, World

SOON = {"tries": 2, "delay": 20, "factor": 1}
LATER = {"tries": 2, "delay": 3_600_000}
CRASH = [{"say": "Oops."}, {"crash": 3}]


def script(*visits: Any) -> Mapping[str, Any]:
    return {"implement": [*visits, *GREETING["implement"]]}


async def waiting(world: World, task: Task) -> tuple[TaskView, Run]:
    view = await world.wait(task, lambda v: v.next_mover.kind == "timer", "waiting for a retry")
    assert view.run is not None
    return view, view.run


async def prompt_of(world: World, run: Run) -> str:
    found = await world.s.store.read(lambda tx: tx.runs.get(RunId(run.id)))
    return found.prompt or ""


async def test_a_crash_is_tried_again_and_the_agent_is_told(world: World) -> None:
    world.configure({"retries": {"crash": SOON}})
    task = await world.start(script(CRASH), pipeline="simple")
    view = await world.until(task, "review")
    first, second = view.runs
    assert (first.status, second.status) == (RunStatus.FAILED, RunStatus.COMPLETED)
    assert (first.attempt, second.attempt) == (1, 2)
    told = await prompt_of(world, second)
    assert "# What failed\n" in told
    assert "crash: The agent exited with code 3." in told.partition("# What failed\n")[2]
    assert "# What failed\n" not in await prompt_of(world, first)
    [scheduled] = [e for e in await world.events(task) if e.type == "agent.retry_scheduled"]
    assert (scheduled.data["run"], scheduled.data["retry"]) == (first.id, second.id)
    assert scheduled.summary.endswith("(retry 1 of 2, after crash).")
    history = await world.history(task)
    assert [h.trigger for h in history] == ["manual", "retry", "agent_outcome"]


async def test_the_edge_of_the_error_is_taken_after_the_last_try(world: World) -> None:
    world.configure({"retries": {"crash": SOON}})
    task = await world.start(script(CRASH, CRASH, CRASH), pipeline="simple")
    view = await world.until(task, "needs_decision")
    assert [r.status for r in view.runs] == [RunStatus.FAILED] * 3
    assert (await world.types(task)).count("agent.retry_scheduled") == 2
    # A person who has it run again begins anew.
    await tasks.move(world.s, task.id, ANN, to="in_progress")
    await world.until(task, "review")


async def test_while_it_waits_nobody_is_asked_and_no_place_is_held(world: World) -> None:
    world.configure({"retries": {"crash": LATER}})
    task = await world.start(script(CRASH), pipeline="simple")
    view, run = await waiting(world, task)
    assert view.task.status == "in_progress"
    assert (run.status, view.next_mover.id, list(view.prompts)) == (RunStatus.QUEUED, run.id, [])
    due = (await world.s.store.read(lambda tx: tx.effects.get(run.effect_id))).due_at
    assert timedelta(minutes=59) < due - world.s.clock.now() < timedelta(hours=1)
    at = f"{due:%Y-%m-%d %H:%M:%S} UTC"
    told = f"scripted is tried again at {at} (implement, retry 1 of 2). The last run ended with"
    assert told in view.why
    assert "It came from open by hand" in view.why
    assert await world.s.store.read(lambda tx: tx.effects.started()) == []
    with pytest.raises(TransitionRefused, match="goes on already"):
        await world.s.store.write(
            lambda tx: remedies.start_run(tx, world.s, task.id, ANN, remedies.Order())
        )


async def test_a_person_tries_it_again_at_once(world: World) -> None:
    world.configure({"retries": {"crash": LATER}})
    task = await world.start(script(CRASH), pipeline="simple")
    _, run = await waiting(world, task)
    await world.s.store.write(lambda tx: retries.now(tx, world.s, run.id, ANN))
    await world.until(task, "review")
    assert "agent.retry_hastened" in await world.types(task)
    with pytest.raises(TransitionRefused, match="does not wait to be tried again"):
        await world.s.store.write(lambda tx: retries.now(tx, world.s, run.id, ANN))


async def test_a_person_calls_the_wait_off(world: World) -> None:
    world.configure({"retries": {"crash": LATER}})
    task = await world.start(script(CRASH), pipeline="simple")
    _, run = await waiting(world, task)
    await tasks.stop_run(world.s, run.id, ANN)
    view = await world.wait(task, lambda v: bool(v.prompts), "asked")
    assert (view.runs[-1].status, view.task.status) == (RunStatus.CANCELLED, "in_progress")
    await world.choose(task, "rerun")
    await world.until(task, "review")


async def test_a_move_calls_the_wait_off_too(world: World) -> None:
    world.configure({"retries": {"crash": LATER}})
    task = await world.start(script(CRASH), pipeline="simple")
    await waiting(world, task)
    await tasks.move(world.s, task.id, ANN, to="cancelled")
    view = await world.until(task, "cancelled")
    assert view.runs[-1].status is RunStatus.CANCELLED
    await world.settled(task)


async def test_an_answer_that_is_held_is_no_retry(world: World) -> None:
    ask = [{"ask": {"question": "Why?", "options": ["a", "b"]}}]
    task = await world.start(script(ask), pipeline="simple")
    view = await world.until(task, "needs_info")
    answer = {"answers": [{"question_id": "q1", "text": "So."}]}
    await world.answer(view.prompts[0], answer, delay_s=60)
    _, run = await waiting(world, task)
    with pytest.raises(TransitionRefused, match="does not wait to be tried again"):
        await world.s.store.write(lambda tx: retries.now(tx, world.s, run.id, ANN))


async def test_a_limit_is_waited_for_until_it_ends(world: World) -> None:
    resets = world.s.clock.now() + timedelta(hours=3)
    said = {"type": "result", "error": "Slow down.", "error_class": "rate_limit"}
    line = json.dumps({**said, "resets_at": resets.isoformat()})
    world.configure(
        {
            "retries": {"rate_limit": {"tries": 1}},
            "agents": {"limited": {"adapter": "command", "command": ["echo", line]}},
            "defaultAgentType": "limited",
        }
    )
    world.project = await tasks.trust_project(world.s, world.project)
    task = await world.start({}, pipeline="simple")
    view, run = await waiting(world, task)
    due = (await world.s.store.read(lambda tx: tx.effects.get(run.effect_id))).due_at
    assert due == resets + timedelta(seconds=5)
    error = view.runs[0].error
    assert error is not None
    assert error.resets_at == resets


@pytest.mark.parametrize("error_class", ["auth", "bad_output", "environment", "budget"])
async def test_what_cannot_pass_by_itself_is_not_tried_again(
    world: World, error_class: str
) -> None:
    world.configure({"retries": {"crash": SOON}})
    fails = [{"fail": {"message": "No.", "class": error_class}}]
    task = await world.start(script(fails), pipeline="simple")
    await world.until(task, "needs_decision")
    assert "agent.retry_scheduled" not in await world.types(task)


async def test_a_broken_configuration_does_not_keep_a_run_from_ending(world: World) -> None:
    crash = script([{"say": "Up."}, {"sleep": 0.5}, {"crash": 3}])
    task = await world.start(crash, pipeline="simple")
    await world.wait(task, lambda v: v.run is not None and bool(v.run.started_at), "running")
    (world.program.settings.home / "config.json").write_text("{")
    await world.until(task, "needs_decision")


@pytest.mark.slow
async def test_a_retry_outlives_the_worker(tmp_path: Path, repo: Path) -> None:
    """The timer is a row."""
    async with worlds.working(tmp_path / "home", repo) as world:
        world.configure({"retries": {"crash": {"tries": 1, "delay": 1_000}}})
        task = await world.start(script(CRASH), pipeline="simple")
        await waiting(world, task)
    async with worlds.working(tmp_path / "home", repo) as world:
        view = await world.until(task, "review")
    assert len(view.runs) == 2


async def test_a_conversation_that_is_too_long_is_begun_again_only_if_it_grew(
    world: World,
) -> None:
    world.configure({"retries": {"context_too_long": {"tries": 1}}})
    too_long = {"fail": {"class": "context_too_long", "message": "The prompt is too long."}}
    grown = [{"tool": {"name": "Read", "input": {"path": "README.md"}}}, too_long]
    task = await world.start(script(grown), pipeline="simple")
    view = await world.until(task, "review")
    assert [run.status for run in view.runs] == [RunStatus.FAILED, RunStatus.COMPLETED]
    assert view.runs[0].session != view.runs[1].session
    assert "# Transcript of earlier runs" in await prompt_of(world, view.runs[1])
    # The first prompt alone is too long: another one would be no shorter.
    task = await world.start(script([{"say": "Hm."}, too_long]), pipeline="simple")
    view = await world.wait(task, lambda v: bool(v.prompts), "a question")
    assert len(view.runs) == 1
