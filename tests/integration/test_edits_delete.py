"""Deleting tasks, and performing failed hooks once more."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agents_manager import bootstrap
from agents_manager.domain import pipeline, registry
from agents_manager.domain.effects import DeleteWorktree, StartAgent
from agents_manager.domain.ids import EffectId
from agents_manager.domain.pipeline import Policy
from agents_manager.domain.plugin import HookCall
from agents_manager.domain.task import EffectRow, Task
from agents_manager.errors import ExternalError, ProjectInUse, RetryRefused, TaskInUse, TaskNotFound
from agents_manager.flow import edits, hooks, planning, removal, tasks
from agents_manager.flow.ports import Tx
from agents_manager.settings import Settings
from tests import repos, worlds
from tests.engine_walk import AtOnce
from tests.worlds import ANN, GREETING, World

pytestmark = pytest.mark.slow

HANG = {"implement": [[{"hang": True}]]}


async def test_a_deleted_task_is_gone_and_its_branch_stays(world: World) -> None:
    task = await world.start(GREETING, pipeline="simple")
    view = await world.until(task, "review")
    await world.settled(task)
    branch, run = view.prompts[0].payload["branch"], view.runs[0]
    head = repos.sha(world.repo, branch)
    deleted = await removal.delete(world.s, task.id, ANN)
    assert (deleted.branches, deleted.released, deleted.left) == ((branch,), (), None)
    assert repos.sha(world.repo, branch) == head
    assert not (world.s.jobs_dir / run.id).exists()
    with pytest.raises(TaskNotFound):
        await world.view(task)
    with pytest.raises(TaskNotFound):
        await removal.delete(world.s, task.id, ANN)
    assert await world.s.store.read(lambda tx: tx.prompts.pending()) == []
    await hooks.perform(run.effect_id, 1, world.s, AtOnce())


async def test_a_task_with_a_live_run_is_not_deleted(world: World) -> None:
    task = await world.start(HANG, pipeline="simple")
    view = await world.wait(task, lambda v: v.run is not None and bool(v.run.started_at), "running")
    assert view.run is not None
    with pytest.raises(TaskInUse, match=f"while run {view.run.id}"):
        await removal.delete(world.s, task.id, ANN, force=True)
    await tasks.stop_run(world.s, view.run.id, ANN)
    await world.wait(task, lambda v: bool(v.prompts), "stopped")
    await world.settled(task)
    await removal.delete(world.s, task.id, ANN)


async def test_a_task_is_deleted_after_its_agent_was_stopped(world: World) -> None:
    task = await world.start(HANG, pipeline="simple")
    view = await world.wait(task, lambda v: v.run is not None and bool(v.run.started_at), "running")
    assert view.run is not None
    job = world.s.jobs_dir / view.run.id / "1"
    deleted = await removal.delete(world.s, task.id, ANN, stop=True)
    assert (deleted.task.id, deleted.left) == (task.id, None)
    assert not job.exists()
    assert await world.s.store.read(lambda tx: tx.effects.open()) == []


async def test_a_run_that_nothing_was_started_for_goes_with_its_task(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "PATIENCE", 0)
    async with bootstrap.client(Settings(tmp_path / "home", None)) as program:
        s = program.services
        project = await tasks.add_project(s, repo, None, None)
        task = await tasks.create(s, project, tasks.NewTask(title="T", pipeline="simple"), ANN)
        await tasks.move(s, task.id, ANN)
        with pytest.raises(TaskInUse, match="--stop stops it first"):
            await removal.delete(s, task.id, ANN)
        [effect] = await s.store.read(lambda tx: tx.effects.open())
        await s.store.write(lambda tx: tx.effects.update(effect.id, status="started"))
        with pytest.raises(TaskInUse, match="while the engine performs start_agent"):
            await removal.delete(s, task.id, ANN, stop=True)
        await s.store.write(lambda tx: tx.effects.update(effect.id, status="pending"))
        await removal.delete(s, task.id, ANN, stop=True)
        assert await s.store.read(lambda tx: tx.effects.open()) == []


async def test_a_run_that_does_not_end_keeps_its_task(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "PATIENCE", 0)
    task = await world.start(HANG, pipeline="simple")
    await world.wait(task, lambda v: v.run is not None and bool(v.run.started_at), "running")
    with pytest.raises(TaskInUse, match="it was told to stop; try again"):
        await removal.delete(world.s, task.id, ANN, stop=True)
    await world.wait(task, lambda v: bool(v.prompts), "stopped")


async def test_a_project_goes_with_its_tasks_and_leaves_the_repository(world: World) -> None:
    task = await world.start(GREETING, pipeline="simple")
    branch = (await world.until(task, "review")).prompts[0].payload["branch"]
    await world.settled(task)
    await world.create({}, pipeline="simple", title="Behind", dependencies=[task.id])
    head = repos.sha(world.repo, branch)
    with pytest.raises(ProjectInUse, match="has 2 tasks"):
        await removal.remove_project(world.s, world.project.name, ANN)
    removed = await removal.remove_project(world.s, world.project.name, ANN, force=True)
    assert (removed.tasks, removed.left) == (2, ())
    assert repos.sha(world.repo, branch) == head
    assert await world.s.store.read(lambda tx: tx.projects.all()) == []
    again = await tasks.add_project(world.s, world.repo, None, None)
    assert again.id != world.project.id


async def test_a_project_is_not_removed_while_an_agent_works(world: World) -> None:
    task = await world.start(HANG, pipeline="simple")
    await world.wait(task, lambda v: v.run is not None and bool(v.run.started_at), "running")
    with pytest.raises(ProjectInUse, match="while run"):
        await removal.remove_project(world.s, world.project.id, ANN, force=True)
    removed = await removal.remove_project(world.s, world.project.id, ANN, force=True, stop=True)
    assert removed.tasks == 1


async def test_the_own_pipelines_of_a_project_go_with_it(world: World) -> None:
    folder = world.repo / ".agents-manager" / "pipelines"
    folder.mkdir(parents=True)
    document = {**world.s.built_in["simple"], "id": "mine"}
    (folder / "mine.json").write_text(json.dumps(document))
    await world.create({}, pipeline="mine")
    await removal.remove_project(world.s, world.project.id, ANN, force=True)
    kept = await world.s.store.read(lambda tx: [p.id for p in tx.pipelines.all()])
    assert set(kept) == set(world.s.built_in)


async def test_a_task_that_others_wait_for_is_deleted_only_by_force(world: World) -> None:
    first = await world.create({}, pipeline="simple", title="First")
    second = await world.create({}, pipeline="simple", title="Second", dependencies=[first.id])
    with pytest.raises(TaskInUse, match="others wait for it") as refused:
        await removal.delete(world.s, first.id, ANN)
    assert refused.value.details == (f'Task "Second" ({second.id})',)
    deleted = await removal.delete(world.s, first.id, ANN, force=True)
    assert deleted.released == (second.id,)
    view = await world.view(second)
    assert (view.task.dependencies, view.next_mover.kind) == ((), "person")
    assert (await world.types(second))[-1] == "task.edited"


async def test_a_worktree_that_cannot_be_removed_is_told(world: World) -> None:
    task = await world.start(GREETING, pipeline="simple")
    await world.until(task, "review")
    await world.settled(task)
    world.repo.rename(world.repo.with_name("moved away"))
    deleted = await removal.delete(world.s, task.id, ANN)
    assert deleted.left
    world.repo.with_name("moved away").rename(world.repo)


class Deaf:
    """A hook that fails until somebody mends it."""

    def __init__(self) -> None:
        self.broken = True
        self.heard: list[str] = []
        known = registry.built_in()
        self.registry = replace(
            known,
            hooks={**known.hooks, "shout": Policy.BEST_EFFORT},
            handlers={"shout": self.shout},
        )

    def shout(self, call: HookCall) -> None:
        if self.broken:
            raise _Unreachable("Nobody picks up.")
        self.heard.append(str(call.params["title"]))

    async def replace_notices(self, world: World, times: int = 1) -> None:
        """The pipeline shouts where it told people something."""
        document, now = json.loads(json.dumps(world.s.built_in["simple"])), world.s.clock.now()
        for move in document["transitions"]:
            told = [h for h in move.get("hooks", ()) if h["type"] == "notify"]
            kept = [h for h in move.get("hooks", ()) if h["type"] != "notify"]
            move["hooks"] = kept + [{**h, "type": "shout"} for h in told * times]
        parsed = pipeline.parse(document)
        await world.s.store.write(lambda tx: tx.pipelines.save(parsed, document, now))


class _Unreachable(ExternalError):
    retryable = False


async def failed(world: World, task: Task) -> list[EffectRow]:
    return await world.s.store.read(lambda tx: tx.effects.failed(task.id))


async def test_a_failed_hook_is_performed_once_more(tmp_path: Path, repo: Path) -> None:
    hook = Deaf()
    async with worlds.working(tmp_path / "home", repo, registry=hook.registry) as world:
        await hook.replace_notices(world)
        task = await world.start(GREETING, pipeline="simple")
        await world.until(task, "review")
        await world.settled(task)
        [row] = await failed(world, task)
        assert (row.kind, row.attempt) == ("shout", 1)
        assert "Nobody picks up." in (await world.view(task)).why
        hook.broken = False
        again = await edits.retry_hook(world.s, task.id, None, ANN)
        assert (again.id, again.attempt, again.status) == (row.id, 2, "pending")
        await world.settled(task)
        assert hook.heard == ["Work is ready for review"]
        [logged] = [e for e in await world.events(task) if e.type == "hook.retried"]
        assert logged.actor.name == "ann"
        with pytest.raises(RetryRefused, match="has no failed hook"):
            await edits.retry_hook(world.s, task.id, None, ANN)


async def test_several_failed_hooks_are_listed_and_one_is_named(tmp_path: Path, repo: Path) -> None:
    hook = Deaf()
    async with worlds.working(tmp_path / "home", repo, registry=hook.registry) as world:
        await hook.replace_notices(world, times=2)
        task = await world.start(GREETING, pipeline="simple")
        await world.until(task, "review")
        await world.settled(task)
        rows = await failed(world, task)
        with pytest.raises(RetryRefused, match="several failed hooks; say which") as refused:
            await edits.retry_hook(world.s, task.id, None, ANN)
        assert [d.split()[0] for d in refused.value.details] == [row.id for row in rows]
        with pytest.raises(RetryRefused, match='no failed hook "merge_pr"'):
            await edits.retry_hook(world.s, task.id, "merge_pr", ANN)
        assert (await edits.retry_hook(world.s, task.id, rows[1].id, ANN)).id == rows[1].id


@pytest.mark.worktree
async def test_a_hook_is_not_repeated_after_the_task_went_on(world: World) -> None:
    """The merge was refused and the task taken back: what failed belongs to another version."""
    task = await world.start(GREETING, pipeline="simple")
    view = await world.until(task, "review")
    await world.settled(task)
    repos.commit(Path(str(view.runs[0].workspace)), {"late.txt": "late\n"}, "Late")
    await world.review(task, "approved")
    await world.wait(task, lambda v: bool(v.prompts) and v.prompts[0].revision == 2, "reopened")
    [row] = await failed(world, task)
    assert row.kind == "merge_pr"
    with pytest.raises(RetryRefused, match="no failed hook that may be performed again") as refused:
        await edits.retry_hook(world.s, task.id, None, ANN)
    assert "the task went on since, and is in review now" in refused.value.details[0]
    assert await failed(world, task) == [row]


async def test_a_hook_of_this_version_is_repeated_but_a_run_is_not(world: World) -> None:
    task = await world.create(GREETING, pipeline="simple")
    await tasks.move(world.s, task.id, ANN, to="cancelled")
    await world.settled(task)

    def fail(tx: Tx) -> None:
        found, entry = tx.tasks.get(task.id), tx.history.of_task(task.id)[-1]
        for position, effect in enumerate((DeleteWorktree(), StartAgent(run_id="none"))):
            name = EffectId(f"{entry.id}-{position}")
            planning.add(tx, world.s, found, effect, name, entry.id, position, "best_effort")
            tx.effects.update(name, status="failed", error="No.")

    await world.s.store.write(fail)
    with pytest.raises(RetryRefused, match="no failed hook that may") as refused:
        await edits.retry_hook(world.s, task.id, "start_agent", ANN)
    assert "a run that ended is not repeated" in refused.value.details[0]
    assert (await edits.retry_hook(world.s, task.id, None, ANN)).kind == "delete_worktree"
    await world.settled(task)
    assert [row.kind for row in await failed(world, task)] == ["start_agent"]
