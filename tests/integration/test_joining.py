"""The join, without anybody beside who performs effects: what happens between the end of the last
of a group and what follows from it."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agents_manager import bootstrap
from agents_manager.bootstrap import Program
from agents_manager.domain import pipeline
from agents_manager.domain.run import ErrorClass, Run, RunStatus
from agents_manager.domain.task import EffectRow, Project, Task
from agents_manager.flow import hooks, tasks
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import close
from agents_manager.flow.runs.verdict import Verdict, trouble
from agents_manager.settings import Settings
from tests.asking import Clock
from tests.engine_walk import AtOnce
from tests.repos import make_repo, scripted_home
from tests.repos import run as git
from tests.stage_samples import SAMPLES
from tests.staged_walk import FILES, SHORT, builder
from tests.worlds import ANN, NO_RETRIES

REPORTS = [builder(n, f"F{n}", file)[-1]["outcome"]["payload"] for n, file in ((1, "a"), (2, "b"))]


class Wave:
    """Two builders of the sample plan, who are at work."""

    def __init__(self, s: Services, repo: Path, task: Task) -> None:
        self.s, self.repo, self.task = s, repo, task

    async def live(self) -> list[Run]:
        return await self.s.store.read(lambda tx: tx.runs.live(self.task.id))

    async def status(self) -> str:
        return (await self.s.store.read(lambda tx: tx.tasks.get(self.task.id))).status

    async def told(self) -> list[str]:
        read = self.s.store.read
        log = await read(lambda tx: tx.events.of_task(self.task.id, after_seq=0, limit=500))
        return [e.type for e in log]

    async def end(self, run: Run, verdict: Verdict | None = None) -> None:
        report = REPORTS[int(run.part[-1]) - 1]
        done = Verdict(outcome="build_report", payload=report, inferred=False)
        await close.close(run.id, verdict or done, self.s)

    async def joins(self) -> list[EffectRow]:
        found = await self.s.store.read(lambda tx: tx.effects.open(self.task.id))
        return [effect for effect in found if effect.kind == "join_parts"]

    async def join(self) -> None:
        for effect in await self.joins():
            await hooks.perform(effect.id, effect.attempt, self.s, AtOnce())


@pytest.fixture
async def program(tmp_path: Path, own_home: Path) -> AsyncIterator[Program]:
    place = Settings(scripted_home(tmp_path / "home", **NO_RETRIES), None)
    async with bootstrap.client(place, clock=Clock()) as program:
        yield program


@pytest.fixture
async def wave(program: Program, tmp_path: Path) -> Wave:
    s, repo = program.services, make_repo(tmp_path / "shop", FILES)
    project = await tasks.add_project(s, repo, None, None)
    parsed, now = pipeline.parse(SHORT), s.clock.now()
    await s.store.write(lambda tx: tx.pipelines.save(parsed, SHORT, now))
    new = tasks.NewTask(title="Build", pipeline="short")
    task = await tasks.create(s, project, new, ANN)
    await tasks.move(s, task.id, ANN)
    made = Wave(s, repo, task)
    (planner,) = await made.live()
    plan = Verdict(
        outcome="implementation_plan", payload=SAMPLES["implementation_plan"], inferred=False
    )
    await close.close(planner.id, plan, s)
    git(repo, "branch", _branch(task))
    for run in await made.live():
        await _begin(s, repo, project, run)
    return made


def _branch(task: Task) -> str:
    return f"agent/build-{task.id[:8]}"


async def _begin(s: Services, repo: Path, project: Project, run: Run) -> None:
    """What the first steps of a run leave behind, and a commit of its own."""
    branch = f"agent/build-{run.task_id[:8]}--part-{run.part}"
    tree = git(repo, "write-tree")
    made = git(repo, "commit-tree", tree, "-p", "main", "-m", f"Of {run.part}")
    git(repo, "branch", branch, made)
    begun = {"status": RunStatus.RUNNING, "agent": "scripted", "started_at": s.clock.now()}
    await s.store.write(lambda tx: tx.runs.update(run.id, branch=branch, **begun))


async def test_builders_stand_in_the_order_of_their_parts_by_a_stopped_clock(wave: Wave) -> None:
    runs = await wave.live()
    assert [run.part for run in runs] == ["1-1", "1-2"]
    assert runs[0].created_at < runs[1].created_at


async def test_nothing_follows_until_the_last_has_ended_and_then_once(wave: Wave) -> None:
    first, second = await wave.live()
    await wave.end(second)
    assert (await wave.joins(), await wave.status()) == ([], "building")
    await wave.end(first)
    (effect,) = await wave.joins()
    assert effect.id == f"{first.id}-join"
    await wave.join()
    assert await wave.status() == "done"
    before = await wave.told()
    await hooks.perform(effect.id, effect.attempt, wave.s, AtOnce())  # As after a crash.
    assert await wave.told() == before
    log = git(wave.repo, "log", "--first-parent", "--format=%s", _branch(wave.task))
    assert len([line for line in log.splitlines() if line.startswith("Put ")]) == 2


async def test_a_task_that_was_cancelled_in_between_stays_so(wave: Wave) -> None:
    for run in await wave.live():
        await wave.end(run)
    await tasks.move(wave.s, wave.task.id, ANN, to="cancelled")
    await wave.join()
    assert await wave.status() == "cancelled"
    assert "part.left" in await wave.told()
    assert git(wave.repo, "rev-parse", _branch(wave.task)) == git(wave.repo, "rev-parse", "main")


async def test_a_task_that_was_moved_in_between_keeps_the_work_and_its_place(wave: Wave) -> None:
    for run in await wave.live():
        await wave.end(run)

    def elsewhere(tx: Tx) -> None:
        entry = tx.history.of_task(wave.task.id)[-1]
        moved = tx.tasks.move(tx.tasks.get(wave.task.id), "debugging", wave.s.clock.now())
        by_hand = {"id": "by-hand", "source": "building", "to": "debugging"}
        tx.history.add(replace(entry, version=moved.version, **by_hand))

    await wave.s.store.write(elsewhere)
    await wave.join()
    assert await wave.status() == "debugging"
    assert (await wave.told()).count("part.joined") == 2


async def test_who_failed_speaks_for_all_of_them(wave: Wave) -> None:
    first, second = await wave.live()
    await wave.end(first, trouble("No.", ErrorClass.AUTH))
    await wave.end(second)
    await wave.join()
    assert await wave.status() == "failed"
    assert (await wave.told()).count("part.joined") == 1


async def test_what_cannot_be_joined_for_another_reason_goes_to_the_debugger(wave: Wave) -> None:
    """The branch of the second is gone, and trying again does not help."""
    runs = await wave.live()
    git(wave.repo, "branch", "-D", runs[1].branch or "")
    for run in runs:
        await wave.end(run)
    for _ in range(hooks.MAX_ATTEMPTS):
        await wave.join()
    assert await wave.status() == "debugging"
    (debugger,) = await wave.live()
    assert (debugger.mode, debugger.part) == ("debugger", "")


async def test_a_run_that_is_called_off_is_run_again_in_its_part(wave: Wave) -> None:
    first, second = await wave.live()
    await tasks.stop_run(wave.s, first.id, ANN)
    (order,) = [
        e
        for e in await wave.s.store.read(lambda tx: tx.effects.open(wave.task.id))
        if e.kind == "stop_agent"
    ]
    await hooks.perform(order.id, order.attempt, wave.s, AtOnce())
    assert [run.id for run in await wave.live()] == [second.id]
    await wave.end(second)
    await wave.join()
    assert await wave.status() == "building"
    (asked,) = await wave.s.store.read(lambda tx: tx.prompts.pending(wave.task.id))
    assert "stopped" in asked.payload["reason"]
