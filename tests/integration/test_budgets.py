"""Budgets: a run is stopped while it goes on, none begins without money, and only people grant
more. The work is kept, and what is not known is told."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.budget import BudgetScope
from agents_manager.domain.cost import By
from agents_manager.domain.event import Logged
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt
from agents_manager.domain.run import ErrorClass, RunStatus
from agents_manager.domain.task import Actor, ActorType, Task
from agents_manager.errors import InvalidAnswer, NotAllowed, PromptAlreadyAnswered
from agents_manager.flow import audit, figures, prompts, remedies, snapshots, tasks, undoing
from agents_manager.flow.runs import places
from agents_manager.flow.views import TaskView
from tests import worlds
from tests.worlds import ANN, GREETING, World

pytestmark = pytest.mark.slow

DRAFT = {"write": {"path": "draft.txt", "text": "half\n"}}
HANG = {"hang": True}
FAILS = {"fail": {"message": "No.", "class": "auth"}}


def usage(usd: float) -> Mapping[str, Any]:
    return {"usage": {"cost_usd": usd}}


def script(*visits: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return {"implement": [*visits, *GREETING["implement"]]}


async def held(world: World, task: Task) -> tuple[TaskView, Prompt]:
    view = await world.wait(task, lambda v: v.run is None and bool(v.prompts), "held")
    (prompt,) = view.prompts
    assert prompt.type is PromptType.BUDGET
    return view, prompt


async def told(world: World, task: Task, kind: str) -> list[Logged]:
    return [e for e in await world.events(task) if e.type == kind]


async def test_a_run_is_stopped_while_it_goes_on_and_its_work_is_kept(world: World) -> None:
    world.configure({"budgets": {"runUsd": 1}})
    steps = [DRAFT, usage(0.85), {"sleep": 0.5}, usage(0.2), HANG]
    task = await world.start(script(steps), pipeline="simple")
    view, prompt = await held(world, task)

    (run,) = view.runs
    assert (run.status, run.cost_usd, view.task.status) == (RunStatus.FAILED, 1.05, "in_progress")
    assert run.error is not None
    assert run.error.error_class is ErrorClass.BUDGET
    assert run.error.error == "The budget of this run is used up: $1.05 spent, of $1.00."
    [near] = await told(world, task, "cost.budget_near")
    assert near.summary == "The budget of this run is used to 85%: $0.85 spent, of $1.00."
    assert "agent.retry_scheduled" not in await world.types(task)
    [saved] = await snapshots.of_task(world.s, task.id)
    assert saved.files == ("draft.txt",)
    assert prompt.payload["spent_usd"] == 1.05
    assert "A budget holds it until an admin decides. The budget of this run" in view.why
    assert "an admin may answer" in view.why


async def test_after_a_grant_the_agent_goes_on_where_it_was(world: World) -> None:
    world.configure({"budgets": {"taskUsd": 1}})
    ends = [{"commit": "Take it up"}, usage(0.5), {"outcome": "pr_ready"}]
    task = await world.start(script([DRAFT, usage(1.25), HANG], ends), pipeline="simple")
    _, prompt = await held(world, task)
    await world.answer(prompt, {"decision": "grant", "usd": 2})

    view = await world.until(task, "review")
    first, second = view.runs
    assert (first.cost_usd, second.cost_usd) == (1.25, 0.5)
    assert second.outcome == "pr_ready"  # Its first step commits the draft of the run before.
    [granted] = await told(world, task, "cost.budget_granted")
    assert granted.summary == "ann granted $2.00 more for the task."
    assert len(await snapshots.of_task(world.s, task.id)) == 1


async def test_whoever_stops_leaves_the_task_as_every_failed_run_does(world: World) -> None:
    world.configure({"budgets": {"runUsd": 1}})
    task = await world.start(script([usage(1), HANG]), pipeline="simple")
    _, prompt = await held(world, task)
    await world.answer(prompt, {"decision": "stop"})
    view = await world.until(task, "needs_decision")
    assert len(view.runs) == 1
    assert "The budget of this run is used up" in view.prompts[0].payload["reason"]


@pytest.mark.parametrize("scope", ["project", "day"])
async def test_no_agent_is_started_without_money(
    world: World, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await world.start(script([usage(2), {"outcome": "pr_ready"}]), pipeline="simple")
    await world.until(task, "needs_decision")
    world.configure({"budgets": {f"{scope}Usd": 2}})
    started: list[Path] = []
    start = type(world.s.runners).start_or_adopt

    async def counted(self: Any, job: Any) -> None:
        started.append(job.dir)
        await start(self, job)

    monkeypatch.setattr(type(world.s.runners), "start_or_adopt", counted)
    await tasks.move(world.s, task.id, ANN, to="in_progress")
    view, prompt = await held(world, task)
    assert started == []
    assert (view.runs[1].started_at, view.runs[1].cost_usd) == (None, None)
    assert prompt.payload["scope"] == scope

    with pytest.raises(InvalidAnswer, match="is more than 0"):
        await world.answer(prompt, {"decision": "grant", "usd": 0})
    await world.answer(prompt, {"decision": "grant", "usd": 0.5})
    [noted] = await world.s.store.read(lambda tx: audit.page(tx, what="budget", limit=5))
    assert (noted.what, noted.who, noted.data["scope"]) == ("budget.granted", ANN.name, scope)
    await world.until(task, "review")
    assert len(started) == 1


async def test_another_turn_is_not_begun_without_money(world: World) -> None:
    world.configure({"budgets": {"runUsd": 1}})
    visit = {"steps": [usage(1), {"malformed": "<<<OUTCOME:pr_ready>>>{"}], "repair": [HANG]}
    task = await world.start({"implement": [visit]}, pipeline="simple")
    view, _ = await held(world, task)
    assert not places.job_dir(world.s, view.runs[0].id, 2).exists()


async def test_runs_at_the_same_time_share_a_budget(world: World) -> None:
    world.configure({"budgets": {"projectUsd": 1}})
    waits = await world.start(script([usage(0.5), HANG]), title="One", pipeline="simple")
    await world.wait(waits, lambda v: bool(v.run and v.run.cost_usd), "spending")
    spends = await world.start(script([usage(0.5), HANG]), title="Two", pipeline="simple")
    for task in (waits, spends):
        view, prompt = await held(world, task)
        assert view.runs[0].error is not None
        assert prompt.payload["spent_usd"] == 1
    near = [await told(world, task, "cost.budget_near") for task in (waits, spends)]
    assert sum(map(len, near)) == 1


async def test_what_is_unknown_is_told_and_never_nothing(world: World) -> None:
    dark = [{"usage": {"input_tokens": 5, "output_tokens": 5}}, FAILS]
    first = await world.start(script(dark), title="Dark", pipeline="simple")
    await world.until(first, "needs_decision")
    world.configure({"budgets": {"projectUsd": 1}})
    task = await world.start(script([usage(1), HANG]), pipeline="simple")
    view, prompt = await held(world, task)
    assert prompt.payload["unknown"] == 1
    assert "at least $1.00 spent, 1 run unknown, of $1.00" in view.why
    report = await world.s.store.read(
        lambda tx: figures.cost(tx, world.s, By.PROJECT, project=None, since=None, limit=5)
    )
    [budget] = report.budgets
    assert (budget.spent_usd, budget.unknown, budget.left_usd) == (1, 1, 0)


async def test_an_agent_that_lies_cannot_earn_money(world: World) -> None:
    world.configure({"budgets": {"runUsd": 1}})
    lies = {"usage": {"cost_usd": -5.0}}
    steps = [usage(0.5), {"sleep": 0.5}, lies, {"sleep": 0.5}, FAILS]
    task = await world.start(script(steps), pipeline="simple")
    await world.wait(task, lambda v: bool(v.run and v.run.cost_usd), "spending")
    seen: set[float | None] = set()
    while (view := await world.view(task)).run is not None:
        seen.add(view.run.cost_usd)
    assert seen == {0.5}
    assert view.runs[0].cost_usd is None
    assert "cost.usage_refused" in await world.types(task)


async def test_grants_add_up_and_each_is_given_once(world: World) -> None:
    world.configure({"budgets": {"taskUsd": 1}})
    task = await world.start(script([usage(1), HANG], [usage(1), HANG]), pipeline="simple")
    _, first = await held(world, task)
    await world.answer(first, {"decision": "grant", "usd": 1})
    with pytest.raises(PromptAlreadyAnswered, match=r"ann answered this via cli at .*: grant \$1"):
        await world.answer(first, {"decision": "grant", "usd": 1})
    view = await world.wait(task, lambda v: len(v.runs) == 2 and bool(v.prompts), "held again")
    second = view.prompts[0]
    assert (second.payload["limit_usd"], second.payload["granted_usd"]) == (2, 1)
    assert len(await told(world, task, "cost.budget_near")) == 2


async def test_what_was_granted_for_a_run_is_what_it_may_spend(world: World) -> None:
    world.configure({"budgets": {"runUsd": 5}})
    task = await world.start(script([usage(5), HANG], [usage(1), HANG]), pipeline="simple")
    _, first = await held(world, task)
    await world.answer(first, {"decision": "grant", "usd": 1})
    view = await world.wait(task, lambda v: len(v.runs) == 2 and bool(v.prompts), "held again")
    assert view.prompts[0].payload["limit_usd"] == 1


async def test_a_grant_can_be_taken_back_before_the_agent_goes_on(world: World) -> None:
    world.configure({"budgets": {"taskUsd": 1}})
    task = await world.start(script([usage(1), HANG]), pipeline="simple")
    _, prompt = await held(world, task)
    await world.answer(prompt, {"decision": "grant", "usd": 9}, delay_s=60)
    undone = await undoing.undo(world.s, prompt.id, ANN)
    assert (undone.prompt.type, undone.prompt.roles) == (PromptType.BUDGET, ("admin",))
    assert await world.s.store.read(lambda tx: tx.grants.total(BudgetScope.TASK, task.id)) == 0


async def test_only_an_admin_grants(world: World) -> None:
    world.configure({"budgets": {"runUsd": 1}})
    task = await world.start(script([usage(1), HANG]), pipeline="simple")
    _, prompt = await held(world, task)
    carl = Actor(type=ActorType.USER, name="carl", via="http", role="member")
    with pytest.raises(NotAllowed, match="an admin may"):
        await prompts.answer(world.s, prompt.id, {"decision": "grant", "usd": 1}, carl)


async def test_a_raised_setting_lets_an_agent_be_started_again(world: World) -> None:
    world.configure({"budgets": {"taskUsd": 1}})
    task = await world.start(script([usage(1), HANG]), pipeline="simple")
    await held(world, task)
    world.configure({"budgets": {"taskUsd": 50}})
    await world.s.store.write(
        lambda tx: remedies.start_run(tx, world.s, task.id, ANN, remedies.Order())
    )
    await world.until(task, "review")


async def test_a_lowered_setting_stops_a_run_at_work(world: World) -> None:
    task = await world.start(script([usage(1), HANG]), pipeline="simple")
    await world.wait(task, lambda v: bool(v.run and v.run.cost_usd), "spending")
    world.configure({"budgets": {"taskUsd": 0.5}})
    await held(world, task)


async def test_neither_the_watch_nor_the_question_is_lost_with_the_worker(
    tmp_path: Path, repo: Path
) -> None:
    async with worlds.working(tmp_path / "home", repo) as world:
        world.configure({"budgets": {"taskUsd": 1}})
        steps = [usage(0.5), {"sleep": 1}, DRAFT, usage(0.5), HANG]
        task = await world.start(script(steps), pipeline="simple")
        await world.wait(task, lambda v: bool(v.run and v.run.cost_usd), "spending")
    async with worlds.working(tmp_path / "home", repo) as world:
        _, prompt = await held(world, task)
        assert [one.files for one in await snapshots.of_task(world.s, task.id)] == [("draft.txt",)]
    async with worlds.working(tmp_path / "home", repo) as world:
        await world.answer(prompt, {"decision": "grant", "usd": 1})
        await world.until(task, "review")
