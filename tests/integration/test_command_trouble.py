"""Programs that misbehave as agents, all at once: each leaves a clear state, nothing is lost, and
nobody else is disturbed."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.run import RunStatus, Usage
from agents_manager.domain.task import Task
from agents_manager.engine.runners import DetachedRunners
from agents_manager.errors import TransitionRefused
from agents_manager.flow import tasks
from agents_manager.flow.ports import Ended, StopReason
from tests.integration.test_command_walk import COMMIT, configured, failed, started
from tests.repos import own_home, run
from tests.runner_jobs import DAEMON, processes_of
from tests.worlds import ANN, World, repo, working, world

pytestmark = pytest.mark.slow

__all__ = ["own_home", "repo", "world"]

SCRIPT = f"""
work() {{ echo "$AM_TASK_ID" >> work.txt; git add work.txt; {COMMIT} Work; }}
case "$(grep Title: "$1") $([ -e work.txt ] && echo again)" in
*floods*) work; yes | head -c 3000000 ;;
*fails*) work; exit 3 ;;
*idles*) ;;
*daemon*) work; {DAEMON} ;;
*again*) work ;;
*deletes*) work; rm -rf "$PWD" ;;
*detaches*) work; git checkout -q --detach; echo loose > loose.txt ;;
*merges*)
  git checkout -q -b other; echo a > greeting.txt; {COMMIT} A; git checkout -q -
  echo b > greeting.txt; {COMMIT} B; git merge -q other >&2; true ;;
*refuses*) trap '' TERM; {DAEMON}; work; echo up; while :; do sleep 1; done ;;
esac
"""


def committed(world: World, branch: str | None) -> str:
    """What the branch holds of the agent's work."""
    assert branch
    return run(world.repo, "show", f"{branch}:work.txt")


async def stop_when_up(world: World, task: Task) -> None:
    def up() -> bool:
        return bool(list(world.s.jobs_dir.glob(f"{run_id}/1/output")))

    view = await world.wait(task, lambda v: v.run is not None and bool(v.run.started_at), "running")
    assert view.run
    run_id = view.run.id
    async with asyncio.timeout(20):
        while not await asyncio.to_thread(up) or len(processes_of(run_id)) < 3:
            await asyncio.sleep(0.05)
    await tasks.stop_run(world.s, run_id, ANN)


@pytest.mark.worktree
async def test_all_kinds_of_misbehaviour(world: World) -> None:
    await configured(world, SCRIPT, outputBytes=1_000_000)
    kinds = ("floods", "fails", "idles", "daemon", "deletes", "detaches", "merges", "refuses")
    made = {kind: await started(world, title=f"It {kind}") for kind in kinds}
    await stop_when_up(world, made["refuses"])
    view = await world.wait(made["refuses"], lambda v: bool(v.prompts), "a question")
    assert view.runs[0].status is RunStatus.CANCELLED

    for kind, error in (
        ("floods", "bad_output: The agent printed more than is kept of its output"),
        ("fails", "crash: The agent exited with code 3."),
        ("deletes", "environment: "),
        ("detaches", "environment: "),
    ):
        view, found = await failed(world, made[kind])
        assert found.startswith(error), kind
        assert view.task.status == "needs_decision"
        assert (await world.types(made[kind])).count("agent.failed") == 1
        assert committed(world, view.runs[0].branch) == made[kind].id

    view, found = await failed(world, made["deletes"])
    assert "is no longer a worktree" in found
    await world.choose(made["deletes"], "again")
    await world.until(made["deletes"], "review")
    view, found = await failed(world, made["detaches"])
    assert "cannot be committed" in found
    await world.choose(made["detaches"], "again")
    await world.until(made["detaches"], "review")
    saved = run(world.repo, "for-each-ref", "--format=%(refname)", "refs/agents-manager/snapshots")
    assert made["detaches"].id in saved

    _, found = await failed(world, made["merges"])
    assert found.endswith("files with unresolved conflicts.")

    view = await world.wait(made["idles"], lambda v: bool(v.prompts), "a decision")
    assert (view.task.status, view.runs[0].outcome) == ("needs_decision", "no_changes")

    view = await world.until(made["daemon"], "review")
    assert processes_of(view.runs[0].id) == []
    for task in made.values():
        for each in (await world.view(task)).runs:
            assert processes_of(each.id) == []


