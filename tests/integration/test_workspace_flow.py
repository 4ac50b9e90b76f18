"""What happens to a workspace reaches the task's record, the agent's prompt and the run's end."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.run import ErrorClass, Run
from agents_manager.domain.task import Task
from agents_manager.errors import RestoreRefused, SnapshotNotFound, WorkspaceInUse
from agents_manager.flow import snapshots, tasks
from agents_manager.scm import holders
from tests.repos import commit, own_home, run, sha, status, write
from tests.worlds import ANN, GREETING, World, repo, world

pytestmark = pytest.mark.slow

__all__ = ["own_home", "repo", "world"]

LEAVE: dict[str, Any] = {
    "implement": [
        [{"write": {"path": "left", "text": "over\n"}}, {"crash": 3}],
        [{"modify": {"path": "greeting.txt", "append": "x\n"}}, {"outcome": "pr_ready"}],
    ]
}


async def last_run(world: World, task: Task) -> Run:
    return (await world.s.store.read(lambda tx: tx.runs.of_task(task.id)))[-1]


async def configure(world: World, config: dict[str, Any]) -> None:
    world.configure(config)
    await tasks.trust_project(world.s, world.project)
    project = await world.s.store.read(lambda tx: tx.projects.get(world.project.id))
    world.project = project


async def failed_with_leftovers(world: World) -> Task:
    task = await world.start(LEAVE, pipeline="simple")
    await world.until(task, "needs_decision")
    return task


async def test_leftovers_are_told_to_the_next_run_and_restored(world: World) -> None:
    task = await failed_with_leftovers(world)
    await world.choose(task, "again")
    await world.until(task, "review")
    assert "snapshot.saved" in await world.types(task)
    ended = await last_run(world, task)
    ref = f"refs/agents-manager/snapshots/{task.id}/1"
    assert ended.prompt is not None
    assert f"`git restore --source {ref} -- PATH`" in ended.prompt
    assert not (Path(ended.workspace or "") / "left").exists()

    done = await snapshots.restore(world.s, task.id, 1, None, ANN)
    assert done.workspace is not None
    assert (Path(done.workspace) / "left").read_text() == "over\n"
    assert "snapshot.restored" in await world.types(task)
    assert "\nlocked" not in run(world.repo, "worktree", "list", "--porcelain")
    await snapshots.restore(world.s, task.id, 1, None, ANN)
    assert [s.number for s in await snapshots.of_task(world.s, task.id)] == [1, 2]
    branch = await snapshots.restore(world.s, task.id, 1, "rescued", ANN)
    assert (branch.workspace, run(world.repo, "show", "rescued:left")) == (None, "over")
    with pytest.raises(RestoreRefused):
        await snapshots.restore(world.s, task.id, 1, "rescued", ANN)
    with pytest.raises(SnapshotNotFound, match="it has: 1, 2"):
        await snapshots.restore(world.s, task.id, 7, None, ANN)


async def test_a_snapshot_that_a_crash_kept_from_the_log_is_told_once(world: World) -> None:
    task = await failed_with_leftovers(world)
    failed = await last_run(world, task)
    assert failed.branch
    # As a server does that is killed before it has written what it did.
    await world.s.workspaces.prepare(world.repo, task.id, failed.branch, "main")
    assert "snapshot.saved" not in await world.types(task)
    await world.choose(task, "again")
    await world.until(task, "review")
    assert (await world.types(task)).count("snapshot.saved") == 1
    ref = f"refs/agents-manager/snapshots/{task.id}/1"
    assert f"`git restore --source {ref} -- PATH`" in ((await last_run(world, task)).prompt or "")


async def test_leftovers_need_not_be_told(world: World) -> None:
    world.configure({"preserveUncommitted": False})
    task = await failed_with_leftovers(world)
    await world.choose(task, "again")
    await world.until(task, "review")
    assert len(await snapshots.of_task(world.s, task.id)) == 1
    assert "# Your workspace" not in ((await last_run(world, task)).prompt or "")


@contextmanager
def open_commit(folder: Path, scratch: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A person's `git commit -a`, whose editor stays open until the end of the block."""
    write(folder, {"greeting.txt": "by hand\n"})
    editor, done = scratch / "editor", scratch / "done"
    editor.write_text(
        f'#!/bin/sh\necho "By hand" >"$1"\nwhile [ ! -e "{done}" ]; do sleep 0.1; done\n'
    )
    editor.chmod(0o755)
    env = {**os.environ, "GIT_EDITOR": str(editor)}
    with subprocess.Popen(["git", "commit", "-a"], cwd=folder, env=env) as committing:
        try:
            yield committing
        finally:
            done.touch()
    assert committing.returncode == 0


