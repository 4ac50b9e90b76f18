"""Workspaces of either kind: created, reused, rebuilt, removed, with nobody's work lost."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agents_manager.errors import GitError, InvalidInput, InvalidRepository
from tests.repos import commit, make_repo, own_home, refs, run, sha, status, write
from tests.workspaces import Kind, workspaces

__all__ = ["own_home", "workspaces"]
pytestmark = pytest.mark.usefixtures("own_home")

BRANCH = "agent/ümlaut-1a2b3c4d"
SNAPSHOTS = "refs/agents-manager/snapshots"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(
        tmp_path / "my répo", {"README.md": "Hello\n", ".gitignore": "ignored/\n*.log\n"}
    )


async def prepare(workspaces: Kind, repo: Path) -> Path:
    return (await workspaces.prepare(repo, "task1", BRANCH, "main")).path


# ------------------------------------------------------------------------------------ validate


async def test_a_subfolder_leads_to_the_top(workspaces: Kind, repo: Path) -> None:
    (repo / "sub folder").mkdir()
    assert await workspaces.validate(repo / "sub folder") == (repo, "main")


async def test_detached_head_falls_back_to_the_default_branch(workspaces: Kind, repo: Path) -> None:
    run(repo, "switch", "-q", "--detach")
    assert await workspaces.validate(repo) == (repo, "main")
    run(repo, "branch", "-m", "main", "trunk")
    with pytest.raises(InvalidRepository, match="switch BRANCH"):
        await workspaces.validate(repo)


async def test_what_cannot_be_used_comes_with_the_way_out(
    workspaces: Kind, repo: Path, tmp_path: Path
) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "empty").mkdir()
    run(tmp_path / "empty", "init", "-q")
    run(tmp_path, "clone", "-q", "--bare", str(repo), "bare")
    for folder, way_out in {
        "none": "no folder",
        "plain": 'plain" init',
        "empty": "commit --allow-empty",
        "bare": "git clone",
        "my répo/.git": "git clone",
    }.items():
        with pytest.raises(InvalidRepository, match=way_out):
            await workspaces.validate(tmp_path / folder)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
async def test_another_users_repository(workspaces: Kind, repo: Path) -> None:
    os.chown(repo, 12345, 12345)
    with pytest.raises(InvalidRepository, match=r"safe\.directory"):
        await workspaces.validate(repo)


# ------------------------------------------------------------------------------------ branches


async def test_branch_is_created_once(workspaces: Kind, repo: Path) -> None:
    assert await workspaces.ensure_branch(repo, BRANCH, "main")
    first = sha(repo)
    commit(repo, {"a": "1"})
    assert not await workspaces.ensure_branch(repo, BRANCH, "main")
    assert sha(repo, BRANCH) == first


async def test_bad_branches_are_refused(workspaces: Kind, repo: Path) -> None:
    for branch in ("--upload-pack=x", "HEAD", "a..b"):
        with pytest.raises(InvalidInput):
            await workspaces.ensure_branch(repo, branch, "main")
        with pytest.raises(InvalidInput):
            await workspaces.prepare(repo, "task1", BRANCH, branch)
    with pytest.raises(InvalidRepository, match="no branch"):
        await workspaces.ensure_branch(repo, BRANCH, "none")
    with pytest.raises(InvalidRepository, match="of its own"):
        await workspaces.ensure_branch(repo, "main", "main")
    run(repo, "branch", "agent")
    with pytest.raises(GitError, match="cannot be created"):
        await workspaces.ensure_branch(repo, BRANCH, "main")


# ------------------------------------------------------------------------------------- prepare


async def test_a_worktree_of_its_own(workspaces: Kind, repo: Path) -> None:
    write(repo, {"README.md": "my own work\n", "untracked": "mine"})
    run(repo, "add", "untracked")
    before = status(repo), refs(repo, "refs/heads")
    made = await workspaces.prepare(repo, "task1", BRANCH, "main")
    assert (made.created, made.branch, made.head_sha) == (True, BRANCH, sha(repo))
    assert run(made.path, "symbolic-ref", "--short", "HEAD") == BRANCH
    assert (made.path / "README.md").read_text() == "Hello\n"
    assert (status(repo), refs(repo, "refs/heads")) == (
        before[0],
        before[1] | {f"refs/heads/{BRANCH}": sha(repo)},
    )

    head = commit(made.path, {"a": "1"})
    again = await workspaces.prepare(repo, "task1", BRANCH, "main")
    assert (again.created, again.path, again.head_sha) == (False, made.path, head)
    assert refs(repo, SNAPSHOTS) == {}


async def test_many_files_are_checked_out_by_several_gits(workspaces: Kind, repo: Path) -> None:
    run(repo, "config", "filter.loud.smudge", "tr a-z A-Z")
    files = {f"part{n % 9}/{n}.txt": f"{n}\n" for n in range(1100)}
    attributes = {".gitattributes": "loud filter=loud\n", "loud": "words\n"}
    commit(repo, {**files, **attributes})
    made = await prepare(workspaces, repo)
    assert {name: (made / name).read_text() for name in files} == files
    assert (made / "loud").read_text() == "WORDS\n"


async def test_leftovers_are_saved_then_cleaned(workspaces: Kind, repo: Path) -> None:
    tree = await prepare(workspaces, repo)
    commit(tree, {"gone": "x", "dir/f": "x", "hidden": "x", "skipped": "x"})
    run(tree, "update-index", "--assume-unchanged", "hidden")
    run(tree, "update-index", "--skip-worktree", "skipped")
    odd = os.fsdecode(b"odd \xff\n--force")
    write(tree, {"README.md": "work", "new/f": "new", odd: "odd", "hidden": "evil"})
    write(tree, {"skipped": "evil", "ignored/cache": "kept", "forced.log": "forced"})
    run(tree, "add", "-f", "forced.log")
    (tree / "gone").unlink()
    (tree / "dir/f").unlink()
    (tree / "dir").rmdir()
    (tree / "dir").symlink_to("/etc")

    await prepare(workspaces, repo)
    assert status(tree) == ""
    assert (tree / "hidden").read_text() == (tree / "skipped").read_text() == "x"
    assert (tree / "ignored/cache").read_text() == "kept"
    saved = f"{SNAPSHOTS}/task1/1"
    assert list(refs(repo, SNAPSHOTS)) == [saved]
    assert run(repo, "rev-parse", f"{saved}^") == sha(tree)
    names = run(repo, "ls-tree", "-r", "-z", "--name-only", saved).rstrip("\0").split("\0")
    expected = [".gitignore", "README.md", "dir", "forced.log", "hidden", "new/f", odd, "skipped"]
    assert sorted(names) == sorted(expected)
    for name, content in {
        "README.md": "work",
        "new/f": "new",
        "hidden": "evil",
        odd: "odd",
    }.items():
        assert run(repo, "show", f"{saved}:{name}") == content
    assert run(repo, "show", f"{saved}:dir") == "/etc"

    write(tree, {"README.md": "second"})
    await prepare(workspaces, repo)
    assert run(repo, "show", f"{SNAPSHOTS}/task1/2:README.md") == "second"


async def test_what_git_is_told_to_pass_over_is_found(workspaces: Kind, repo: Path) -> None:
    """By the user's settings, or by an agent that stages a repository of its own."""
    tree = await prepare(workspaces, repo)
    run(repo, "config", "status.showUntrackedFiles", "no")
    write(tree, {"new": "work"})
    await prepare(workspaces, repo)
    assert not (tree / "new").exists()
    assert run(repo, "show", f"{SNAPSHOTS}/task1/1:new") == "work"

    run(repo, "config", "diff.ignoreSubmodules", "all")
    inner = make_repo(tree / "inner", {"f": "x"})
    run(tree, "add", "inner")
    assert run(tree, "ls-files", "inner") == "inner"
    await prepare(workspaces, repo)
    assert run(tree, "ls-files", "inner") == ""
    assert (inner / "f").read_text() == "x"


