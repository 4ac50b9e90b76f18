"""The engine: retries, policies, rollback, the sweep, and what no worker can get wrong twice."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from agents_manager import bootstrap
from agents_manager.domain.ids import EffectId
from agents_manager.domain.task import EffectRow, MergeMethod, Project, PullRequest, Task
from agents_manager.engine import dispatcher, durable
from agents_manager.errors import ForgeError, HostLocked
from agents_manager.flow import hooks, tasks
from agents_manager.flow.ports import Conflicted, Forges, Merged, OutsideForge, Services, Steps
from agents_manager.settings import Settings
from agents_manager.store.engines import sqlite_engine
from tests import worlds
from tests.worlds import ANN, GREETING


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "BACKOFF_S", 0.02)


@dataclass
class Moody:
    """The local forge behind a line that breaks a given number of times."""

    real: Forges
    failures: int
    calls: list[str] = field(default_factory=list)

    async def publish(
        self, project: Project, task: Task, branch: str, base: str, title: str, body: str
    ) -> PullRequest:
        self.calls.append("publish")
        if len(self.calls) <= self.failures:
            raise ForgeError("The line is dead.")
        return await self.real.publish(project, task, branch, base, title, body)

    async def merge(
        self, project: Project, pull: PullRequest, head_sha: str, method: MergeMethod
    ) -> Merged | Conflicted:
        return await self.real.merge(project, pull, head_sha, method)

    def needs_push(self, project: Project) -> bool:
        return self.real.needs_push(project)

    def outside(self, pull: PullRequest) -> OutsideForge | None:
        return self.real.outside(pull)


async def test_an_effect_that_fails_is_tried_again(tmp_path: Path, repo: Path) -> None:
    async with worlds.working(tmp_path / "home", repo) as world:
        forge = Moody(world.s.forge, failures=2)
        object.__setattr__(world.program.services, "forge", forge)
        task = await world.start(GREETING, pipeline="simple")
        await world.until(task, "review")
        await world.settled(task)
        assert forge.calls == ["publish"] * 3
        assert (await world.types(task)).count("hook.retried") == 2
        assert (await world.types(task)).count("pull_request.created") == 1


async def test_a_required_effect_that_finally_fails_takes_the_task_back(
    tmp_path: Path, repo: Path
) -> None:
    async with worlds.working(tmp_path / "home", repo) as world:
        forge = Moody(world.s.forge, failures=3)
        object.__setattr__(world.program.services, "forge", forge)
        task = await world.start(GREETING, pipeline="simple")
        view = await world.wait(
            task,
            lambda v: v.task.status == "in_progress" and bool(v.prompts),
            "rolled back",
        )
        assert "The line is dead." in view.prompts[0].payload["reason"]
        assert [h.result for h in await world.history(task)] == ["done", "done", "rolled_back"]
        await world.choose(task, "again")
        view = await world.until(task, "review")
        await world.settled(task)
        assert len(view.runs) == 1, "the work was there already; only the hook is done again"
        assert (await world.view(task)).pull is not None


@pytest.mark.slow
async def test_an_effect_whose_workflow_ended_without_it_is_repaired(
    tmp_path: Path, repo: Path
) -> None:
    """As after a crash of the engine between its own bookkeeping and ours."""
    async with worlds.working(tmp_path / "home", repo) as world:
        task = await world.start(GREETING, pipeline="simple")
        await world.until(task, "review")
        await world.settled(task)
        effect = EffectId(str((await world.history(task))[-1].hooks[0].effect))
        await world.s.store.write(
            lambda tx: tx.effects.update(effect, status="started", finished_at=None)
        )
        await world.settled(task)
        assert "hook.retried" in await world.types(task)
        assert (await world.view(task)).task.status == "review"


@pytest.mark.slow
async def test_an_effect_that_nobody_performs_is_taken_up_again(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a disk was full when the engine would have put down how it ended."""
    monkeypatch.setattr(dispatcher, "SWEEP_S", 0.1)
    async with worlds.working(tmp_path / "home", repo) as world:
        task = await world.start(GREETING, pipeline="simple")
        await world.until(task, "review")
        await world.settled(task)
        effect = EffectId(str((await world.history(task))[-1].hooks[0].effect))
        await left_pending(tmp_path / "home", world.s, effect)
        await world.settled(task)
        assert "hook.retried" not in await world.types(task)


async def left_pending(home: Path, s: Services, effect: EffectId, **values: object) -> None:
    """As if it had been begun and nothing were known of it since."""
    engine = sqlite_engine(home / "engine.db", immediate=True)
    changed = ", ".join(f"{name} = :{name}" for name in ("status", *values))
    which = {"id": f"{effect}:1", "status": "PENDING", **values}
    with engine.begin() as connection:
        for change in (
            f"UPDATE workflow_status SET {changed} WHERE workflow_uuid = :id",
            "DELETE FROM operation_outputs WHERE workflow_uuid = :id",
        ):
            assert connection.execute(text(change), which).rowcount > 0
    engine.dispose()
    await s.store.write(lambda tx: tx.effects.update(effect, status="started", finished_at=None))