async def test_two_starts_of_one_task_are_one_run(world: World) -> None:
    await configured(world, SCRIPT)
    new = tasks.NewTask(title="It idles", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    async with asyncio.TaskGroup() as group:
        moves = [group.create_task(_tried(world, task)) for _ in range(4)]
    assert sorted(move.result() for move in moves) == [False, False, False, True]
    await world.wait(task, lambda v: bool(v.prompts), "a decision")
    assert (await world.types(task)).count("agent.started") == 1


async def _tried(world: World, task: Task) -> bool:
    try:
        await tasks.move(world.s, task.id, ANN, to="in_progress")
    except TransitionRefused:
        return False
    return True


async def test_closed_output_is_silence(world: World) -> None:
    await configured(world, "exec >&- 2>&-; sleep 60", silenceTimeout=500)
    _, error = await failed(world, await started(world))
    assert error == "stalled: The agent said nothing for too long."


SPENT = r"""
cat <<'END'
{"type": "usage", "input_tokens": 7, "cost_usd": 0.25}
{"type": "result", "session": "s-1", "text": "<<<OUTCOME:pr_ready>>>\n<<<END_PAYLOAD>>>"}
END
sleep 60 & sleep 60 & wait
"""


@pytest.mark.parametrize(
    ("settings", "ends"),
    [
        pytest.param({"timeout": 500}, RunStatus.TIMEOUT, id="timeout"),
        pytest.param({"silenceTimeout": 500}, RunStatus.FAILED, id="stalled"),
    ],
)
async def test_one_that_is_cut_short_keeps_its_cost_and_session(
    world: World, settings: Any, ends: RunStatus
) -> None:
    """Its outcome is not listened to, whatever it had said."""
    await configured(world, SPENT, **settings)
    view, _ = await failed(world, await started(world))
    (cut,) = view.runs
    assert (cut.status, cut.outcome, cut.session) == (ends, None, "s-1")
    assert cut.usage == Usage(input_tokens=7, cost_usd=0.25)
    assert cut.cost_usd == 0.25
    assert view.prompts[0].resume.session == "s-1"


class Held(DetachedRunners):
    """Tells one of those who wait for the end of a job later than the other."""

    def __init__(self, held: str) -> None:
        super().__init__()
        self._held = held
        self.released = asyncio.Event()

    async def wait(self, dir: Path) -> Ended:
        ended = await super().wait(dir)
        await self._hold("run")
        return ended

    async def stop(self, dir: Path, reason: StopReason = "cancelled") -> None:
        await super().stop(dir, reason)
        await self._hold("stop")

    async def _hold(self, who: str) -> None:
        if who == self._held:
            await self.released.wait()


@pytest.mark.parametrize("held", ["run", "stop"])
async def test_one_that_is_stopped_keeps_them_whoever_ends_it(
    tmp_path: Path, repo: Path, held: str
) -> None:
    runners = Held(held)
    async with working(tmp_path / "home", repo, runners=runners) as world:
        await configured(world, SPENT)
        task = await started(world)
        await stop_when_up(world, task)
        view = await world.wait(task, lambda v: v.run is None, "stopped")
        (cut,) = view.runs
        assert (cut.status, cut.outcome, cut.session) == (RunStatus.CANCELLED, None, "s-1")
        assert cut.usage == Usage(input_tokens=7, cost_usd=0.25)
        assert cut.cost_usd == 0.25
        runners.released.set()
        view = await world.wait(task, lambda v: bool(v.prompts), "a question")
        assert view.prompts[0].resume.session == "s-1"
