"""An agent that asks for permissions while it runs: people answer, it goes on, and nothing is asked
twice. The agent is a script behind the Agent Client Protocol."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt, PromptStatus
from agents_manager.domain.task import Task
from agents_manager.errors import PromptClosed
from agents_manager.flow import audit, tasks
from tests.acp import command
from tests.worlds import ANN, World, working

pytestmark = pytest.mark.slow  # With the real agents: make test-agents.

READY = {"outcome": {"name": "no_changes", "payload": {"reason": "All is said."}}}


def wants(path: Path, **fields: Any) -> dict[str, Any]:
    return {"permission": {"paths": [str(path)], "title": f"Write {path.name}", **fields}}


async def start(world: World, *steps: Any, **settings: Any) -> Task:
    script = world.repo.parent / "script.json"
    script.write_text(json.dumps({"steps": list(steps)}))
    entry = {"adapter": "acp", "command": command(script), **settings}
    world.configure({"defaultAgentType": "mine", "agents": {"mine": entry}})
    world.project = await tasks.trust_project(world.s, world.project)
    return await again(world)


async def again(world: World) -> Task:
    new = tasks.NewTask(title="Write outside", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    return task


async def asked(world: World, task: Task) -> Prompt:
    view = await world.wait(task, lambda v: bool(v.prompts), "a permission to be asked for")
    (prompt,) = view.prompts
    assert prompt.type is PromptType.PERMISSION
    return prompt


async def ended(world: World, task: Task) -> str | None:
    view = await world.wait(task, lambda v: bool(v.runs) and not v.runs[-1].status.live, "an end")
    return view.runs[-1].outcome


async def questions(world: World, task: Task) -> int:
    found = await world.s.store.read(lambda tx: tx.prompts.of_task(task.id))
    return sum(prompt.type is PromptType.PERMISSION for prompt in found)


async def test_a_person_allows_and_the_agent_goes_on(world: World, tmp_path: Path) -> None:
    outside, other = tmp_path / "out.txt", tmp_path / "other.txt"
    task = await start(world, wants(outside), wants(other), wants(outside), READY)
    first = await asked(world, task)
    assert first.payload["tool"] == "edit"
    assert first.payload["action"] == "Write out.txt"
    assert "lies outside of the workspace" in first.payload["reason"]
    assert not outside.exists()
    await world.answer(first, {"allow": True, "scope": "run"})
    view = await world.wait(
        task, lambda v: bool(v.prompts) and v.prompts[0].id != first.id, "the other question"
    )
    assert outside.exists()
    await world.answer(view.prompts[0], {"allow": False})
    # The third request is the first one again, and that was answered for the whole run.
    assert await ended(world, task) == "no_changes"
    assert not other.exists()
    assert await questions(world, task) == 2


async def test_what_a_person_allowed_in_the_project_is_not_asked_again(
    world: World, tmp_path: Path
) -> None:
    outside = tmp_path / "out.txt"
    task = await start(world, wants(outside), READY)
    await world.answer(await asked(world, task), {"allow": True, "scope": "project"})
    await ended(world, task)
    [noted] = await world.s.store.read(lambda tx: audit.page(tx, what="permission", limit=5))
    assert (noted.what, noted.who) == ("permission.given", ANN.name)
    outside.unlink()
    second = await again(world)
    assert await ended(world, second) == "no_changes"
    assert outside.exists()
    assert await questions(world, second) == 0


async def test_once_is_once(world: World, tmp_path: Path) -> None:
    task = await start(world, wants(tmp_path / "out.txt"), READY)
    await world.answer(await asked(world, task), {"allow": True})
    await ended(world, task)
    second = await again(world)
    await world.answer(await asked(world, second), {"allow": False})
    assert await ended(world, second) == "no_changes"


async def test_a_run_that_ends_takes_its_question_along(world: World, tmp_path: Path) -> None:
    task = await start(world, wants(tmp_path / "out.txt"), READY)
    prompt = await asked(world, task)
    assert prompt.run_id is not None
    await tasks.stop_run(world.s, prompt.run_id, ANN)
    await world.wait(task, lambda v: v.run is None, "stopped")
    await world.settled(task)
    kept = await world.s.store.read(lambda tx: tx.prompts.get(prompt.id))
    assert kept.status is PromptStatus.CANCELLED
    with pytest.raises(PromptClosed):
        await world.answer(prompt, {"allow": True})
    assert not (tmp_path / "out.txt").exists()


async def test_a_question_outlives_the_worker(tmp_path: Path, repo: Path) -> None:
    """The agent works on in its own process; whoever comes next finds the question and answers."""
    outside = tmp_path / "out.txt"
    async with working(tmp_path / "home", repo) as world:
        task = await start(world, wants(outside), READY)
        prompt = await asked(world, task)
    async with working(tmp_path / "home", repo) as world:
        again = await asked(world, task)
        assert again.id == prompt.id
        await world.answer(again, {"allow": True})
        assert await ended(world, task) == "no_changes"
    assert outside.exists()


async def test_a_person_can_be_asked_for_everything(world: World) -> None:
    command_wish = {"permission": {"kind": "execute", "title": "make test"}}
    task = await start(world, command_wish, READY, permissions="ask")
    prompt = await asked(world, task)
    assert (prompt.payload["tool"], prompt.payload["action"]) == ("execute", "make test")
    await world.answer(prompt, {"allow": True})
    assert await ended(world, task) == "no_changes"


async def test_asking_forever_is_a_failure_that_names_its_limit(
    world: World, tmp_path: Path
) -> None:
    task = await start(
        world, wants(tmp_path / "a repo" / "x", kind="read", times=10_000), maxPermissions=30
    )
    view = await world.wait(task, lambda v: bool(v.runs) and v.runs[-1].error is not None, "failed")
    error = view.runs[-1].error
    assert error is not None
    assert (error.error_class, error.error) == (
        "budget",
        "The agent asked for permission more than 30 times.",
    )
    assert "agent.failed" in await world.types(task)
