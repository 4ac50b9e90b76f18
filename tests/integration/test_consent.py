"""Agents that nothing keeps in work only where a person allowed it, and say so."""

import asyncio
from pathlib import Path

import pytest

from agents_manager import bootstrap, built_in
from agents_manager.cli.pages.run import page
from agents_manager.cli.render import Line, Tone
from agents_manager.domain.run import RunStatus
from agents_manager.errors import AgentNotFound
from agents_manager.flow import agents, tasks
from agents_manager.flow.pulls import UNKEPT
from agents_manager.settings import Settings
from tests.integration.test_policy_files import by_itself
from tests.repos import executable, own_home
from tests.runner_jobs import eventually, processes_of
from tests.worlds import ANN, GREETING, World, repo, working, world

__all__ = ["own_home", "repo", "world"]

AGENT = {"mine": {"adapter": "command", "command": ["./agent.sh"]}}


WORKS = "echo hello >> greeting.txt"


async def configured(world: World, *, consent: bool, script: str = WORKS) -> None:
    executable(world.repo / "agent.sh", script)
    world.configure({"defaultAgentType": "mine", "agents": AGENT})
    world.project = await tasks.trust_project(world.s, world.project)
    world.project = await agents.consent(world.s, world.project, given=consent)


async def test_without_consent_a_run_is_refused_with_the_way_out(world: World) -> None:
    await configured(world, consent=False)
    new = tasks.NewTask(title="Add greeting", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    view = await world.wait(task, lambda v: bool(v.prompts), "a question")
    error = view.runs[0].error
    assert error is not None
    assert error.error.startswith('Agent "mine" would work without a sandbox')
    assert error.error.endswith(f"am project consent {world.project.name}")
    assert "agent.started" not in await world.types(task)
    assert (world.repo / "greeting.txt").read_text() == "hi\n"


async def test_with_consent_it_works_and_is_called_unsandboxed(world: World) -> None:
    await configured(world, consent=True)
    new = tasks.NewTask(title="Add greeting", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    view = await world.until(task, "review")
    assert (view.runs[0].status, view.runs[0].sandbox) == (RunStatus.COMPLETED, "none")
    told = [e.summary for e in await world.events(task) if e.type == "agent.started"]
    assert told == ["mine started (implement, unsandboxed)."]
    shown = [block for block in page(view.runs[0], "Add greeting") if isinstance(block, Line)]
    red = [line.text for line in shown if line.tone is Tone.REMOVED]
    assert red == ["Sandbox   none: the agent worked unsandboxed"]


async def test_its_work_is_marked_and_not_merged_without_a_person(world: World) -> None:
    """A pipeline that asks nobody merges the work of others by itself."""
    await by_itself(world)
    await configured(world, consent=True)
    new = tasks.NewTask(title="Add greeting", pipeline="by-itself", description="Say hello.")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    view = await world.wait(task, lambda v: v.run is None and bool(v.prompts), "asked")
    assert "was made without a sandbox. A person has to approve it." in view.why
    [pull] = await world.s.store.read(lambda tx: tx.pulls.all_of_task(task.id))
    assert pull.body == f"{UNKEPT}Say hello."
    assert pull.body.startswith("> [!CAUTION]\n> **Made without a sandbox.**")
    assert (world.repo / "greeting.txt").read_text() == "hi\n"


async def test_a_person_may_approve_it(world: World) -> None:
    await configured(world, consent=True)
    new = tasks.NewTask(title="Add greeting", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    await world.until(task, "review")
    await world.settled(task)
    await world.review(task, "approved")
    await world.until(task, "done")
    assert (world.repo / "greeting.txt").read_text() == "hi\nhello\n"


async def test_a_scripted_agent_needs_none(world: World) -> None:
    world.project = await agents.consent(world.s, world.project, given=False)
    task = await world.start(GREETING, pipeline="simple")
    view = await world.until(task, "review")
    assert view.runs[0].sandbox is None
    told = [e.summary for e in await world.events(task) if e.type == "agent.started"]
    assert told == ["scripted started (implement)."]


async def test_what_nobody_trusts_is_not_even_looked_at(world: World) -> None:
    """Asking a program for its version runs it."""
    ran = world.repo / "ran"
    executable(world.repo / "codex.sh", f"touch '{ran}'")
    world.configure({"agents": {"codex": {"command": ["./codex.sh"]}}})
    (found,) = await agents.examine(world.s, world.project, "codex")
    assert not found.usable
    assert "am project trust" in found.diagnosis.missing[0]
    assert not ran.exists()
    world.project = await tasks.trust_project(world.s, world.project)
    await agents.examine(world.s, world.project, "codex")
    assert ran.exists()


async def test_every_agent_can_be_examined(world: World) -> None:
    found = await agents.examine(world.s, None)
    named = {one.name: one for one in found}
    assert list(named) == sorted(built_in.adapters().ready)
    assert named["scripted"].usable
    with pytest.raises(AgentNotFound, match='Did you mean "codex"'):
        await agents.examine(world.s, None, "codx")


@pytest.mark.slow
async def test_consent_that_is_gone_after_a_restart_ends_the_agent(
    tmp_path: Path, repo: Path
) -> None:
    home = tmp_path / "home"
    async with working(home, repo) as world:
        await configured(world, consent=True, script="sleep 60")
        new = tasks.NewTask(title="Add greeting", pipeline="simple")
        task = await tasks.create(world.s, world.project, new, ANN)
        await tasks.move(world.s, task.id, ANN)
        view = await world.wait(task, lambda v: bool(v.run and v.run.workspace), "a run")
        assert view.run
        run_id = view.run.id
        await asyncio.to_thread(eventually, lambda: processes_of(run_id))
        await agents.consent(world.s, world.project, given=False)
    async with bootstrap.worker(Settings(home, None)) as program:
        world = World(program, repo, world.project)
        view = await world.wait(task, lambda v: bool(v.prompts), "a question")
    assert view.runs[0].error
    assert "would work without a sandbox" in view.runs[0].error.error
    assert processes_of(run_id) == []
