"""The workspace of a finished task is removed, and nothing is lost with it."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents_manager.domain.ids import EffectId
from agents_manager.domain.run import Run
from agents_manager.domain.task import Task
from agents_manager.flow import snapshots, tasks
from tests.repos import own_home, run, scripted_home, write
from tests.worlds import ANN, GREETING, NO_RETRIES, World, repo, working

__all__ = ["own_home", "repo"]

FAILS = {"implement": [[{"write": {"path": "left", "text": "over\n"}}, {"crash": 3}]]}
KINDS = pytest.mark.parametrize(
    "world", ["worktree", pytest.param("clone", marks=pytest.mark.slow)], indirect=True
)


@pytest.fixture
async def world(tmp_path: Path, repo: Path, request: pytest.FixtureRequest) -> AsyncIterator[World]:
    home = scripted_home(tmp_path / "home")
    config = home / "config.json"
    kind = {"workspace": {"kind": getattr(request, "param", "worktree")}}
    config.write_text(json.dumps({**json.loads(config.read_text()), **kind, **NO_RETRIES}))
    async with working(home, repo) as world:
        yield world


async def last_run(world: World, task: Task) -> Run:
    return (await world.s.store.read(lambda tx: tx.runs.of_task(task.id)))[-1]


def stands(path: Path) -> bool:
    return path.exists()


async def approved(world: World) -> tuple[Task, Path, Path]:
    """A task in review, its workspace and a file that marks that it was torn down."""
    task = await world.start(GREETING, pipeline="simple")
    await world.until(task, "review")
    workspace = Path((await last_run(world, task)).workspace or "")
    assert stands(workspace)
    return task, workspace, world.repo / "torn down"


@KINDS
async def test_it_is_removed_after_teardown_once_the_task_is_done(world: World) -> None:
    world.configure({"teardown": [f'touch "{world.repo}/torn down"']})
    world.project = await tasks.trust_project(world.s, world.project)
    task, workspace, mark = await approved(world)
    await world.review(task, "approved")
    await world.until(task, "done")
    await world.settled(task)
    assert not stands(workspace)
    assert stands(mark)
    types = await world.types(task)
    assert types.index("workspace.torn_down") < types.index("workspace.removed")
    assert run(world.repo, "branch", "--list", "agent/*") != ""
    assert not await world.s.workspaces.standing(world.repo)


@KINDS
async def test_uncommitted_work_of_a_cancelled_task_becomes_a_snapshot(world: World) -> None:
    task = await world.start(FAILS, pipeline="simple")
    await world.until(task, "needs_decision")
    workspace = Path((await last_run(world, task)).workspace or "")
    write(workspace, {"left": "by a person\n"})
    await tasks.move(world.s, task.id, ANN, to="cancelled")
    await world.settled(task)
    assert not stands(workspace)
    saved = (await snapshots.of_task(world.s, task.id))[-1]
    ref = f"refs/agents-manager/snapshots/{task.id}/{saved.number}"
    assert run(world.repo, "show", f"{ref}:left") == "by a person"


@pytest.mark.slow
async def test_a_project_may_keep_it(world: World) -> None:
    world.configure({"workspace": {"keep": True}})
    task, workspace, _ = await approved(world)
    await world.review(task, "approved")
    await world.until(task, "done")
    await world.settled(task)
    assert stands(workspace)


@pytest.mark.slow
async def test_one_that_is_in_use_is_removed_later_and_the_task_is_done(world: World) -> None:
    task, workspace, _ = await approved(world)
    admin = world.repo / ".git/worktrees" / task.id
    (admin / "locked").write_text("A run works here.")
    await world.review(task, "approved")
    await world.until(task, "done")

    async def postponed() -> EffectId | None:
        effects = await world.s.store.read(lambda tx: tx.effects.open(task.id))
        later = [e for e in effects if e.kind == "remove_workspace" and e.attempt == 2]
        return later[0].id if later else None

    while (effect := await postponed()) is None:
        await world._change()
    assert stands(workspace)
    (admin / "locked").unlink()
    now = world.s.clock.now()
    await world.s.store.write(lambda tx: tx.effects.update(effect, due_at=now))
    await world.settled(task)
    assert not stands(workspace)
    assert (await world.view(task)).task.status == "done"


@pytest.mark.slow
async def test_a_removal_that_was_cut_short_is_on_record_once(world: World) -> None:
    task, _, _ = await approved(world)
    await world.s.workspaces.remove(world.repo, task.id)
    await world.review(task, "approved")
    await world.until(task, "done")
    await world.settled(task)
    assert (await world.types(task)).count("workspace.removed") == 1
