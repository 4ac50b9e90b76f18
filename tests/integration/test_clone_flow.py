"""The whole walk with clones: what an agent does in one reaches the project, and nothing else of it
does."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agents_manager.cli.pages import run as pages
from agents_manager.domain.run import ErrorClass, Run
from agents_manager.domain.task import Task
from agents_manager.flow import removal, snapshots, supervisor, tasks
from agents_manager.flow.ports import WorkspaceRules
from agents_manager.flow.runs import left_out
from tests.repos import own_home, refs, run, scripted_home, sha, status
from tests.worlds import ANN, GREETING, World, repo, working

__all__ = ["own_home", "repo"]

LEAVE: dict[str, Any] = {
    "implement": [
        [{"write": {"path": "left", "text": "over\n"}}, {"crash": 3}],
        [{"modify": {"path": "greeting.txt", "append": "x\n"}}, {"outcome": "pr_ready"}],
    ]
}
NO_RETRIES = {"retries": {"crash": {"tries": 0}}}


def configure(home: Path, **workspace: Any) -> None:
    text = {"defaultAgentType": "scripted", "workspace": workspace, **NO_RETRIES}
    (home / "config.json").write_text(json.dumps(text))


@pytest.fixture
async def world(tmp_path: Path, repo: Path) -> AsyncIterator[World]:
    configure(scripted_home(tmp_path / "home"), kind="clone")
    async with working(tmp_path / "home", repo) as world:
        yield world


async def last_run(world: World, task: Task) -> Run:
    return (await world.s.store.read(lambda tx: tx.runs.of_task(task.id)))[-1]


async def test_from_the_first_run_to_the_merge(world: World) -> None:
    task = await world.start(GREETING, pipeline="simple")
    await world.until(task, "review")
    view = await world.wait(task, lambda v: v.pull is not None, "published")
    ended = await last_run(world, task)
    clone = Path(ended.workspace or "")
    assert (clone / ".git").is_dir()
    assert run(world.repo, "worktree", "list").count("\n") == 0
    assert view.pull
    assert sha(world.repo, view.pull.head_branch) == sha(clone) == view.pull.head_sha
    await world.review(task, "approved")
    await world.until(task, "done")
    assert (world.repo / "greeting.txt").read_text() == "hi\nhello\n"
    await world.s.workspaces.remove(world.repo, task.id)
    assert await world.s.workspaces.standing(world.repo) == {}
    assert refs(world.repo, "refs/agents-manager") == {}
    assert run(world.repo, "fsck", "--strict") == ""


@pytest.mark.slow
async def test_leftovers_are_told_and_come_back(world: World) -> None:
    task = await world.start(LEAVE, pipeline="simple")
    await world.until(task, "needs_decision")
    await world.choose(task, "again")
    await world.until(task, "review")
    ended = await last_run(world, task)
    ref = f"refs/agents-manager/snapshots/{task.id}/1"
    assert f"`git restore --source {ref} -- PATH`" in (ended.prompt or "")
    clone = Path(ended.workspace or "")
    assert run(clone, "show", f"{ref}:left") == "over"
    done = await snapshots.restore(world.s, task.id, 1, None, ANN)
    assert done.workspace == str(clone)
    assert status(clone) == "?? left"


BUILT: dict[str, Any] = {
    "implement": [
        [
            {"write": {"path": "app.py", "text": "print()\n"}},
            {"write": {"path": "__pycache__/app.pyc", "text": "x"}},
            {"write": {"path": "web/node_modules/pad/index.js", "text": "x"}},
            {"outcome": "pr_ready"},
        ]
    ]
}


async def test_build_products_are_left_out_and_listed(world: World) -> None:
    task = await world.start(BUILT, pipeline="simple")
    await world.until(task, "review")
    ended = await last_run(world, task)
    names = run(world.repo, "ls-tree", "-r", "--name-only", ended.branch or "").split()
    assert "app.py" in names
    assert not [name for name in names if "app.pyc" in name or "node_modules" in name]
    found = await world.s.store.read(lambda tx: left_out.find(tx, ended))
    assert found.paths == ("__pycache__/", "web/node_modules/")
    shown = list(pages.page(ended, task.title, products=found))
    assert "Left out  __pycache__/, web/node_modules/" in [getattr(b, "text", "") for b in shown]


async def test_work_that_cannot_be_taken_over_ends_the_run(world: World) -> None:
    text = '[submodule "x"]\npath = x\nurl = /x\nupdate = !touch canary\n'
    evil: dict[str, Any] = {
        "implement": [
            [
                {"write": {"path": ".gitmodules", "text": text}},
                {"commit": "Evil"},
                {"outcome": "pr_ready"},
            ]
        ]
    }
    task = await world.start(evil, pipeline="simple")
    await world.until(task, "needs_decision")
    ended = await last_run(world, task)
    assert ended.error
    assert ended.error.error_class is ErrorClass.BAD_OUTPUT
    assert "cannot be taken over: object" in ended.error.error
    assert "gitmodulesUpdate" in ended.error.error
    assert ended.branch
    assert sha(world.repo, ended.branch) == ended.base_sha


@pytest.mark.slow
async def test_the_kind_changes_with_the_setting(world: World, tmp_path: Path) -> None:
    task = await world.start(LEAVE, pipeline="simple")
    await world.until(task, "needs_decision")
    clone = Path((await last_run(world, task)).workspace or "")
    assert (clone / ".git").is_dir()
    configure(tmp_path / "home", kind="worktree")
    await world.choose(task, "again")
    await world.until(task, "review")
    assert (await last_run(world, task)).workspace == str(clone)
    assert (clone / ".git").is_file()
    assert run(world.repo, "show", f"refs/agents-manager/snapshots/{task.id}/1:left") == "over"
    assert list((world.repo / ".git/agents-manager/clones").iterdir()) == []
    configure(tmp_path / "home", kind="clone")
    await world.review(task, "changes_requested", summary="Again, please.")
    await world.wait(task, lambda v: v.run is None and len(v.runs) == 3, "over again")
    assert (clone / ".git").is_dir()


async def test_a_clone_of_nobody_is_swept_up_or_told(world: World) -> None:
    task = await world.start(GREETING, pipeline="simple")
    await world.until(task, "review")
    rules, paths = WorkspaceRules(kind="clone"), dict[str, Path]()
    for name in ("clean", "dirty"):
        made = await world.s.workspaces.prepare(world.repo, name, f"agent/{name}", "main", rules)
        await world.s.workspaces.release(made.path)
        paths[name] = made.path
    (paths["dirty"] / "draft").write_text("not saved anywhere\n")
    assert await supervisor.worktrees(world.s) == ["clean"]
    assert [path.exists() for path in paths.values()] == [False, True]
    told = [e.summary for e in await world.events(task) if e.type == "workspace.orphaned"]
    assert told[0].endswith("it was removed, as a branch holds all that was in it.")
    assert told[1].startswith(f"The clone {paths['dirty']} belongs to no task and holds work")
    assert f"rm -rf {paths['dirty']}" in told[1]


@pytest.mark.slow
async def test_the_clone_of_a_finished_task_is_cleared_away(world: World) -> None:
    task = await world.start(LEAVE, pipeline="simple")
    await world.until(task, "needs_decision")
    clone = Path((await last_run(world, task)).workspace or "")
    await tasks.move(world.s, task.id, ANN, to="cancelled")
    await world.settled(task)
    [cleaned] = await removal.clean(world.s, task_id=None, project_id=world.project.id)
    assert (cleaned.task.id, cleaned.left, is_there(clone)) == (task.id, None, False)
    assert run(world.repo, "show", f"refs/agents-manager/snapshots/{task.id}/1:left") == "over"
    assert run(world.repo, "for-each-ref", "refs/agents-manager/base") == ""


def is_there(path: Path) -> bool:
    return path.exists()
