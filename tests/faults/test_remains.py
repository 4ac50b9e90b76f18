"""What a killed git leaves behind, state by state: lock files, and a checkout halfway between two
commits."""

import os
import shutil
import time
from pathlib import Path

import pytest

from agents_manager.errors import HookFailed
from agents_manager.scm import landing, locks, mending
from agents_manager.scm.git import Place, locked
from agents_manager.scm.worktrees import Worktrees
from tests import repos
from tests.repos import commit, make_repo, own_home, run, status, write

__all__ = ["own_home"]

BRANCH = "agent/a-task-1a2b3c4d"
OLD = {"changed": "1\n", "gone": "x\n", "kept": "k\n", "sub/deep": "d\n", "to-empty": "full\n"}
NEW = {"changed": "2\n", "added": "a\n", "sub/deep": "D\n", "to-empty": ""}
MOVES = ("added", "changed", "gone", "sub/deep", "to-empty")


@pytest.fixture
def repo(tmp_path: Path, own_home: Path) -> Path:
    return make_repo(tmp_path / "a repo", OLD)


@pytest.fixture
def ends(repo: Path) -> tuple[str, str]:
    """The checkout stands at the first of two commits; no branch is at the second."""
    old = repos.sha(repo)
    (repo / "gone").unlink()
    new = commit(repo, NEW, "Second")
    run(repo, "reset", "-q", "--hard", old)
    return old, new


def arrive(repo: Path, path: str) -> None:
    if path in NEW:
        write(repo, {path: NEW[path]})
    else:
        (repo / path).unlink()


def place(repo: Path) -> Place:
    return Place(git_dir=repo / ".git", work_tree=repo)


@pytest.mark.parametrize("half", ["whole", "missing", "empty"])
@pytest.mark.parametrize("arrived", range(len(MOVES)))
async def test_half_moved_checkout_goes_both_ways(
    repo: Path, ends: tuple[str, str], arrived: int, half: str
) -> None:
    old, new = ends
    for path in MOVES[:arrived]:
        arrive(repo, path)
    cut = repo / MOVES[arrived]
    if half == "missing":
        cut.unlink(missing_ok=True)
    elif half == "empty":
        cut.write_text("")
    await mending.mend(place(repo), old, new)
    other = shutil.copytree(repo, repo.with_name("other"))

    await landing._move_files(place(repo), old, new)
    assert run(repo, "diff-index", "--name-only", new) == ""
    assert run(repo, "ls-files", "--others") == ""

    await landing._move_files(place(other), new, old)
    assert status(other) == ""


async def test_what_the_user_wrote_stays(repo: Path, ends: tuple[str, str]) -> None:
    write(repo, {"changed": "mine\n", "kept": "mine too\n"})
    arrive(repo, "added")
    await mending.mend(place(repo), *ends)
    with pytest.raises(HookFailed, match=r"uncommitted changes in .*changed"):
        await landing._move_files(place(repo), *ends)
    assert (repo / "changed").read_text() == "mine\n"
    assert (repo / "kept").read_text() == "mine too\n"


def test_only_locks_of_the_killed_git_are_dropped(repo: Path) -> None:
    run(repo, "worktree", "add", "-q", str(repo.with_name("tree")), "-b", "side")
    git_dir = repo / ".git"
    admin = git_dir / "worktrees" / "tree"
    old, ours = git_dir / "config.lock", git_dir / locks.OURS
    fresh = [git_dir / "HEAD.lock", git_dir / "refs/heads/main.lock", admin / "index.lock"]
    for lock in (old, ours, *fresh):
        lock.touch()
    os.utime(old, (time.time() - 60, time.time() - 60))
    locks.drop_since(admin, time.time() - 10)
    assert [lock.exists() for lock in (old, ours, *fresh)] == [True, True, False, False, False]


async def test_what_died_with_its_server_is_cleared_by_the_next(repo: Path) -> None:
    git_dir = repo / ".git"
    began = time.time() - 60
    (git_dir / locks.OURS).write_text(f"{began:017.3f}")
    left, other = git_dir / "HEAD.lock", git_dir / "index.lock"
    for lock in (left, other):
        lock.touch()
    os.utime(left, (began + 0.1, began + 0.1))
    async with locked(git_dir):
        assert [lock.exists() for lock in (left, other)] == [False, True]
    assert (git_dir / locks.OURS).read_text() == ""


async def test_a_spoiled_note_is_no_reason_to_fail(repo: Path) -> None:
    (repo / ".git" / locks.OURS).write_text("not a number\n")
    async with locked(repo / ".git"):
        pass


async def test_work_is_committed_although_a_git_was_cut_off(tmp_path: Path, repo: Path) -> None:
    worktrees = Worktrees(tmp_path / "trees")
    made = await worktrees.prepare(repo, "task1", BRANCH, "main")
    write(made.path, {"work": "precious\n"})
    admin = Path(run(made.path, "rev-parse", "--absolute-git-dir"))
    (admin / "index.lock").touch()
    (repo / ".git/refs/heads" / f"{BRANCH}.lock").touch()
    assert (await worktrees.commit_all(made.path, BRANCH, "Work")).sha
    assert run(repo, "show", f"{BRANCH}:work") == "precious"


async def test_a_worktree_that_was_cut_off_in_the_making_stops_no_other(
    tmp_path: Path, repo: Path
) -> None:
    worktrees = Worktrees(tmp_path / "trees")
    made = await worktrees.prepare(repo, "task1", BRANCH, "main")
    admin = Path(run(made.path, "rev-parse", "--absolute-git-dir"))
    (admin / "commondir").write_text("")
    (admin / "locked").write_text("initializing")
    other = await worktrees.prepare(repo, "task2", "agent/b-task-2b3c4d5e", "main")
    again = await worktrees.prepare(repo, "task1", BRANCH, "main")
    for tree in (other, again):
        assert status(tree.path) == ""
