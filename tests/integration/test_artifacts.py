"""What a run made, on record: documents with versions, commits with their runs, and the branch
brought to a remote. The remote is a bare repository."""

from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain import document
from agents_manager.domain.task import ArtifactType, Task
from agents_manager.errors import DocumentNotFound, GitError
from agents_manager.flow import artifacts, pulls
from agents_manager.flow.ports import Change
from agents_manager.scm.worktrees import Worktrees
from tests.repos import commit, executable, own_home, refs, run, sha
from tests.worlds import GREETING, World, repo, working, world

pytestmark = pytest.mark.slow

__all__ = ["own_home", "repo", "world"]

TWO_PLANS: dict[str, Any] = {
    "plan": [
        [{"say": "First this.\nThen that."}, {"outcome": "plan_complete"}],
        [{"say": "First this.\nThen those."}, {"outcome": "plan_complete"}],
    ]
}


@pytest.fixture
def remote(tmp_path: Path, repo: Path) -> Path:
    """A bare repository that the project pushes to."""
    bare = tmp_path / "bare.git"
    run(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    run(repo, "remote", "add", "origin", str(bare))
    return bare


async def reviewed(world: World) -> tuple[Task, str]:
    """A task under review, and its branch."""
    task = await world.start(GREETING, pipeline="simple")
    view = await world.until(task, "review")
    await world.settled(task)
    return task, next(a.label for a in view.artifacts if a.type is ArtifactType.BRANCH)


async def told(world: World, task: Task, type: str) -> list[str]:
    return [e.summary for e in await world.events(task) if e.type == type]


async def test_every_plan_is_a_version_of_its_own(world: World) -> None:
    task = await world.start(TWO_PLANS, pipeline="feature")
    view = await world.until(task, "planned")
    assert view.prompts[0].payload["version"] == 1
    await world.review(task, "changes_requested", summary="Those, not that.")
    view = await world.wait(
        task, lambda v: v.task.status == "planned" and len(v.runs) == 2, "planned again"
    )
    assert view.prompts[0].payload["version"] == 2
    asked = await told(world, task, "prompt_created")
    assert "Plan (version 2)" in asked[-1]
    known = await world.s.store.read(lambda tx: artifacts.documents_of(tx, task.id))
    assert [(d.name, d.version, d.run_id) for d in known] == [
        ("plan", 1, view.runs[0].id),
        ("plan", 2, view.runs[1].id),
    ]
    assert document.chosen(known, "plan", 1).text == "First this.\nThen that."
    ends = await world.s.store.read(lambda tx: artifacts.compared(tx, task.id, "plan", None, None))
    changed = document.difference(*ends).splitlines()
    assert changed[:2] == ["--- plan version 1", "+++ plan version 2"]
    assert changed[-2:] == ["-Then that.", "+Then those."]
    with pytest.raises(DocumentNotFound, match=r'no document "plam"\. Did you mean "plan"'):
        document.chosen(known, "plam", None)
    with pytest.raises(DocumentNotFound, match="no version 3 of the plan; it has 2"):
        document.chosen(known, "plan", 3)


async def test_a_commit_stays_with_the_run_that_made_it(world: World) -> None:
    task, _ = await reviewed(world)
    await world.review(task, "changes_requested", summary="Again.")
    view = await world.wait(
        task, lambda v: v.task.status == "review" and len(v.runs) == 2, "reviewed again"
    )
    made = [a for a in view.artifacts if a.type is ArtifactType.COMMIT]
    assert [(a.label, a.run_id) for a in made] == [
        ("Say hello", view.runs[0].id),
        ("Say it again", view.runs[1].id),
    ]


class BlindWorktrees(Worktrees):
    """A repository whose history cannot be read, as with a broken disk."""

    blind = True

    async def between(self, repo: Path, base_sha: str, head_sha: str) -> Change:
        if self.blind:
            raise GitError("git log failed: the object is missing.")
        return await super().between(repo, base_sha, head_sha)


async def test_what_cannot_be_collected_is_told_and_tried_again(tmp_path: Path, repo: Path) -> None:
    trees = BlindWorktrees(tmp_path / "trees")
    async with working(tmp_path / "home", repo, workspaces=trees) as world:
        task = await world.start(TWO_PLANS, pipeline="feature")
        view = await world.until(task, "planned")
        [missed] = await told(world, task, "agent.artifact_collection_failed")
        assert "am artifact collect" in missed
        assert "the object is missing" in missed
        # The plan is there all the same, and the run came to its outcome.
        assert view.prompts[0].payload["document"] == "First this.\nThen that."
        commit(Path(view.runs[0].workspace or ""), {"found": "x\n"}, "Found")
        trees.blind = False
        kept = await pulls.collect(world.s, task.id)
        assert [a.label for a in kept if a.type is ArtifactType.COMMIT] == ["Found"]


async def test_the_branch_is_pushed_once(world: World, remote: Path) -> None:
    task, branch = await reviewed(world)
    assert refs(remote)[f"refs/heads/{branch}"] == sha(world.repo, branch)
    await world.review(task, "changes_requested", summary="Again.")
    await world.wait(task, lambda v: v.task.status == "review" and len(v.runs) == 2, "review")
    await world.settled(task)
    assert refs(remote)[f"refs/heads/{branch}"] == sha(world.repo, branch)
    assert len(await told(world, task, "git.pushed")) == 2
    # What is there already is found, not pushed again: a remote that takes nothing is no trouble.
    executable(remote / "hooks" / "pre-receive", "exit 1")
    again = await world.s.workspaces.push(world.repo, branch)
    assert again is not None
    assert again.refused is None


async def test_a_push_that_is_refused_stops_nothing(world: World, remote: Path) -> None:
    executable(remote / "hooks" / "pre-receive", "echo 'branches are closed today'; exit 1")
    task, branch = await reviewed(world)
    [why] = await told(world, task, "git.push_refused")
    assert "branches are closed today" in why
    assert f"git push origin {branch}" in why
    assert f"refs/heads/{branch}" not in refs(remote)
    await world.review(task, "approved")
    await world.until(task, "done")


async def test_the_work_of_others_is_never_overwritten(
    world: World, remote: Path, tmp_path: Path
) -> None:
    task, branch = await reviewed(world)
    run(tmp_path, "clone", "-q", "--branch", branch, str(remote), "theirs")
    theirs = commit(tmp_path / "theirs", {"theirs": "1\n"}, "Theirs")
    run(tmp_path / "theirs", "push", "-q")
    commit(Path((await world.view(task)).runs[-1].workspace or ""), {"ours": "1\n"}, "Ours")
    # Not even where the repository's own configuration would force it.
    run(world.repo, "config", "--add", "remote.origin.push", f"+refs/heads/{branch}")
    pushed = await world.s.workspaces.push(world.repo, branch)
    assert pushed is not None
    assert "commits on it that are not here" in (pushed.refused or "")
    assert refs(remote)[f"refs/heads/{branch}"] == theirs
    run(world.repo, "config", "remote.origin.mirror", "true")
    assert (await world.s.workspaces.push(world.repo, branch)) is not None
    assert refs(remote)[f"refs/heads/{branch}"] == theirs


async def test_nothing_is_pushed_unless_wanted(world: World, remote: Path) -> None:
    world.configure({"autoPush": False})
    task, branch = await reviewed(world)
    assert f"refs/heads/{branch}" not in refs(remote)
    assert await told(world, task, "git.pushed") == []


async def test_a_remote_that_is_gone_stops_nothing(world: World) -> None:
    run(world.repo, "remote", "add", "origin", "https://me:secret@localhost:1/x.git")
    task, _ = await reviewed(world)
    [why] = await told(world, task, "git.push_refused")
    assert "secret" not in why
