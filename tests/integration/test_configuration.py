"""Configuration at work: what is set for one run, how many go on at a time, files that break."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain import pipeline
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.task import Task
from agents_manager.errors import InvalidInput
from agents_manager.flow import remedies, tasks
from tests import worlds
from tests.integration.test_built_in_pipelines import says, work
from tests.repos import executable, run
from tests.worlds import ANN, GREETING, World

pytestmark = pytest.mark.slow

DONE = "<<<OUTCOME:pr_ready>>>\n<<<END_PAYLOAD>>>"


def gated(home: Path, gate: Path, **more: Any) -> None:
    """The agent of all runs works until it is let go."""
    wait = f"while [ ! -e '{gate}' ]; do sleep 0.02; done"
    work = f"{wait}\necho x > new.txt\nprintf '%s\\n' '{DONE}'"
    program = executable(home / "agent.sh", work)
    agent = {"adapter": "command", "command": [str(program)]}
    config = {"defaultAgentType": "gated", "agents": {"gated": agent}, **more}
    (home / "config.json").write_text(json.dumps(config))


async def live(world: World, task: Task) -> Run | None:
    return (await world.view(task)).run


async def begun(world: World, task: Task) -> None:
    await world.wait(task, lambda v: v.run is not None and v.run.started_at is not None, "at work")


async def told(world: World, task: Task, kind: str) -> str:
    """The first event of a kind, once it is there."""
    async with asyncio.timeout(worlds.PATIENCE_S):
        while True:
            found = [e.summary for e in await world.events(task) if e.type == kind]
            if found:
                return found[0]
            await asyncio.sleep(0.02)


def started_with(world: World, name: str, **params: Any) -> dict[str, Any]:
    """The pipeline `simple` under another name, whose hooks start agents with these parameters."""
    document = json.loads(json.dumps({**world.s.built_in["simple"], "id": name}))
    for transition in document["transitions"]:
        for hook in transition.get("hooks", ()):
            if hook["type"] == "start_agent":
                hook["params"] = {**hook.get("params", {}), **params}
    return document


async def save(world: World, document: Mapping[str, Any]) -> None:
    parsed, now = pipeline.parse(document), world.s.clock.now()
    await world.s.store.write(lambda tx: tx.pipelines.save(parsed, document, now))


# ------------------------------------------------------------------------------------- for one run

STOPPED: Mapping[str, Any] = {
    "implement": [
        [{"hang": True}],
        [{"ask": {"question": "Which?", "suggested_answer": "This."}}],
        *GREETING["implement"],
    ]
}


async def stopped(world: World) -> Task:
    """A task whose agent hung and was stopped."""
    task = await world.start(STOPPED, pipeline="simple")
    await begun(world, task)
    run = await live(world, task)
    assert run
    await tasks.stop_run(world.s, run.id, ANN)
    await world.wait(task, lambda v: bool(v.prompts), "asked how to go on")
    await world.settled(task)
    return task


async def start_run(world: World, task: Task, **settings: Any) -> Run:
    order = remedies.Order(settings=settings)
    return await world.s.store.write(
        lambda tx: remedies.start_run(tx, world.s, task.id, ANN, order)
    )


async def test_what_is_set_for_a_run_holds_until_it_is_over(world: World) -> None:
    task = await stopped(world)
    for wrong, said in [
        ({"maxTruns": 3}, 'Did you mean "maxTurns"?'),
        ({"timeout": "soon"}, "timeout: Input should be a valid integer"),
        ({"command": ["sh"]}, "it says which program runs"),
        ({"env": ["HOME"]}, "it says which program runs"),
    ]:
        before = await world.events(task)
        with pytest.raises(InvalidInput) as refused:
            await start_run(world, task, **wrong)
        assert said in refused.value.details[0]
        assert await world.events(task) == before
        assert (await world.view(task)).prompts
    queued = await start_run(world, task, model="big", timeout="90000")
    assert queued.overrides.run == {"model": "big", "timeout": 90_000}
    view = await world.until(task, "needs_info")
    asked = view.runs[-1]
    assert asked.model == "big"
    assert asked.settings
    layers = {one.key: (one.value, one.layer) for one in asked.settings}
    assert layers["timeout"] == (90_000, "run")
    assert layers["outputBytes"] == (200 * 1024 * 1024, "adapter default")
    job = world.s.jobs_dir / asked.id
    [written] = job.rglob("job.json")
    assert json.loads(written.read_text())["limits"]["timeout_s"] == 90
    # An answer goes on with the same run, as people see it.
    await world.answer(view.prompts[0], {"answers": [{"question_id": "q1", "text": "That."}]})
    view = await world.until(task, "review")
    assert view.runs[-1].overrides.run == queued.overrides.run
    assert view.runs[-1].model == "big"


async def test_parameters_of_a_hook_win_over_the_files(world: World) -> None:
    await save(world, started_with(world, "told", timeout=70_000, model="hooked"))
    world.configure({"agents": {"scripted": {"timeout": 60_000, "maxTurns": 9}}})
    task = await world.start(GREETING, pipeline="told")
    view = await world.until(task, "review")
    assert view.runs[0].settings
    layers = {one.key: (one.value, one.layer) for one in view.runs[0].settings}
    assert layers["timeout"] == (70_000, "hook")
    assert layers["model"] == ("hooked", "hook")
    assert layers["maxTurns"] == (9, "project")
    assert view.runs[0].model == "hooked"


async def test_an_agent_without_a_system_prompt_is_told_it_first(world: World) -> None:
    world.configure({"agents": {"scripted": {"systemPrompt": "You are careful."}}})
    task = await world.start(GREETING, pipeline="simple")
    view = await world.until(task, "review")
    assert (view.runs[0].prompt or "").startswith("You are careful.\n\n# Instructions")


async def test_the_first_agent_decides_where_the_work_lies(world: World) -> None:
    run(world.repo, "branch", "next")
    world.configure({"agents": {"scripted": {"branchPrefix": "robot/", "baseBranch": "next"}}})
    task = await world.start(GREETING, pipeline="simple")
    view = await world.until(task, "review")
    assert (view.runs[0].branch or "").startswith("robot/")
    await world.review(task, "approved")
    await world.until(task, "done")
    assert "hello" in run(world.repo, "show", "next:greeting.txt")
    assert "hello" not in run(world.repo, "show", "main:greeting.txt")


REVIEWED = {
    "implement": GREETING["implement"],
    "review": [[{"say": "Looks fine."}]],
}


@pytest.mark.parametrize("assumed", [True, False])
async def test_silence_is_an_approval_only_where_that_is_configured(
    world: World, assumed: bool
) -> None:
    world.configure({"review": {"assumeApproved": assumed}})
    judged = started_with(world, "judged", mode="review")
    judged["transitions"].append(
        {
            "id": "passed",
            "from": "in_progress",
            "to": "done",
            "trigger": {"type": "agent_outcome", "outcome": "approved"},
        }
    )
    await save(world, judged)
    task = await world.start(REVIEWED, pipeline="judged")
    view = await world.until(task, "done" if assumed else "needs_decision")
    assert view.runs[0].outcome == ("approved" if assumed else None)


# ------------------------------------------------------------------------------- how many at a time


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"project": 1}, 'Project "a repo" has 1 of 1 agents at work.'),
        ({"agent": 1}, 'Agent "gated" has 1 of 1 runs at a time.'),
    ],
)
async def test_a_run_beyond_the_limit_waits_and_says_why(
    world: World, tmp_path: Path, limits: Mapping[str, int], said: str
) -> None:
    gate = tmp_path / "gate"
    gated(tmp_path / "home", gate, limits=limits)
    first = await world.start({}, pipeline="simple", title="First")
    await begun(world, first)
    second = await world.start({}, pipeline="simple", title="Second")
    view = await world.wait(second, lambda v: said in v.next_mover.text, said)
    assert said in view.why
    run = await live(world, second)
    assert run
    assert run.status is RunStatus.QUEUED
    gate.touch()
    await world.until(first, "review")
    await world.until(second, "review")


# ------------------------------------------------------------------------------- files that break


async def test_a_file_that_breaks_disturbs_no_run_and_is_told_once(
    world: World, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    gated(tmp_path / "home", gate)
    world.configure({"branchPrefix": "kept/"})
    task = await world.start({}, pipeline="simple")
    await begun(world, task)
    world.configure({"branchPrefx": "x/"})
    broken = await told(world, task, "config.broken")
    assert "what it said before holds on" in broken
    place = f"{world.repo}/.agents-manager/config.json has errors. line 1, branchPrefx"
    assert place in broken
    after = await world.start({}, pipeline="simple", title="Later")
    gate.touch()
    await world.until(task, "review")
    view = await world.until(after, "review")
    assert (view.runs[0].branch or "").startswith("kept/")
    assert (await world.types(task)).count("config.broken") == 1


async def test_a_file_that_breaks_while_no_agent_works_is_told_in_the_newest_task(
    world: World,
) -> None:
    old, new = [await world.create({}, title=title) for title in ("Old", "New")]
    world.configure({"branchPrefx": "x/"})
    assert "branchPrefx" in await told(world, new, "config.broken")
    assert "config.broken" not in await world.types(old)


async def test_a_server_that_starts_with_a_broken_file_waits_with_its_runs(
    tmp_path: Path, repo: Path
) -> None:
    home, gate = tmp_path / "home", tmp_path / "gate"
    home.mkdir()
    gated(home, gate, limits={"project": 1})
    async with worlds.working(home, repo) as world:
        task = await world.start({}, pipeline="simple")
        await begun(world, task)
        queued = await world.start({}, pipeline="simple", title="Later")
    world.configure({"chekcs": {}})
    async with worlds.working(home, repo) as world:
        said = 'line 1, chekcs: there is no key "chekcs". Did you mean "checks"?'
        view = await world.wait(queued, lambda v: said in v.next_mover.text, said)
        assert str(repo) in view.why
        assert "no run is started until it can" in await told(world, task, "config.broken")
        gate.touch()
        run = await live(world, task)
        assert run, "the agent at work was given up"
        world.configure({})
        assert (await world.until(task, "review")).runs[0].id == run.id
        await world.until(queued, "review")


async def test_a_role_has_its_agent_and_its_model(world: World) -> None:
    roles = {"plan": {"agent": "planner", "model": "deep"}, "implement": {"model": "quick"}}
    world.configure({"agents": {"planner": {"adapter": "scripted"}}, "roles": roles})
    world.project = await tasks.trust_project(world.s, world.project)
    script = {"plan": [says("plan_complete")], "implement": [work("one")]}
    task = await world.start(script, pipeline="feature")
    await world.until(task, "planned")
    await world.review(task, "approved")
    planned, built = (await world.until(task, "pr_review")).runs
    assert (planned.agent, planned.model) == ("planner", "deep")
    assert (built.agent, built.model) == ("scripted", "quick")
    assert [kept.layer for kept in built.settings or () if kept.key == "model"] == ["role"]


async def test_another_agent_in_a_role_is_not_given_its_model(world: World) -> None:
    roles = {"implement": {"agent": "builder", "model": "quick"}}
    agents = {"builder": {"adapter": "scripted"}, "other": {"adapter": "scripted"}}
    world.configure({"agents": agents, "roles": roles})
    world.project = await tasks.trust_project(world.s, world.project)
    task = await stopped(world)
    order = remedies.Order(agent="other")
    await world.s.store.write(lambda tx: remedies.start_run(tx, world.s, task.id, ANN, order))
    built, other = (await world.wait(task, lambda v: bool(v.prompts), "asked")).runs
    assert (built.agent, built.model) == ("builder", "quick")
    assert (other.agent, other.model) == ("other", None)
