"""Pull requests of our own: published once, merged once, and the user's checkout kept in step."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents_manager.domain.task import MergeMethod, Project, PullRequest, PullState, Task
from agents_manager.errors import GitError, HookFailed, InvalidRepository
from agents_manager.flow.ports import Conflicted, Forge, Merged, Tx
from agents_manager.scm import joining, landing
from agents_manager.scm.git import Place, common_dir
from agents_manager.scm.local_forge import LocalForge
from agents_manager.store.database import Database
from tests.contract.store_values import PIPELINE, a_project, a_task, pipelines
from tests.repos import (
    canary,
    commit,
    executable,
    make_repo,
    own_home,
    refs,
    run,
    sha,
    status,
    write,
)

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")

BRANCH = "agent/x-1a2b3c4d"
MERGE, SQUASH, REBASE = MergeMethod
NOW = datetime(2026, 3, 1, tzinfo=UTC)


class FixedClock:
    def now(self) -> datetime:
        return NOW


class CountingIds:
    def __init__(self) -> None:
        self.last = 0

    def new(self) -> str:
        self.last += 1
        return f"pull-{self.last}"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """On main, with a branch that changes `a` and adds `new file`."""
    repo = make_repo(tmp_path / "my répo", {"a": "1\n", "b": "1\n"})
    run(repo, "switch", "-q", "-c", BRANCH)
    commit(repo, {"a": "2\n", "new file": "x\n"}, "Work")
    run(repo, "switch", "-q", "main")
    return repo


@pytest.fixture
def project(repo: Path) -> Project:
    return a_project(path=str(repo))


@pytest.fixture
def task() -> Task:
    return a_task(title="Add\n\nSigned-off-by: Eve <e@example.org>")


@pytest.fixture
async def forge(store: Database, project: Project, task: Task) -> LocalForge:
    def furnish(tx: Tx) -> None:
        tx.projects.add(project)
        tx.pipelines.save(pipelines.parse(PIPELINE), PIPELINE, NOW)
        tx.tasks.add(task)

    await store.write(furnish)
    made = LocalForge(store, FixedClock(), CountingIds())
    fitting: Forge = made
    assert fitting
    return made


@pytest.fixture
async def pull(forge: LocalForge, project: Project, task: Task) -> PullRequest:
    return await forge.publish(project, task, BRANCH, "main", task.title, "Body")


async def stored(store: Database, task: Task) -> PullRequest | None:
    return await store.read(lambda tx: tx.pulls.of_task(task.id))


def merges(repo: Path) -> int:
    return len(run(repo, "rev-list", "--merges", "main").split())


# ------------------------------------------------------------------------------------- publish


async def test_publishing_again_updates_the_open_one(
    forge: LocalForge, project: Project, task: Task, repo: Path, pull: PullRequest
) -> None:
    assert (pull.number, pull.head_sha, pull.state) == (1, sha(repo, BRANCH), PullState.OPEN)
    assert pull.title == "Add Signed-off-by: Eve <e@example.org>"
    run(repo, "switch", "-q", BRANCH)
    head = commit(repo, {"c": "1"})
    again = await forge.publish(project, task, BRANCH, "main", task.title, "ä" * 50_000)
    assert (again.id, again.number, again.head_sha) == (pull.id, 1, head)
    assert len(again.body.encode()) <= 60_000
    assert again.body.endswith("[The text was cut here.]")
    with pytest.raises(InvalidRepository, match="no branch"):
        await forge.publish(project, task, "agent/none", "main", task.title, "")


async def test_after_a_merge_only_new_work_opens_another(
    forge: LocalForge, project: Project, task: Task, repo: Path, pull: PullRequest
) -> None:
    await forge.merge(project, pull, pull.head_sha, MERGE)
    again = await forge.publish(project, task, BRANCH, "main", task.title, "Body")
    assert (again.id, again.state) == (pull.id, PullState.MERGED)
    run(repo, "switch", "-q", BRANCH)
    commit(repo, {"c": "1"})
    assert (await forge.publish(project, task, BRANCH, "main", task.title, "Body")).number == 2


async def test_publishing_at_once_from_two_sides(
    forge: LocalForge, project: Project, task: Task
) -> None:
    async with asyncio.TaskGroup() as group:
        both = [
            group.create_task(forge.publish(project, task, BRANCH, "main", task.title, ""))
            for _ in range(2)
        ]
    assert both[0].result() == both[1].result()


# --------------------------------------------------------------------------------------- merge


async def test_merge_makes_one_commit_however_often(
    forge: LocalForge, project: Project, repo: Path, pull: PullRequest, store: Database, task: Task
) -> None:
    results = [await forge.merge(project, pull, pull.head_sha, MERGE) for _ in range(3)]
    assert set(results) == {Merged(sha=sha(repo, "main"))}
    assert (merges(repo), sha(repo, "main^2")) == (1, pull.head_sha)
    subject = "Merge pull request #1: Add Signed-off-by: Eve <e@example.org>"
    assert run(repo, "log", "-1", "--format=%s", "main") == subject
    trailers = run(repo, "log", "-1", "--format=%(trailers)", "main").strip()
    assert trailers == f"Agents-Manager-Pull: {pull.id}"
    kept = await stored(store, task)
    assert kept
    assert (kept.state, kept.merge_sha) == (PullState.MERGED, sha(repo, "main"))


async def test_checkout_on_the_base_follows_and_keeps_other_changes(
    forge: LocalForge, project: Project, repo: Path, pull: PullRequest
) -> None:
    write(repo, {"b": "mine\n", "untracked": "mine"})
    await forge.merge(project, pull, pull.head_sha, MERGE)
    assert (repo / "a").read_text() == "2\n"
    assert (repo / "new file").exists()
    assert status(repo) == " M b\n?? untracked"
    assert list(refs(repo, "refs/agents-manager")) == []


async def test_checkout_elsewhere_is_left_alone(
    forge: LocalForge, project: Project, repo: Path, pull: PullRequest
) -> None:
    run(repo, "switch", "-q", "-c", "mine")
    write(repo, {"a": "mine\n"})
    await forge.merge(project, pull, pull.head_sha, MERGE)
    assert (status(repo), merges(repo)) == (" M a", 1)


async def test_other_folders_on_the_base_follow_too(
    forge: LocalForge, project: Project, repo: Path, pull: PullRequest, tmp_path: Path
) -> None:
    run(repo, "switch", "-q", "-c", "mine")
    other, evil = tmp_path / "other", tmp_path / "evil"
    run(repo, "worktree", "add", "-q", str(other), "main")
    run(repo, "worktree", "add", "-q", "--force", str(evil), "main")
    (evil / ".git").write_text("gitdir: /nowhere\n")
    await forge.merge(project, pull, pull.head_sha, MERGE)
    assert ((other / "a").read_text(), status(other)) == ("2\n", "")
    assert (evil / "a").read_text() == "1\n"


@pytest.mark.parametrize("file", ["a", "new file"], ids=["changed", "untracked"])
async def test_changes_in_the_way_stop_the_merge(
    forge: LocalForge, project: Project, repo: Path, pull: PullRequest, file: str
) -> None:
    write(repo, {file: "mine\n"})
    before = refs(repo), status(repo)
    with pytest.raises(HookFailed, match=f"uncommitted changes in {file}; commit or stash"):
        await forge.merge(project, pull, pull.head_sha, MERGE)
    assert (refs(repo), status(repo)) == before
    assert (repo / file).read_text() == "mine\n"
    run(repo, "stash", "-q", "-u")
    assert isinstance(await forge.merge(project, pull, pull.head_sha, MERGE), Merged)


async def test_busy_checkout_can_be_tried_again(
    forge: LocalForge, project: Project, repo: Path, pull: PullRequest
) -> None:
    (repo / ".git/index.lock").touch()
    with pytest.raises(GitError, match="Another git works"):
        await forge.merge(project, pull, pull.head_sha, MERGE)
    assert merges(repo) == 0


async def test_conflict_names_the_files(
    forge: LocalForge, project: Project, repo: Path, pull: PullRequest
) -> None:
    commit(repo, {"a": "3\n", "new file": "y\n"})
    before = refs(repo)
    result = await forge.merge(project, pull, pull.head_sha, MERGE)
    assert isinstance(result, Conflicted)
    assert result.files == ("a", "new file")
    assert "CONFLICT (content): Merge conflict in a" in result.message
    assert (refs(repo), status(repo)) == (before, "")


async def test_head_that_moved_after_the_approval_is_refused(
    forge: LocalForge, project: Project, repo: Path, pull: PullRequest
) -> None:
    run(repo, "switch", "-q", BRANCH)
    moved = commit(repo, {"evil": "1"})
    with pytest.raises(HookFailed, match=f"{pull.head_sha}.*{moved}"):
        await forge.merge(project, pull, pull.head_sha, MERGE)
    assert merges(repo) == 0


async def test_merge_by_hand_is_noticed(
    forge: LocalForge, project: Project, repo: Path, pull: PullRequest
) -> None:
    run(repo, "merge", "-q", "--no-ff", "-m", "By hand", BRANCH)
    by_hand = sha(repo)
    commit(repo, {"later": "1"})
    assert await forge.merge(project, pull, pull.head_sha, MERGE) == Merged(sha=by_hand)


async def test_merging_runs_nothing_an_agent_configured(
    forge: LocalForge, project: Project, repo: Path, pull: PullRequest, tmp_path: Path
) -> None:
    spot = tmp_path / "canary"
    evil = executable(tmp_path / "evil", canary(spot))
    run(repo, "config", "merge.evil.driver", str(evil))
    executable(repo / ".git/hooks/reference-transaction", f"touch '{spot}'")
    executable(repo / ".git/hooks/post-merge", f"touch '{spot}'")
    run(repo, "-c", "core.hooksPath=/dev/null", "switch", "-q", "-c", "mine")
    write(repo, {".gitattributes": "* merge=evil\n", "a": "1\n\n\n\nend\n"})
    run(repo, "-c", "core.hooksPath=/dev/null", "commit", "-qam", "x")
    run(repo, "merge-tree", "--write-tree", "mine", BRANCH, check=False)
    assert spot.exists(), "plain git should fall for it"
    spot.unlink()
    run(repo, "-c", "core.hooksPath=/dev/null", "branch", "-f", "main", "mine")
    await forge.merge(project, pull, pull.head_sha, MERGE)
    assert not spot.exists()


# ----------------------------------------------------------------------------------- cut off


async def cut_off(repo: Path, pull: PullRequest, at: str) -> str:
    """Leaves the repository as a process does that dies at this point of a merge."""
    tree = run(repo, "merge-tree", "--write-tree", "main", BRANCH)
    args = ("-p", "main", "-p", BRANCH, "-m", f"Merge\n\nAgents-Manager-Pull: {pull.id}")
    new = run(repo, "commit-tree", tree, *args)
    if at == "commit made":
        return new
    run(repo, "update-ref", f"{landing.INTENTS}/main", new)
    run(repo, "update-ref", f"{landing.STARTS}/main", "main")
    if at == "intent kept":
        return new
    run(repo, "read-tree", "-m", "-u", "main", new)
    if at == "files moved":
        return new
    run(repo, "update-ref", "refs/heads/main", new)
    return new


@pytest.mark.parametrize("at", ["commit made", "intent kept", "files moved", "branch moved"])
async def test_a_killed_merge_is_completed_once(
    forge: LocalForge, project: Project, repo: Path, pull: PullRequest, at: str
) -> None:
    new = await cut_off(repo, pull, at)
    result = await forge.merge(project, pull, pull.head_sha, MERGE)
    assert result == Merged(sha=sha(repo, "main"))
    assert (merges(repo), status(repo), (repo / "a").read_text()) == (1, "", "2\n")
    assert list(refs(repo, "refs/agents-manager")) == []
    assert at == "commit made" or sha(repo, "main") == new


async def test_a_killed_merge_gives_way_to_what_the_user_did_since(
    forge: LocalForge, project: Project, repo: Path, pull: PullRequest
) -> None:
    await cut_off(repo, pull, "files moved")
    run(repo, "commit", "-q", "-m", "Committed what was staged")
    result = await forge.merge(project, pull, pull.head_sha, MERGE)
    assert isinstance(result, Merged)
    assert (merges(repo), status(repo), (repo / "a").read_text()) == (1, "", "2\n")


async def test_a_base_that_moves_meanwhile_leaves_nothing_behind(
    project: Project, repo: Path, pull: PullRequest
) -> None:
    old = sha(repo, "main~0")
    new = run(repo, "commit-tree", f"{BRANCH}^{{tree}}", "-p", old, "-p", BRANCH, "-m", "Merge")
    moved = run(repo, "commit-tree", "main^{tree}", "-p", old, "-m", "Meanwhile")
    run(repo, "update-ref", "refs/heads/main", moved)
    with pytest.raises(GitError, match="expected"):
        await landing.land(repo, await common_dir(repo), "main", old, new)
    assert (sha(repo, "main"), status(repo)) == (moved, "")
    assert list(refs(repo, "refs/agents-manager")) == []


# ------------------------------------------------------------------------------ squash and rebase


def authors(repo: Path, since: str) -> list[str]:
    return run(repo, "log", "--reverse", "--format=%an: %s", f"{since}..main").split("\n")


@pytest.fixture
def diverged(repo: Path) -> str:
    """Two commits of an agent on the branch, and one of somebody else on the base."""
    run(repo, "switch", "-q", BRANCH)
    write(repo, {"c": "1\n"})
    run(repo, "add", "-A")
    agent = ("-c", "user.name=Agent", "-c", "user.email=agent@example.org")
    run(repo, *agent, "commit", "-q", "-m", "Second\n\nIn words.")
    run(repo, "switch", "-q", "main")
    return commit(repo, {"d": "1\n"}, "Elsewhere")


async def test_a_squash_is_one_commit_however_often(
    forge: LocalForge, project: Project, task: Task, repo: Path, diverged: str
) -> None:
    pull = await forge.publish(project, task, BRANCH, "main", "Add it", "")
    results = [await forge.merge(project, pull, pull.head_sha, SQUASH) for _ in range(3)]
    assert set(results) == {Merged(sha=sha(repo, "main"))}
    assert sha(repo, "main^") == diverged
    words = run(repo, "log", "-1", "--format=%B", "main")
    assert words.startswith("Add it (#1)\n\n* Work\n* Second\n\nAgents-Manager-Pull: ")
    assert [(repo / name).read_text() for name in "acd"] == ["2\n", "1\n", "1\n"]
    assert (status(repo), list(refs(repo, "refs/agents-manager"))) == ("", [])


async def test_a_rebase_keeps_each_commit_and_its_author(
    forge: LocalForge, project: Project, task: Task, repo: Path, diverged: str
) -> None:
    pull = await forge.publish(project, task, BRANCH, "main", "Add it", "")
    results = [await forge.merge(project, pull, pull.head_sha, REBASE) for _ in range(3)]
    assert set(results) == {Merged(sha=sha(repo, "main"))}
    assert authors(repo, diverged) == ["Ada Löve: Work", "Agent: Second"]
    assert run(repo, "log", "-1", "--format=%b%cn", "main") == "In words.\nAda Löve"
    assert merges(repo) == 0
    assert [(repo / name).read_text() for name in "acd"] == ["2\n", "1\n", "1\n"]
    assert (status(repo), list(refs(repo, "refs/agents-manager"))) == ("", [])
    run(repo, "fsck", "--strict")


async def test_a_rebase_of_what_is_on_top_already_only_moves_the_base(
    forge: LocalForge, project: Project, repo: Path, pull: PullRequest
) -> None:
    assert await forge.merge(project, pull, pull.head_sha, REBASE) == Merged(sha=pull.head_sha)
    assert sha(repo, "main") == pull.head_sha


async def test_a_rebase_leaves_merges_out(
    forge: LocalForge, project: Project, task: Task, repo: Path, diverged: str
) -> None:
    run(repo, "switch", "-q", BRANCH)
    run(repo, "merge", "-q", "--no-edit", "main")
    run(repo, "switch", "-q", "main")
    pull = await forge.publish(project, task, BRANCH, "main", "Add it", "")
    await forge.merge(project, pull, pull.head_sha, REBASE)
    assert authors(repo, diverged) == ["Ada Löve: Work", "Agent: Second"]
    assert merges(repo) == 0


@pytest.mark.parametrize("method", [MergeMethod.SQUASH, MergeMethod.REBASE])
async def test_what_conflicts_is_told_by_every_method(
    forge: LocalForge, project: Project, repo: Path, pull: PullRequest, method: MergeMethod
) -> None:
    before = commit(repo, {"a": "3\n"})
    result = await forge.merge(project, pull, pull.head_sha, method)
    assert isinstance(result, Conflicted)
    assert result.files == ("a",)
    assert (sha(repo, "main"), list(refs(repo, "refs/agents-manager"))) == (before, [])


@pytest.mark.parametrize("method", [MergeMethod.SQUASH, MergeMethod.REBASE])
@pytest.mark.parametrize("moved", ["files", "branch"])
async def test_a_killed_squash_or_rebase_is_completed_once(
    forge: LocalForge,
    project: Project,
    task: Task,
    repo: Path,
    diverged: str,
    method: MergeMethod,
    moved: str,
) -> None:
    pull = await forge.publish(project, task, BRANCH, "main", "Add it", "")
    place = Place(git_dir=await common_dir(repo))
    new = await joining.made(place, pull, diverged, pull.head_sha, method)
    assert isinstance(new, str)
    for ref, at in [
        (f"{landing.LANDED}/{pull.id}", new),
        (f"{landing.INTENTS}/main", new),
        (f"{landing.STARTS}/main", diverged),
    ]:
        run(repo, "update-ref", ref, at)
    run(repo, "read-tree", "-m", "-u", "main", new)
    if moved == "branch":
        run(repo, "update-ref", "refs/heads/main", new)
    assert await forge.merge(project, pull, pull.head_sha, method) == Merged(sha=new)
    assert (sha(repo, "main"), status(repo)) == (new, "")
    assert list(refs(repo, "refs/agents-manager")) == []


async def test_what_did_not_land_is_not_taken_for_merged(
    forge: LocalForge, project: Project, task: Task, repo: Path, diverged: str
) -> None:
    write(repo, {"c": "in the way\n"})
    pull = await forge.publish(project, task, BRANCH, "main", "Add it", "")
    with pytest.raises(HookFailed, match="uncommitted changes in c"):
        await forge.merge(project, pull, pull.head_sha, SQUASH)
    assert list(refs(repo, "refs/agents-manager")) == []
    (repo / "c").unlink()
    await forge.merge(project, pull, pull.head_sha, SQUASH)
    assert (repo / "c").read_text() == "1\n"
