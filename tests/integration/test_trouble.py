"""When agents, checks and merges go wrong: each a clear state, a way out, and nothing lost."""

import asyncio
import json
from importlib.resources import files
from pathlib import Path

import pytest

from agents_manager.domain import pipeline
from agents_manager.domain.run import ErrorClass, RunStatus
from agents_manager.domain.task import ArtifactType
from agents_manager.errors import TransitionRefused
from agents_manager.flow import tasks
from agents_manager.flow.tasks import Stopping
from tests import repos, worlds
from tests.worlds import ANN, GREETING, World

PLAN = {"plan": [[{"say": "# Plan"}, {"outcome": "plan_complete"}]]}

DONE = '<<<OUTCOME:no_changes>>>\n{"reason": "none needed"}\n<<<END_PAYLOAD>>>'


def script(*visits: list[dict[str, object]]) -> dict[str, object]:
    return {"implement": list(visits)}


@pytest.mark.parametrize(
    ("steps", "error_class", "words"),
    [
        ([{"say": DONE}, {"crash": 3}], ErrorClass.CRASH, "exited with code 3"),
        ([{"malformed": "<<<OUTCOME:pr_ready>>>"}], ErrorClass.BAD_OUTPUT, "no closing"),
        ([{"outcome": {"name": "nonsense"}}], ErrorClass.BAD_OUTPUT, 'no outcome "nonsense"'),
        ([{"outcome": "plan_complete"}], ErrorClass.BAD_OUTPUT, "is not possible here"),
        ([{"wriet": {}}], ErrorClass.ENVIRONMENT, "write"),
    ],
)
@pytest.mark.slow
async def test_a_failed_run_waits_for_a_choice_and_can_be_run_again(
    world: World, steps: list[dict[str, object]], error_class: ErrorClass, words: str
) -> None:
    visits = [{"steps": steps, "repair": steps}, GREETING["implement"][0]]
    task = await world.start({"implement": visits}, pipeline="simple")
    view = await world.until(task, "needs_decision")
    run = view.runs[0]
    assert run.error is not None
    assert run.error.error_class is error_class
    assert words in run.error.error
    assert words in view.prompts[0].payload["reason"]
    if error_class is ErrorClass.ENVIRONMENT:
        return  # A script with an error has no second visit to play.
    await world.choose(task, "again")
    await world.until(task, "review")


async def test_a_malformed_outcome_is_repaired_in_the_same_session(world: World) -> None:
    broken = {
        "steps": [*GREETING["implement"][0][:2], {"malformed": "<<<OUTCOME:pr_ready>>>\n{"}],
        "repair": [{"outcome": "pr_ready"}],
    }
    task = await world.start({"implement": [broken]}, pipeline="simple")
    view = await world.until(task, "review")
    assert len(view.runs) == 1
    assert "agent.output_refused" in await world.types(task)


async def test_work_that_is_ready_but_empty_is_no_change(world: World) -> None:
    task = await world.start(script([{"outcome": "pr_ready"}]), pipeline="simple")
    view = await world.until(task, "needs_decision")
    assert view.runs[0].outcome == "no_changes"
    await world.choose(task, "finish")
    await world.until(task, "done")


async def test_what_an_agent_leaves_uncommitted_is_committed(world: World) -> None:
    task = await world.start(
        script([{"write": {"path": "new.txt", "text": "x"}}]), pipeline="simple"
    )
    view = await world.until(task, "review")
    assert view.runs[0].outcome == "pr_ready"
    await world.review(task, "approved")
    await world.until(task, "done")
    assert (world.repo / "new.txt").read_text() == "x"


async def test_a_failed_check_stops_the_outcome(world: World) -> None:
    world.configure(
        {
            "checks": {"test": {"command": "cat greeting.txt; [ $(wc -l < greeting.txt) != 2 ]"}},
            "maxFixRounds": 0,
        }
    )
    world.project = await tasks.trust_project(world.s, world.project)
    task = await world.start(GREETING, pipeline="simple")
    view = await world.until(task, "needs_decision")
    assert view.runs[0].error is not None
    assert view.runs[0].error.error_class is ErrorClass.CHECKS_FAILED
    assert "agent.checks_failed" in await world.types(task)
    assert view.prompts[0].payload["evidence"] == "hi\nhello\n"
    await world.choose(task, "again")
    await world.until(task, "review")
    assert "agent.checks_passed" in await world.types(task)


