"""Checks that fail on the base commit too: a person decides how the task continues."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt
from agents_manager.domain.task import Task
from agents_manager.errors import InvalidInput
from agents_manager.flow import check_decisions, tasks, undoing
from tests.repos import own_home
from tests.worlds import ANN, GREETING, World, repo

__all__ = ["own_home", "repo"]
pytestmark = pytest.mark.usefixtures("own_home")

COST = {"usage": {"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.25}}
FAILS = {"command": "echo broken; exit 1"}


async def asked(world: World, task: Task, number: int = 1) -> Prompt:
    """Returns the question that is open once so many were asked."""
    async with asyncio.timeout(20):
        while (await world.types(task)).count("prompt_created") < number:
            await asyncio.sleep(0.05)
    view = await world.wait(
        task,
        lambda v: v.run is None and any(p.type is PromptType.CHOICE for p in v.prompts),
        "asked",
    )
    assert (await world.types(task)).count("prompt_created") == number
    return view.prompts[0]


async def started(world: World, command: str) -> Task:
    world.configure({"checks": {"test": {"command": command}}})
    world.project = await tasks.trust_project(world.s, world.project)
    return await world.start(GREETING, pipeline="simple")


async def test_a_person_gets_the_log_and_the_choices(world: World) -> None:
    task = await started(world, "echo broken; exit 1")
    prompt = await asked(world, task)
    assert prompt.payload["reason"] == "Checks fail on the base commit too: test (exit code 1)."
    assert prompt.payload["evidence"] == "broken\n"
    labels = [choice["label"] for choice in prompt.payload["choices"]]
    assert labels[:4] == [
        "Retry the checks",
        'Skip "test" for this task',
        "Edit the check",
        "Let the agent fix it",
    ]


async def test_retry_runs_the_checks_without_the_agent_and_asks_again_while_they_fail(
    world: World, tmp_path: Path
) -> None:
    service = tmp_path / "service"
    task = await started(world, f"test -e '{service}'")
    prompt = await asked(world, task)
    await world.answer(prompt, {"choice_id": "retry"})
    again = await asked(world, task, 2)
    assert again.id != prompt.id
    service.touch()
    await world.answer(again, {"choice_id": "retry"})
    view = await world.until(task, "review")
    [run] = view.runs
    assert (run.status, run.outcome, run.error) == ("completed", "pr_ready", None)
    assert view.prompts[0].payload["checks_passed"] is True


async def test_a_skipped_check_does_not_run_for_the_task_until_it_is_restored(
    world: World,
) -> None:
    task = await started(world, "exit 1")
    await world.answer(await asked(world, task), {"choice_id": "skip"})
    view = await world.until(task, "review")
    assert len(view.runs) == 1
    assert view.skipped_checks == ("test",)
    assert view.prompts[0].payload["checks_passed"] is None
    assert view.prompts[0].payload["warnings"] == ["test (skipped for this task)"]
    with pytest.raises(InvalidInput, match='Check "tset" is not skipped'):
        await check_decisions.restore(world.s, task.id, "tset", ANN)
    await check_decisions.restore(world.s, task.id, "test", ANN)
    assert (await world.view(task)).skipped_checks == ()


async def test_the_agent_fixes_a_check_that_a_person_leaves_to_it(world: World) -> None:
    """Fix rounds are used from then on, and no further question is asked."""
    world.configure({"checks": {"test": {"command": "grep -q right word.txt"}}})
    world.project = await tasks.trust_project(world.s, world.project)

    def writes(word: str) -> list[dict[str, Any]]:
        write = {"write": {"path": "word.txt", "text": f"{word}\n"}}
        return [write, {"commit": f"Write {word}"}, COST, {"outcome": "pr_ready"}]

    visits = [{"steps": writes("wrong")}, {"steps": writes("worse"), "fix": [writes("right")]}]
    task = await world.start({"implement": visits}, pipeline="simple")
    await world.answer(await asked(world, task), {"choice_id": "fix"})
    view = await world.until(task, "review")
    assert [run.outcome for run in view.runs] == [None, "pr_ready"]
    assert (await world.types(task)).count("agent.fix_requested") == 1
    assert view.prompts[0].payload["checks_passed"] is True


async def test_an_answer_that_is_taken_back_decides_nothing(world: World) -> None:
    task = await started(world, "exit 1")
    prompt = await asked(world, task)
    for number, (choice, field) in enumerate([("skip", "skipped"), ("fix", "left_to_agent")], 2):
        await world.answer(prompt, {"choice_id": choice}, delay_s=60)
        decided = await world.s.store.read(lambda tx: check_decisions.of_task(tx, task.id))
        assert getattr(decided, field) == ("test",)
        await undoing.undo(world.s, prompt.id, ANN)
        decided = await world.s.store.read(lambda tx: check_decisions.of_task(tx, task.id))
        assert decided == check_decisions.CheckDecisions()
        prompt = await asked(world, task, number)
    await world.answer(prompt, {"choice_id": "retry"})
    await asked(world, task, 4)


async def test_edit_names_the_file_of_the_check_and_asks_again(world: World) -> None:
    task = await started(world, "exit 1")
    await world.answer(await asked(world, task), {"choice_id": "edit"})
    reason = (await asked(world, task, 2)).payload["reason"]
    assert "checks.test.command in " in reason
    assert "am project trust" in reason


async def test_a_failed_setup_is_asked_about_without_the_choice_of_a_fix(world: World) -> None:
    world.configure({"setup": ["git status"], "checks": {"test": {"command": "true"}}})
    world.project = await tasks.trust_project(world.s, world.project)
    task = await world.start(GREETING, pipeline="simple")
    choices = (await asked(world, task)).payload["choices"]
    assert [choice["id"] for choice in choices][:3] == ["retry", "skip", "edit"]
    assert "fix" not in json.dumps(choices)