@pytest.mark.worktree
async def test_nothing_is_restored_under_a_working_agent(world: World) -> None:
    script = {"implement": [[*LEAVE["implement"][0]], [{"sleep": 60}]]}
    task = await world.start(script, pipeline="simple")
    await world.until(task, "needs_decision")
    await world.choose(task, "again")
    view = await world.wait(
        task, lambda v: v.run is not None and v.run.workspace is not None, "running"
    )
    assert "\nlocked" in run(world.repo, "worktree", "list", "--porcelain")
    with pytest.raises(WorkspaceInUse, match="am run stop"):
        await snapshots.restore(world.s, task.id, 1, None, ANN)
    assert view.run
    await tasks.stop_run(world.s, view.run.id, ANN)
    await world.wait(task, lambda v: v.run is None, "stopped")


async def test_conflicting_rebase_is_told_to_the_agent(world: World) -> None:
    world.configure({"rebaseOnStart": True})
    task = await world.start(GREETING, pipeline="simple")
    await world.until(task, "review")
    commit(world.repo, {"greeting.txt": "good day\n"})
    await world.review(task, "changes_requested", summary="Again, please.")
    await world.wait(task, lambda v: v.run is None and len(v.runs) == 2, "over again")
    assert "git.rebase_conflicted" in await world.types(task)
    prompt = (await last_run(world, task)).prompt
    assert prompt is not None
    assert "could not be rebased onto main: both changed greeting.txt" in prompt


async def test_work_starts_from_the_remotes_base(world: World, tmp_path: Path) -> None:
    run(tmp_path, "clone", "-q", str(world.repo), "theirs")
    news = commit(tmp_path / "theirs", {"news": "1"})
    run(world.repo, "remote", "add", "origin", str(tmp_path / "theirs"))
    task = await world.start(GREETING, pipeline="simple")
    view = await world.until(task, "review")
    [branch] = [a.label for a in view.artifacts if a.type == "branch"]
    assert run(world.repo, "rev-parse", f"{branch}~1") == news
    [diff] = [a.data for a in view.artifacts if a.type == "diff"]
    assert diff["files"] == 1


async def test_a_remote_that_is_away_is_an_event(world: World) -> None:
    run(world.repo, "remote", "add", "origin", "/nowhere at all")
    task = await world.start(GREETING, pipeline="simple")
    await world.until(task, "review")
    assert "git.fetch_failed" in await world.types(task)


async def test_another_base_branch(world: World) -> None:
    run(world.repo, "branch", "-m", "main", "trünk")
    task = await world.start(GREETING, pipeline="simple")
    view = await world.until(task, "needs_decision")
    told = json.dumps([p.payload for p in view.prompts])
    assert "name it as baseBranch" in told
    world.configure({"baseBranch": "trünk"})
    await world.choose(task, "again")
    await world.until(task, "review")
    view = await world.wait(task, lambda v: v.pull is not None, "published")
    assert view.pull
    assert view.pull.base_branch == "trünk"
    await world.review(task, "approved")
    await world.until(task, "done")
    assert sha(world.repo, "trünk^2") == view.pull.head_sha


async def test_worktrees_inside_the_project(world: World) -> None:
    world.configure({"worktreeRoot": ".agent-worktrees"})
    task = await world.start(GREETING, pipeline="simple")
    await world.until(task, "review")
    ended = await last_run(world, task)
    assert Path(ended.workspace or "").is_relative_to(world.repo / ".agent-worktrees")
    assert status(world.repo).splitlines() == ["?? .agents-manager/", "?? .gitignore"]