async def test_only_what_was_checked_counts_as_checked(world: World) -> None:
    """Here the branch goes on while the checks look at its commit."""
    git = f"git -C '{world.repo}'"
    branch = f"$({git} for-each-ref --format='%(refname)' refs/heads/agent)"
    later = f"$({git} commit-tree -p {branch} -m Later {branch}^{{tree}})"
    world.configure({"checks": {"test": {"command": f"{git} update-ref {branch} {later}"}}})
    world.project = await tasks.trust_project(world.s, world.project)
    task = await world.start(GREETING, pipeline="simple")
    view = await world.until(task, "review")
    (change,) = [a for a in view.artifacts if a.type is ArtifactType.DIFF]
    assert change.data["checks_passed"]
    assert change.data["head_sha"] == view.runs[0].head_sha
    assert change.data["head_sha"] != repos.sha(world.repo, change.data["branch"])


async def test_commands_that_changed_since_they_were_trusted_do_not_run(
    world: World, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    world.configure({"checks": {"test": {"command": f"touch '{canary}'"}}})
    task = await world.start(GREETING, pipeline="simple")
    view = await world.until(task, "needs_decision")
    reason = view.prompts[0].payload["reason"]
    assert f"""checks.test is new: "touch '{canary}'".""" in reason
    assert "am project trust" in reason
    assert not canary.exists()
    world.project = await tasks.trust_project(world.s, world.project)
    await world.choose(task, "again")
    await world.until(task, "review")
    assert canary.exists()


@pytest.mark.slow
async def test_a_conflict_sends_the_agent_back_to_work(world: World) -> None:
    """The second visit takes the base's text, so that the second merge goes through."""
    resolve: list[dict[str, object]] = [
        {"write": {"path": "greeting.txt", "text": "hey\n"}},
        {"commit": "Take theirs"},
        {"outcome": "pr_ready"},
    ]
    first: list[dict[str, object]] = [
        {"write": {"path": "greeting.txt", "text": "hello\n"}},
        {"commit": "Mine"},
        {"outcome": "pr_ready"},
    ]
    task = await world.start(script(first, resolve), pipeline="simple")
    await world.until(task, "review")
    repos.commit(world.repo, {"greeting.txt": "hey\n"}, "Theirs")
    await world.review(task, "approved")
    await world.wait(task, lambda v: v.task.status == "review" and len(v.runs) == 2, "reworked")
    assert "pull_request.conflict" in await world.types(task)
    await world.review(task, "approved")
    await world.until(task, "done")
    assert (world.repo / "greeting.txt").read_text() == "hey\n"


@pytest.mark.worktree
async def test_a_branch_that_moved_after_the_approval_is_not_merged(world: World) -> None:
    """The approval is taken back; the reopened question shows the branch as it is now."""
    task = await world.start(GREETING, pipeline="simple")
    view = await world.until(task, "review")
    await world.settled(task)
    branch = view.prompts[0].payload["branch"]
    tree = Path(str(view.runs[0].workspace))
    repos.commit(tree, {"late.txt": "sneaked in\n"}, "Late")
    await world.review(task, "approved")
    view = await world.wait(
        task, lambda v: bool(v.prompts) and v.prompts[0].revision == 2, "reopened"
    )
    assert view.task.status == "review"
    assert "merge_pr failed" in str(view.prompts[0].note)
    assert view.prompts[0].payload["head_sha"] == repos.sha(world.repo, branch)
    assert not (world.repo / "late.txt").exists()
    assert (await world.history(task))[-1].result == "rolled_back"
    await world.review(task, "approved")
    await world.until(task, "done")
    assert (world.repo / "late.txt").exists()


async def parkable(world: World) -> None:
    """`simple`, with a move by hand that does not stop the agent by itself."""
    base = json.loads(files("agents_manager").joinpath("pipelines/simple.json").read_text())
    park = {"id": "park", "from": "in_progress", "to": "open", "trigger": "manual"}
    document = {**base, "id": "parkable", "transitions": [*base["transitions"], park]}
    parsed = pipeline.parse(document)
    now = world.s.clock.now()
    await world.s.store.write(lambda tx: tx.pipelines.save(parsed, document, now))


@pytest.mark.parametrize(("to", "stop"), [("open", True), ("cancelled", False)])
async def test_a_running_agent_stands_in_the_way_until_it_is_stopped(
    world: World, to: str, stop: bool
) -> None:
    await parkable(world)
    task = await world.start(script([{"hang": True}]), pipeline="parkable")
    view = await world.wait(
        task, lambda v: v.run is not None and v.run.status is RunStatus.RUNNING, "running"
    )
    assert view.run is not None
    with pytest.raises(TransitionRefused, match=view.run.id):
        await tasks.move(world.s, task.id, ANN, to="open")
    stopping = await tasks.move(world.s, task.id, ANN, to=to, stop=stop)
    assert isinstance(stopping, Stopping)
    view = await world.until(task, to)
    assert view.runs[0].status is RunStatus.CANCELLED
    types = await world.types(task)
    assert types.index("agent.cancelled") < len(types) - 1 - types[::-1].index("status.changed")


async def test_a_stopped_run_leaves_the_task_with_a_choice(world: World) -> None:
    task = await world.start(script([{"hang": True}], GREETING["implement"][0]), pipeline="simple")
    view = await world.wait(task, lambda v: v.run is not None and bool(v.run.started_at), "running")
    assert view.run is not None
    await tasks.stop_run(world.s, view.run.id, ANN)
    view = await world.wait(task, lambda v: bool(v.prompts), "the choice")
    assert view.task.status == "in_progress"
    assert view.runs[0].status is RunStatus.CANCELLED
    await world.choose(task, "rerun")
    await world.until(task, "review")


async def test_a_move_by_force_needs_an_admin_and_is_marked(world: World) -> None:
    first = await world.create(GREETING, pipeline="simple", title="First")
    second = await world.create(GREETING, pipeline="simple", dependencies=[first.id])
    with pytest.raises(TransitionRefused, match='waits for "First"'):
        await tasks.move(world.s, second.id, ANN, to="in_progress")
    nobody = ANN.model_copy(update={"admin": False})
    with pytest.raises(TransitionRefused, match="Only an admin"):
        await tasks.move(world.s, second.id, nobody, to="in_progress", force=True)
    await tasks.move(world.s, second.id, ANN, to="in_progress", force=True)
    assert [h.result for h in await world.history(second)][:2] == ["refused", "forced"]
    await world.until(second, "review")


async def test_a_live_run_survives_the_end_of_its_server(tmp_path: Path, repo: Path) -> None:
    """Stopped politely in the middle of a run, the next server finds the same agent."""
    slow = script([{"sleep": 1.5}, *GREETING["implement"][0]])
    async with worlds.working(tmp_path / "home", repo) as world:
        task = await world.start(slow, pipeline="simple")
        await world.wait(task, lambda v: v.run is not None and bool(v.run.started_at), "running")
        await asyncio.sleep(0.3)
    async with worlds.working(tmp_path / "home", repo) as world:
        view = await world.until(task, "review")
        assert len(view.runs) == 1
        assert (await world.types(task)).count("agent.started") == 1
        assert "hook.retried" not in await world.types(task)


async def test_a_live_agent_goes_on_though_it_could_not_be_started_now(
    tmp_path: Path, repo: Path
) -> None:
    home, finish = tmp_path / "home", tmp_path / "finish"
    program = repos.executable(tmp_path / "mine", f"until [ -e {finish} ]; do sleep 0.1; done")
    mine = {"adapter": "command", "command": [str(program)]}
    repos.scripted_home(home, defaultAgentType="mine", agents={"mine": mine}, **worlds.NO_RETRIES)
    async with worlds.working(home, repo) as world:
        task = await world.start({}, pipeline="simple")
        await world.wait(task, lambda v: v.run is not None and bool(v.run.started_at), "running")
        async with asyncio.timeout(20):
            while not [*world.s.jobs_dir.glob("*/1/runner.json")]:
                await asyncio.sleep(0.05)
    program.unlink()
    async with worlds.working(home, repo) as world:
        finish.touch()
        view = await world.wait(task, lambda v: bool(v.prompts), "a decision")
        assert [(run.status, run.outcome) for run in view.runs] == [
            (RunStatus.COMPLETED, "no_changes")
        ]


@pytest.mark.slow
async def test_a_lost_engine_file_loses_no_work(tmp_path: Path, repo: Path) -> None:
    slow = script([{"sleep": 1.0}, *GREETING["implement"][0]])
    async with worlds.working(tmp_path / "home", repo) as world:
        task = await world.start(slow, pipeline="simple")
        await world.wait(task, lambda v: v.run is not None and bool(v.run.started_at), "running")
        await asyncio.sleep(0.3)
    for file in (tmp_path / "home").glob("engine.db*"):
        file.unlink()
    async with worlds.working(tmp_path / "home", repo) as world:
        view = await world.until(task, "review")
        assert len(view.runs) == 1