async def test_missing_folder_is_rebuilt_from_its_branch(workspaces: Kind, repo: Path) -> None:
    tree = await prepare(workspaces, repo)
    head = commit(tree, {"a": "1"})
    await workspaces.gather(tree, BRANCH)
    shutil.rmtree(tree)
    made = await workspaces.prepare(repo, "task1", BRANCH, "main")
    assert (made.created, made.path, made.head_sha) == (True, tree, head)
    assert (tree / "a").exists()


def lose_git(tree: Path) -> None:
    """A file in a worktree, a folder in a clone."""
    if (tree / ".git").is_dir():
        shutil.rmtree(tree / ".git")
    else:
        (tree / ".git").unlink()


def point_elsewhere(tree: Path) -> None:
    lose_git(tree)
    (tree / ".git").write_text("gitdir: /nowhere\n")


def git_is_a_pipe(tree: Path) -> None:
    lose_git(tree)
    os.mkfifo(tree / ".git")


def git_is_a_link(tree: Path) -> None:
    other = make_repo(tree.parent / "evil")
    lose_git(tree)
    (tree / ".git").symlink_to(other / ".git")


def wrong_common_dir(tree: Path) -> None:
    admin = Path(run(tree, "rev-parse", "--absolute-git-dir"))
    (admin / "commondir").write_text("/nowhere\n")