# --------------------------------------------------------------------------------------- set-up


async def test_set_up_runs_after_creation_and_when_its_inputs_changed(world: World) -> None:
    await configure(world, {"setup": ["mkdir -p .venv && touch .venv/installed"]})
    script = {
        "implement": [
            [{"write": {"path": "a", "text": "1"}}, {"commit": "1"}, {"outcome": "pr_ready"}],
            [
                {"write": {"path": "sub/go.mod", "text": "1"}},
                {"commit": "2"},
                {"outcome": "pr_ready"},
            ],
            [{"write": {"path": "b", "text": "1"}}, {"commit": "3"}, {"outcome": "pr_ready"}],
        ]
    }
    task = await world.start(script, pipeline="simple")
    for runs, times in enumerate((1, 1, 2), 1):
        await world.wait(task, lambda v, n=runs: len(v.runs) == n and v.run is None, f"run {runs}")
        workspace = Path((await last_run(world, task)).workspace or "")
        assert (workspace / ".venv/installed").is_file()
        assert (await world.types(task)).count("workspace.set_up") == times
        if times == 1:
            await world.review(task, "changes_requested", summary="Again, please.")


async def test_failed_set_up_ends_the_run_with_its_last_words(world: World) -> None:
    await configure(world, {"setup": ["echo no such package; exit 1"]})
    task = await world.start(GREETING, pipeline="simple")
    await world.until(task, "needs_decision")
    ended = await last_run(world, task)
    assert ended.error
    assert ended.error.error_class is ErrorClass.ENVIRONMENT
    assert ended.error.error.endswith("It ended with:\nno such package")
    log = world.s.jobs_dir / ended.id / "setup.log"
    assert log.read_text() == "$ echo no such package; exit 1\nno such package\n\n"
    assert "\nlocked" not in run(world.repo, "worktree", "list", "--porcelain")


async def test_set_up_that_nobody_trusted_is_not_run(world: World, tmp_path: Path) -> None:
    world.configure({"setup": [f"touch '{tmp_path / 'canary'}'"]})
    task = await world.start(GREETING, pipeline="simple")
    await world.until(task, "needs_decision")
    error = (await last_run(world, task)).error
    assert error
    assert "am project trust" in error.error
    assert not (tmp_path / "canary").exists()


async def test_set_up_can_be_left_out(world: World, tmp_path: Path) -> None:
    world.configure({"setup": [f"touch '{tmp_path / 'canary'}'"], "installDeps": False})
    task = await world.start(GREETING, pipeline="simple")
    await world.until(task, "review")
    assert not (tmp_path / "canary").exists()


async def test_agents_collect_no_garbage(world: World) -> None:
    task = await world.start(GREETING, pipeline="simple")
    await world.until(task, "review")
    ended = await last_run(world, task)
    job = json.loads((world.s.jobs_dir / ended.id / "1" / "job.json").read_text())
    assert _told(job) == "0\n"


def _told(job: dict[str, Any]) -> str:
    asked = ("git", "-C", job["cwd"], "config", "gc.auto")
    return subprocess.run(asked, env=job["env"], capture_output=True, check=True, text=True).stdout


async def test_run_beside_an_open_commit_fails_and_names_it(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holders, "WAIT_S", 0.2)
    task = await failed_with_leftovers(world)
    workspace = Path((await last_run(world, task)).workspace or "")
    with open_commit(workspace, tmp_path) as committing:
        await world.choose(task, "again")
        await world.until(task, "needs_decision")
        failed = await last_run(world, task)
        assert failed.error is not None
        assert failed.error.error_class is ErrorClass.ENVIRONMENT
        assert f'"git commit -a" (process {committing.pid}) is at work' in failed.error.error
        assert (workspace / "left").exists()
    await world.choose(task, "again")
    await world.until(task, "review")
    branch = (await last_run(world, task)).branch
    assert branch
    assert "By hand" in run(world.repo, "log", "--format=%s", branch)
