"""A secret does not leave: neither with a push, nor in a pull request, nor by a merge."""

import json
from typing import Any

import pytest

from agents_manager.checks.command import ProjectChecks
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt
from agents_manager.domain.task import Task
from agents_manager.flow import leaks, views
from agents_manager.redaction import Redactor
from tests.integration.test_policy_files import by_itself
from tests.worlds import World

KEY = "gh" + "p_" + "Zk3vQ9xT2mB7nL5cR8wJ4yH6dF1sG0aEpUiO"
NO_CHECK = {"checks": {"no-secrets": {"enabled": False}}}


def writing(text: str, message: str = "Write it", *more: Any) -> dict[str, Any]:
    steps = [
        {"write": {"path": "app.py", "text": f"{text}\n"}},
        {"commit": message},
        {"outcome": "pr_ready"},
    ]
    return {"implement": [steps, *more]}


async def held(world: World, task: Task) -> tuple[views.TaskView, Prompt]:
    view = await world.wait(task, lambda v: bool(choices(v)), "a question")
    assert "secret.held" in await world.types(task)
    [prompt] = choices(view)
    assert KEY not in json.dumps(prompt.payload)
    return view, prompt


def choices(view: views.TaskView) -> list[Prompt]:
    return [p for p in view.prompts if p.type is PromptType.CHOICE]


def offered(prompt: Prompt) -> set[str]:
    return {choice["id"] for choice in prompt.payload["choices"]}


async def test_work_that_holds_one_is_put_to_a_person_who_may_let_it_through(world: World) -> None:
    world.configure(NO_CHECK)
    task = await world.start(writing(f"token = '{KEY}'"), pipeline="simple")
    view, prompt = await held(world, task)
    assert (view.task.status, view.pull) == ("in_progress", None)
    assert "app.py:1: GitHub token" in prompt.payload["reason"]
    assert {"let_through", "send_back", "again"} <= offered(prompt)
    await world.answer(prompt, {"choice_id": "let_through"})
    await world.until(task, "review")
    assert "secret.let_through" in await world.types(task)
    # What was let through is merged without another question.
    await world.review(task, "approved")
    await world.until(task, "done")
    assert KEY in (world.repo / "app.py").read_text()


@pytest.mark.slow
async def test_who_tries_again_without_letting_it_through_is_asked_again(world: World) -> None:
    world.configure(NO_CHECK)
    task = await world.start(writing("x = 1", f"Use {KEY}"), pipeline="simple")
    _, prompt = await held(world, task)
    assert "message: GitHub token" in prompt.payload["reason"]
    await world.answer(prompt, {"choice_id": "again"})
    view = await world.wait(
        task, lambda v: any(p.id != prompt.id for p in choices(v)), "asked again"
    )
    assert view.pull is None


async def test_an_agent_is_told_to_make_its_commits_anew(world: World) -> None:
    world.configure(NO_CHECK)
    again = [{"outcome": "no_changes"}]
    task = await world.start(writing(KEY, "Write it", again), pipeline="simple")
    _, prompt = await held(world, task)
    await world.answer(prompt, {"choice_id": "send_back"})
    view = await world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "another run")
    assert any("app.py:1: GitHub token" in (one.prompt or "") for one in view.runs)


async def test_neither_a_title_nor_a_description_carries_one_out(world: World) -> None:
    task = await world.start(writing("x = 1"), title=f"Use {KEY}", pipeline="simple")
    view, prompt = await held(world, task)
    assert view.pull is None
    assert "title: GitHub token" in prompt.payload["reason"]


async def test_nothing_is_merged_that_holds_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The measures before it are switched off."""
    await by_itself(world)
    world.configure(NO_CHECK)
    real, calls = leaks.check, list[str]()

    async def only_the_merge(*args: Any) -> None:
        calls.append("check")
        if len(calls) > 1:
            await real(*args)

    monkeypatch.setattr(leaks, "check", only_the_merge)
    task = await world.start(writing(KEY), pipeline="by-itself")
    _, prompt = await held(world, task)
    assert "merge_pr failed" in prompt.payload["reason"]
    assert not (world.repo / "app.py").exists()


@pytest.mark.slow
async def test_a_task_that_goes_on_without_the_push_asks_all_the_same(world: World) -> None:
    await by_itself(world, [{"type": "push_and_create_pr", "policy": "best_effort"}], "review")
    world.configure(NO_CHECK)
    task = await world.start(writing(KEY), pipeline="by-itself")
    view, prompt = await held(world, task)
    assert (view.task.status, view.pull) == ("review", None)
    await world.answer(prompt, {"choice_id": "let_through"})
    await world.wait(task, lambda v: v.pull is not None, "opened")


async def test_a_secret_of_the_server_counts_whatever_it_looks_like(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(world.s.checks, ProjectChecks)
    monkeypatch.setattr(world.s.checks, "_known", Redactor(("correct-horse-battery",)))
    task = await world.start(writing("say('correct-horse-battery')"), pipeline="simple")
    view = await world.wait(task, lambda v: bool(choices(v)), "a question")
    assert view.pull is None
    assert "correct-horse" not in json.dumps(view.prompts[0].payload)


async def test_without_the_search_it_would_leave(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: Any) -> None:
        pass

    world.configure(NO_CHECK)
    monkeypatch.setattr(leaks, "check", nothing)
    task = await world.start(writing(KEY), pipeline="simple")
    await world.until(task, "review")
    await world.settled(task)
    assert "pull_request.created" in await world.types(task)