def other_branch(tree: Path) -> None:
    run(tree, "switch", "-q", "-c", "other")


def unfinished_merge(tree: Path) -> None:
    base = sha(tree, "HEAD~1")
    run(tree, "switch", "-q", "-c", "side", base)
    commit(tree, {"a": "2"})
    run(tree, "switch", "-q", BRANCH)
    run(tree, "merge", "side", check=False)


def broken_index(tree: Path) -> None:
    admin = Path(run(tree, "rev-parse", "--absolute-git-dir"))
    (admin / "index").write_text("junk")


def forgotten(tree: Path) -> None:
    shutil.rmtree(run(tree, "rev-parse", "--absolute-git-dir"))


@pytest.mark.parametrize(
    "spoil",
    [
        *(lose_git, point_elsewhere, git_is_a_pipe, git_is_a_link, wrong_common_dir),
        *(other_branch, unfinished_merge, broken_index, forgotten),
    ],
)
async def test_broken_worktree_is_saved_and_rebuilt(
    workspaces: Kind, repo: Path, spoil: Callable[[Path], None]
) -> None:
    tree = await prepare(workspaces, repo)
    head = commit(tree, {"a": "1"})
    await workspaces.gather(tree, BRANCH)
    spoil(tree)
    write(tree, {"work": "precious"})
    made = await workspaces.prepare(repo, "task1", BRANCH, "main")
    assert (made.created, made.head_sha) == (True, head)
    assert (status(tree), (tree / "a").read_text()) == ("", "1")
    assert run(repo, "show", f"{SNAPSHOTS}/task1/1:work") == "precious"
    assert status(repo) == ""


async def test_the_lock_of_a_dead_git_is_in_nobodys_way(workspaces: Kind, repo: Path) -> None:
    tree = await prepare(workspaces, repo)
    write(tree, {"work": "precious"})
    (Path(run(tree, "rev-parse", "--absolute-git-dir")) / "index.lock").touch()
    await prepare(workspaces, repo)
    assert (status(tree), (tree / "work").exists()) == ("", False)
    assert run(repo, "show", f"{SNAPSHOTS}/task1/1:work") == "precious"


async def test_commits_on_a_lost_head_are_kept(workspaces: Kind, repo: Path) -> None:
    tree = await prepare(workspaces, repo)
    run(tree, "switch", "-q", "--detach")
    lost = commit(tree, {"a": "1"})
    await prepare(workspaces, repo)
    assert refs(repo, SNAPSHOTS) == {f"{SNAPSHOTS}/task1/1": lost}


async def test_half_made_worktree_is_no_work(workspaces: Kind, repo: Path) -> None:
    made = await workspaces.prepare(repo, "task1", BRANCH, "main")
    (made.state / "locked").write_text("initializing")
    (made.path / "README.md").unlink()
    lose_git(made.path)
    again = await workspaces.prepare(repo, "task1", BRANCH, "main")
    assert (again.created, again.events) == (True, ())
    assert refs(repo, SNAPSHOTS) == {}


async def test_branch_in_the_users_checkout(workspaces: Kind, repo: Path) -> None:
    run(repo, "switch", "-q", "-c", BRANCH)
    with pytest.raises(InvalidRepository, match="is checked out in"):
        await prepare(workspaces, repo)


@pytest.mark.parametrize("key", ["", "../x", "a/b", ".trash", "-x", "a" * 101])
async def test_bad_keys(workspaces: Kind, repo: Path, key: str) -> None:
    with pytest.raises(InvalidRepository):
        await workspaces.prepare(repo, key, BRANCH, "main")


# -------------------------------------------------------------------------------------- remove


async def test_removal_saves_first_and_can_be_repeated(workspaces: Kind, repo: Path) -> None:
    tree = await prepare(workspaces, repo)
    head = commit(tree, {"a": "1"})
    write(tree, {"work": "precious", "ignored/sealed/f": ""})
    (tree / "ignored/sealed").chmod(0o500)
    await workspaces.remove(repo, "task1")
    await workspaces.remove(repo, "task1")
    assert not tree.exists()
    assert (sha(repo, BRANCH), run(repo, "worktree", "list").count("\n")) == (head, 0)
    assert run(repo, "show", f"{SNAPSHOTS}/task1/1:work") == "precious"
    assert (await workspaces.prepare(repo, "task1", BRANCH, "main")).head_sha == head


async def test_repositories_inside_a_removed_tree_are_kept(workspaces: Kind, repo: Path) -> None:
    tree = await prepare(workspaces, repo)
    lost = commit(make_repo(tree / "inner"), {"deep": "x"})
    await workspaces.remove(repo, "task1")
    assert sha(tree.parent / ".kept" / "task1.1" / "inner") == lost
