"""Clones and merges by a remote that several machines share, seen from git alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents_manager.domain.ids import ProjectId, TaskId
from agents_manager.domain.task import MergeMethod, PullRequest, PullState
from agents_manager.errors import GitError, HookFailed, WorkElsewhere
from agents_manager.flow.ports import Conflicted
from agents_manager.scm import remotes, shared_merge
from agents_manager.scm.copies import RemoteCopies
from agents_manager.scm.git import Place, common_dir, locked
from agents_manager.scm.shared_merge import Order
from tests.repos import commit, executable, make_repo, refs, run, sha, status

BRANCH = "agent/greet"
OTHERS = (MergeMethod.MERGE, MergeMethod.REBASE)
NOW = datetime(2026, 11, 16, tzinfo=UTC)


@pytest.fixture
def bare(tmp_path: Path, own_home: Path) -> Path:
    repo = make_repo(tmp_path / "first", {"greeting.txt": "hi\n"})
    run(tmp_path, "clone", "-q", "--bare", str(repo), str(tmp_path / "shared.git"))
    return tmp_path / "shared.git"


def checkout(bare: Path, name: str) -> Path:
    run(bare.parent, "clone", "-q", str(bare), str(bare.parent / name))
    return bare.parent / name


async def test_a_clone_is_whole_or_not_there_and_follows_the_base(bare: Path) -> None:
    copies, folder = RemoteCopies(), bare.parent / "home" / "projects"
    target = folder / "p1"
    with pytest.raises(GitError):
        await copies.clone(str(bare.parent / "nothing"), target, "main")
    with pytest.raises(GitError, match='no branch "trunk"'):
        await copies.clone(str(bare), target, "trunk")
    assert list(folder.iterdir()) == []
    (folder / ".p1.left-by-a-crash").mkdir()
    await copies.clone(str(bare), target, "main")
    assert [one.name for one in folder.iterdir()] == ["p1"]
    assert (target / "greeting.txt").read_text() == "hi\n"
    assert await copies.remote(target) == str(bare)

    theirs = checkout(bare, "theirs")
    commit(theirs, {"greeting.txt": "hello\n"})
    run(theirs, "push", "-q")
    assert await copies.follow(target, str(bare), "main") is None
    assert (target / "greeting.txt").read_text() == "hello\n"
    assert status(target) == ""
    assert await copies.is_shared(target)
    run(target, "branch", "mine")
    commit(target, {"own.txt": "x"})
    assert not await copies.is_shared(target)


async def test_what_another_machine_made_is_taken_and_nothing_here_is_lost(bare: Path) -> None:
    copies, mine, theirs = RemoteCopies(), checkout(bare, "mine"), checkout(bare, "theirs")
    run(theirs, "switch", "-q", "-c", BRANCH)
    first = commit(theirs, {"greeting.txt": "one\n"})
    assert await copies.lacks(mine, BRANCH, first)
    with pytest.raises(WorkElsewhere, match="origin does not have it"):
        await copies.take(mine, "task", BRANCH, "main", first)
    assert await copies.take(mine, "task", BRANCH, "main", sha(mine, "main")) == []
    assert f"refs/heads/{BRANCH}" not in refs(mine)
    run(theirs, "push", "-q", "origin", BRANCH)
    await copies.take(mine, "task", BRANCH, "main", first)
    assert not await copies.lacks(mine, BRANCH, first)

    run(mine, "switch", "-q", BRANCH)
    unheard = commit(mine, {"own.txt": "of a run that was given up\n"})
    run(mine, "switch", "-q", "main")
    second = commit(theirs, {"greeting.txt": "two\n"})
    run(theirs, "push", "-q", "origin", BRANCH)
    told = await copies.take(mine, "task", BRANCH, "main", second)
    assert [one.type for one in told] == ["snapshot.saved", "git.branch_advanced"]
    assert sha(mine, BRANCH) == second
    assert unheard in refs(mine, "refs/agents-manager/snapshots").values()


# ------------------------------------------------------------------------------------------ merges


@dataclass
class Desk:
    """A machine that merges; what it puts on record is for all."""

    repo: Path
    pull: PullRequest
    noted: list[str] = field(default_factory=list[str])
    meanwhile: Sequence[str] = ()
    """What somebody pushes between the record and the push."""

    async def merge(self, method: MergeMethod) -> str:
        common = await common_dir(self.repo)
        store = Place(git_dir=common)
        remote = await remotes.of(store)
        assert remote
        order = Order(
            repo=self.repo,
            store=store,
            pull=self.pull,
            head=self.pull.head_sha,
            method=method,
            note=self._note,
        )
        async with locked(common):
            merged = await shared_merge.merge(remote, order)
        assert not isinstance(merged, Conflicted)
        return merged.sha

    async def _note(self, sha: str) -> None:
        self.noted.append(sha)
        for name in self.meanwhile[:1]:
            theirs = checkout(Path(run(self.repo, "remote", "get-url", "origin")), name)
            commit(theirs, {f"{name}.txt": name}, name)
            run(theirs, "push", "-q")
        self.meanwhile = self.meanwhile[1:]


def desk(bare: Path, name: str, head: str | None = None, noted: str | None = None) -> Desk:
    repo = checkout(bare, name)
    if head is None:
        run(repo, "switch", "-q", "-c", BRANCH)
        head = commit(repo, {"greeting.txt": "hello\n"}, "Say hello")
        run(repo, "push", "-q", "origin", BRANCH)
        run(repo, "switch", "-q", "main")
    else:
        run(repo, "branch", "-q", BRANCH, f"origin/{BRANCH}")
    pull = PullRequest(
        id="pull-1",
        project_id=ProjectId("p1"),
        task_id=TaskId("t1"),
        number=1,
        title="Say hello",
        body="",
        head_branch=BRANCH,
        base_branch="main",
        head_sha=head,
        state=PullState.OPEN,
        merge_sha=noted,
        created_at=NOW,
        updated_at=NOW,
    )
    return Desk(repo, pull)


@pytest.mark.parametrize(
    "method", [MergeMethod.SQUASH, *(pytest.param(one, marks=pytest.mark.slow) for one in OTHERS)]
)
async def test_a_merge_happens_once_whichever_machine_does_it_again(
    bare: Path, method: MergeMethod
) -> None:
    one = desk(bare, "one")
    one.meanwhile = ["sooner", "later"]
    made = await one.merge(method)
    assert len(one.noted) == 3
    assert sha(bare, "main") == made == sha(one.repo, "main")
    for name in ("sooner", "later"):
        assert run(bare, "show", f"main:{name}.txt") == name
    # As after a crash between the push and the record of what came of it.
    again = replace(one.pull, merge_sha=one.noted[-1])
    assert await Desk(one.repo, again).merge(method) == made
    other = desk(bare, "two", one.pull.head_sha, one.noted[-1])
    assert await other.merge(method) == made
    assert (other.noted, sha(bare, "main")) == ([], made)


async def test_a_remote_that_refuses_a_merge_says_why_and_nothing_moves(bare: Path) -> None:
    one = desk(bare, "one")
    before = sha(bare, "main")
    hook = executable(bare / "hooks" / "pre-receive", "echo 'main is protected' >&2; exit 1")
    with pytest.raises(HookFailed, match="main is protected"):
        await one.merge(MergeMethod.MERGE)
    assert sha(bare, "main") == sha(one.repo, "main") == before
    hook.unlink()
    commit(one.repo, {"own.txt": "mine\n"})
    with pytest.raises(HookFailed, match="git push origin main"):
        await one.merge(MergeMethod.MERGE)
    assert sha(bare, "main") == before


async def test_a_checkout_with_changes_in_the_way_stays_while_the_merge_is_made(bare: Path) -> None:
    one = desk(bare, "one")
    before = sha(one.repo, "main")
    (one.repo / "greeting.txt").write_text("mine\n")
    made = await one.merge(MergeMethod.MERGE)
    assert (sha(bare, "main"), sha(one.repo, "main")) == (made, before)
    assert (one.repo / "greeting.txt").read_text() == "mine\n"
