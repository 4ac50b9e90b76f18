"""The agent that is chosen for a task does its work, in all of its runs."""

from typing import Any

import pytest

from agents_manager.domain.race import named
from agents_manager.domain.run import RunStatus
from agents_manager.domain.task import Task
from agents_manager.errors import InvalidInput
from agents_manager.flow import edits, racing, remedies, tasks
from agents_manager.flow.tasks import NewTask
from tests.integration.test_built_in_pipelines import says, work
from tests.worlds import ANN, World

ECHO = {
    "adapter": "command",
    "command": ["sh", "-c", "echo model={model}; git rev-parse HEAD > x && git add x; exit 3"],
}
AGENTS: dict[str, Any] = {
    "one": {"adapter": "scripted"},
    "two": {"adapter": "scripted"},
    "told": ECHO,
}
ASKS = {"questions": [{"id": "q1", "question": "Which colour?", "options": ["Red", "Blue"]}]}
RED = {"answers": [{"question_id": "q1", "option": "Red"}]}
DONE = [{"outcome": {"name": "no_changes", "payload": {"reason": "It is there."}}}]
FAILS = [{"crash": 1}]
HANGS = [{"say": "Up."}, {"hang": True}]


async def configure(world: World, **config: Any) -> None:
    world.configure({"agents": AGENTS, **config})
    world.project = await tasks.trust_project(world.s, world.project)


def asks() -> list[dict[str, Any]]:
    return [{"outcome": {"name": "needs_info", "payload": ASKS}}]


async def stop(world: World, task: Task) -> None:
    at_work = await world.wait(
        task, lambda v: v.run is not None and v.run.status is RunStatus.RUNNING, "at work"
    )
    assert at_work.run is not None
    await tasks.stop_run(world.s, at_work.run.id, ANN)
    await world.wait(task, lambda v: bool(v.prompts) and v.run is None, "stopped")
    await world.settled(task)


async def test_every_run_is_of_the_agent_that_was_chosen_but_not_the_review(world: World) -> None:
    roles = {"plan": {"agent": "one"}, "implement": {"agent": "one"}}
    await configure(world, roles=roles, review={"agent": "scripted"})
    script = {
        "plan": [says("plan_complete")],
        "implement": [work("x")],
        "review": [says("approved")],
    }
    task = await world.start(script, pipeline="feature", agent="two")
    await world.until(task, "planned")
    await world.review(task, "approved")
    view = await world.until(task, "pr_review")
    assert [(run.mode, run.agent) for run in view.runs] == [
        ("plan", "two"),
        ("implement", "two"),
        ("review", "scripted"),
    ]


@pytest.mark.slow
async def test_another_agent_takes_over_from_the_next_run_on(world: World) -> None:
    await configure(world)
    script = {"implement": [asks(), asks(), DONE]}
    task = await world.start(script, pipeline="simple", agent="one")
    view = await world.wait(task, lambda v: bool(v.prompts), "a question")
    await edits.edit(world.s, task.id, {"agent": "two"}, ANN)
    await world.answer(view.prompts[0], RED)
    view = await world.wait(task, lambda v: bool(v.prompts) and len(v.runs) == 2, "a question")
    await edits.edit(world.s, task.id, {"agent": None}, ANN)
    await world.answer(view.prompts[0], RED)
    view = await world.wait(task, lambda v: len(v.runs) == 3 and v.run is None, "ended")
    assert [run.agent for run in view.runs] == ["one", "two", "scripted"]
    first, second, third = [run.session for run in view.runs]
    assert len({first, second, third}) == 3


@pytest.mark.slow
async def test_an_agent_that_was_named_for_a_run_goes_on_with_its_question(world: World) -> None:
    await configure(world)
    script = {"implement": [HANGS, asks(), DONE]}
    task = await world.start(script, pipeline="simple", agent="one")
    await stop(world, task)
    order = remedies.Order(agent="two")
    await world.s.store.write(lambda tx: remedies.start_run(tx, world.s, task.id, ANN, order))
    view = await world.wait(task, lambda v: bool(v.prompts) and len(v.runs) == 2, "a question")
    await world.answer(view.prompts[0], RED)
    view = await world.wait(task, lambda v: len(v.runs) == 3 and v.run is None, "ended")
    assert [run.agent for run in view.runs] == ["one", "two", "two"]


@pytest.mark.slow
async def test_a_failed_run_is_repeated_by_the_agent_that_was_chosen_since(world: World) -> None:
    await configure(world)
    task = await world.start({"implement": [FAILS, DONE]}, pipeline="simple")
    await world.wait(task, lambda v: bool(v.prompts), "a choice")
    await edits.edit(world.s, task.id, {"agent": "two"}, ANN)
    await world.choose(task, "again")
    view = await world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "ended")
    assert [run.agent for run in view.runs] == ["scripted", "two"]


@pytest.mark.slow
async def test_a_stopped_run_is_repeated_by_the_agent_that_was_chosen_since(world: World) -> None:
    await configure(world)
    task = await world.start({"implement": [HANGS, DONE]}, pipeline="simple", agent="one")
    await stop(world, task)
    await edits.edit(world.s, task.id, {"agent": "two"}, ANN)
    await world.choose(task, "rerun")
    view = await world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "ended")
    assert [run.agent for run in view.runs] == ["one", "two"]


async def test_the_model_is_told_to_the_agent_it_was_chosen_with(world: World) -> None:
    roles = {"implement": {"agent": "told", "model": "usual"}}
    await configure(world, roles=roles, defaultAgentType="told")
    task = await world.create({}, pipeline="simple", model="big one")
    assert (task.agent, task.model) == ("told", "big one")
    await tasks.move(world.s, task.id, ANN)
    view = await world.wait(task, lambda v: bool(v.prompts), "a choice")
    (run,) = view.runs
    assert (run.agent, run.model, run.overrides.task["model"]) == ("told", "big one", "big one")
    output = (world.s.jobs_dir / run.id).glob("**/output")
    assert "model=big one" in "".join(file.read_text() for file in output)
    edited = await edits.edit(world.s, task.id, {"agent": "one"}, ANN)
    assert (edited.task.agent, edited.task.model) == ("one", None)


async def test_what_cannot_be_chosen_is_refused(world: World) -> None:
    await configure(world)
    wrong = {
        'There is no agent "tow". Did you mean "two"? Known: ': {"agent": "tow"},
        'Agent "one" does not accept a model.': {"agent": "one", "model": "big"},
        "agent: one line": {"agent": "one\ntwo"},
    }
    task = await world.create({})
    for words, chosen in wrong.items():
        with pytest.raises(InvalidInput) as refused:
            await world.create({}, **chosen)
        assert words in " ".join(refused.value.details)
        with pytest.raises(InvalidInput) as refused:
            await edits.edit(world.s, task.id, chosen, ANN)
        assert words in " ".join(refused.value.details)
    new, several = NewTask(title="x", agent="one"), [named("one"), named("two")]
    with pytest.raises(InvalidInput, match="A race names its own agents"):
        await racing.create(world.s, world.project, new, several, None, ANN)