@pytest.mark.slow
@pytest.mark.parametrize("recovery_s", [60.0, 0.0])
async def test_what_the_engine_may_still_recover_is_left_to_it(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch, recovery_s: float
) -> None:
    monkeypatch.setattr(dispatcher, "SWEEP_S", 0.1)
    monkeypatch.setattr(durable, "RECOVERY_S", recovery_s)
    async with worlds.working(tmp_path / "home", repo) as world:
        task = await world.start(GREETING, pipeline="simple")
        await world.until(task, "review")
        await world.settled(task)
        effect = EffectId(str((await world.history(task))[-1].hooks[0].effect))
    async with bootstrap.client(Settings(tmp_path / "home", None)) as program:
        # Without a version it is recovered late: never.
        await left_pending(tmp_path / "home", program.services, effect, application_version=None)
    async with worlds.working(tmp_path / "home", repo) as world:
        if recovery_s:
            await asyncio.sleep(2.0)
            open_now = await world.s.store.read(lambda tx: tx.effects.open(task.id))
            assert [row.status for row in open_now] == ["started"]
        else:
            await world.settled(task)


async def test_an_effect_that_was_handed_out_but_never_began_is_started(
    tmp_path: Path, repo: Path
) -> None:
    settings = Settings(tmp_path / "home", None)
    async with bootstrap.client(settings) as program:
        s = program.services
        project = await tasks.add_project(s, repo, None, None)
        new = tasks.NewTask(title="Left behind", pipeline="simple")
        task = await tasks.create(s, project, new, ANN)
        await tasks.move(s, task.id, ANN)
        effect = (await s.store.read(lambda tx: tx.effects.open(task.id)))[0]
        await s.store.write(lambda tx: tx.effects.update(effect.id, status="started"))
    async with worlds.working(tmp_path / "home", repo) as world:
        await world.until(task, "review")


async def test_without_a_worker_effects_wait(tmp_path: Path, repo: Path) -> None:
    async with bootstrap.client(Settings(tmp_path / "home", None)) as program:
        s = program.services
        project = await tasks.add_project(s, repo, None, None)
        task = await tasks.create(s, project, tasks.NewTask(title="Patience"), ANN)
        moved = await tasks.move(s, task.id, ANN)
        assert isinstance(moved, Task)
        assert moved.status == "planning"
        open_effects = await s.store.read(lambda tx: tx.effects.open(task.id))
        assert [(e.kind, e.status) for e in open_effects] == [("start_agent", "pending")]


async def test_two_workers_on_one_home(tmp_path: Path, repo: Path) -> None:
    async with worlds.working(tmp_path / "home", repo):
        with pytest.raises(HostLocked, match="already works on"):
            async with bootstrap.worker(Settings(tmp_path / "home", None)):
                pass


async def test_another_process_that_writes_wakes_the_worker(tmp_path: Path, repo: Path) -> None:
    async with worlds.working(tmp_path / "home", repo) as world:
        task = await world.create(GREETING, pipeline="simple")
        async with bootstrap.client(Settings(tmp_path / "home", None)) as other:
            await tasks.move(other.services, task.id, ANN)
        await world.until(task, "review")


async def test_performing_a_finished_effect_does_nothing(world: worlds.World) -> None:
    task = await world.start(GREETING, pipeline="simple")
    await world.until(task, "review")
    await world.settled(task)
    before = await world.events(task)

    class Never(Steps):
        async def run(self, name: str, fn: object) -> object:  # type: ignore[override]
            raise AssertionError("nothing is left to do")

    for entry in await world.history(task):
        for hook in entry.hooks:
            if hook.effect:
                await hooks.perform(hook.effect, 1, world.s, Never())  # type: ignore[arg-type]
    assert await world.events(task) == before


async def test_the_most_urgent_task_gets_the_first_free_place(tmp_path: Path, repo: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.json").write_text('{"limits": {"host": 1}, "defaultAgentType": "scripted"}')
    async with bootstrap.client(Settings(home, None)) as program:
        s = program.services
        project = await tasks.add_project(s, repo, None, None)
        for priority in ("low", "urgent", "high"):
            new = tasks.NewTask(title=priority, priority=priority, pipeline="simple")
            await tasks.move(s, (await tasks.create(s, project, new, ANN)).id, ANN)
    async with worlds.working(home, repo) as world:
        pages = {"task": None, "live": False, "after": None, "limit": 9}
        for task in await world.s.store.read(
            lambda tx: tx.tasks.page(project=None, status=None, after=None, limit=9)
        ):
            await world.until(task, "review")
        runs = await world.s.store.read(lambda tx: tx.runs.page(**pages))
        order = sorted(runs, key=lambda run: str(run.started_at))
        titles = [await world.s.store.read(lambda tx, r=r: tx.tasks.get(r.task_id)) for r in order]
        assert [task.title for task in titles] == ["urgent", "high", "low"]


async def test_a_delayed_effect_waits_for_its_time(world: worlds.World) -> None:
    task = await world.start(GREETING, pipeline="simple")
    await world.until(task, "review")
    await world.settled(task)
    now = world.s.clock.now()
    later = EffectRow(
        id=EffectId("later"),
        task_id=task.id,
        history_id=(await world.history(task))[-1].id,
        position=9,
        kind="notify",
        payload={"kind": "notify", "title": "It is time", "body": ""},
        policy="best_effort",
        status="pending",
        attempt=1,
        due_at=now + timedelta(seconds=0.6),
        error=None,
        result=None,
        created_at=now,
        finished_at=None,
    )
    await world.s.store.write(lambda tx: tx.effects.add(later))
    await world.settled(task)
    done = await world.s.store.read(lambda tx: tx.effects.get(later.id))
    assert done.status == "done"
    assert done.finished_at is not None
    assert done.finished_at >= later.due_at
