"""What an agent did: committing its left-overs, and reading its commits and diffs."""

import os
from pathlib import Path

import pytest

from agents_manager.domain.build_products import BuildProducts
from agents_manager.errors import GitError, InvalidRepository
from agents_manager.flow.ports import Committed, WorkspaceRules
from agents_manager.scm import commits
from tests.repos import canary, commit, executable, make_repo, own_home, run, sha, status, write
from tests.workspaces import Kind, workspaces

__all__ = ["own_home", "workspaces"]
pytestmark = pytest.mark.usefixtures("own_home")

BRANCH = "agent/x-1a2b3c4d"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "my répo", {"README.md": "Hello\n", ".gitignore": "*.log\n"})


@pytest.fixture
async def tree(workspaces: Kind, repo: Path) -> Path:
    return (await workspaces.prepare(repo, "task1", BRANCH, "main")).path


async def test_commit_all(workspaces: Kind, tree: Path) -> None:
    assert await workspaces.commit_all(tree, BRANCH, "Nothing") == Committed(sha=None)
    odd = os.fsdecode(b"odd \xff\n--force")
    write(tree, {"README.md": "work", odd: "x", "x.log": "ignored"})
    made = await workspaces.commit_all(tree, BRANCH, "Add odd")
    assert (made.sha, status(tree)) == (sha(tree), "")
    assert run(tree, "log", "-1", "--format=%s %an %(trailers)") == "Add odd Ada Löve "
    names = run(tree, "ls-tree", "-r", "-z", "--name-only", "HEAD").rstrip("\0").split("\0")
    assert sorted(names) == sorted([".gitignore", "README.md", odd])
    assert await workspaces.commit_all(tree, BRANCH, "Nothing") == Committed(sha=None)


PRODUCTS = {
    "__pycache__/a.pyc": "x",
    "src/__pycache__/b.pyc": "x",
    "node_modules/pad/index.js": "x",
    ".venv/bin/python": "x",
    "target/debug/shop": "x",
    "Cargo.toml": "[package]\n",
    ".pytest_cache/v/lastfailed": "{}",
    ".coverage": "x",
    "docs/.DS_Store": "x",
}
LEFT_OUT = (
    *(".coverage", ".pytest_cache/", ".venv/", "__pycache__/", "docs/.DS_Store"),
    *("node_modules/", "src/__pycache__/", "target/"),
)


def committed(tree: Path) -> list[str]:
    return run(tree, "show", "--format=", "--name-only", "HEAD").split("\n")


@pytest.mark.parametrize("staged", [False, True])
async def test_build_products_are_left_out_of_the_commit(
    workspaces: Kind, tree: Path, staged: bool
) -> None:
    write(tree, {**PRODUCTS, "src/b.py": "1"})
    if staged:
        run(tree, "add", "--all")
    made = await workspaces.commit_all(tree, BRANCH, "Add b")
    assert (made.sha, made.left_out) == (sha(tree), LEFT_OUT)
    assert committed(tree) == ["Cargo.toml", "src/b.py"]
    assert all((tree / path).exists() for path in PRODUCTS)
    again = await workspaces.commit_all(tree, BRANCH, "Nothing")
    assert again == Committed(sha=None, left_out=LEFT_OUT)


async def test_build_products_beside_tracked_ones_are_committed(
    workspaces: Kind, repo: Path
) -> None:
    commit(repo, {"dist/a.js": "1", "package.json": "{}", "pkg/a.pyc": "1"})
    tree = (await workspaces.prepare(repo, "task2", "agent/y", "main")).path
    write(tree, {"dist/a.js": "2", "dist/b.js": "1", "pkg/b.pyc": "1", "build/x": "1"})
    made = await workspaces.commit_all(tree, "agent/y", "Build")
    assert made.left_out == ("build/",)
    assert committed(tree) == ["dist/a.js", "dist/b.js", "pkg/b.pyc"]


async def test_files_added_against_the_ignore_rules_are_committed(
    workspaces: Kind, tree: Path
) -> None:
    write(tree, {".gitignore": "*.log\n__pycache__/\n", "__pycache__/a.pyc": "1"})
    run(tree, "add", "--force", "__pycache__/a.pyc")
    assert not (await workspaces.commit_all(tree, BRANCH, "Meant")).left_out
    assert "__pycache__/a.pyc" in committed(tree)


async def test_a_project_switches_the_list_of_build_products_off(
    workspaces: Kind, tree: Path
) -> None:
    write(tree, {"a.pyc": "1", "a.min.js": "1"})
    rules = BuildProducts(patterns=("*.min.js",))
    made = await workspaces.commit_all(tree, BRANCH, "Nothing", rules)
    assert made == Committed(sha=None, left_out=("a.min.js", "a.pyc"))
    await workspaces.commit_all(tree, BRANCH, "All", BuildProducts(enabled=False))
    assert committed(tree) == ["a.min.js", "a.pyc"]


async def test_build_products_stay_for_the_next_run_and_are_in_no_snapshot(
    workspaces: Kind, repo: Path, tree: Path
) -> None:
    write(tree, {"node_modules/odd [x]*/a b.js": "1", "web/node_modules/c.js": "1"})
    await workspaces.commit_all(tree, BRANCH, "Nothing")
    await workspaces.release(tree)
    assert await workspaces.spare(repo, "task1")
    assert not (await workspaces.prepare(repo, "task1", BRANCH, "main")).events
    write(tree, {"left": "over", "node_modules/odd [x]*/a b.js": "2"})
    renewed = await workspaces.prepare(repo, "task1", BRANCH, "main", WorkspaceRules())
    assert [event.type for event in renewed.events] == ["snapshot.saved"]
    saved = await workspaces.snapshots(repo, "task1")
    assert [one.files for one in saved] == [("left",)]
    assert not (tree / "left").exists()
    assert (tree / "node_modules/odd [x]*/a b.js").read_text() == "2"
    assert (tree / "web/node_modules/c.js").exists()


async def test_commit_all_without_an_identity(workspaces: Kind, tree: Path, own_home: Path) -> None:
    (own_home / ".gitconfig").unlink()
    write(tree, {"a": "1"})
    await workspaces.commit_all(tree, BRANCH, "Add a")
    assert run(tree, "log", "-1", "--format=%ae %ce") == " ".join(["agents-manager@localhost"] * 2)


async def test_files_that_are_not_as_they_were_committed(workspaces: Kind, tree: Path) -> None:
    commit(tree, {"gone": "1", "hidden": "1", "staged": "1"})
    write(tree, {"new": "1", "x.log": "ignored"})
    run(tree, "add", "new")
    assert await workspaces.altered(tree, BRANCH) == []
    (tree / "gone").unlink()
    run(tree, "update-index", "--assume-unchanged", "hidden")
    write(tree, {"README.md": "work", "hidden": "2", "staged": "2"})
    run(tree, "add", "staged")
    altered = ["README.md", "gone", "hidden", "staged"]
    assert await workspaces.altered(tree, BRANCH) == altered
    run(tree, "stash", "--quiet")
    run(tree, "update-index", "--no-assume-unchanged", "hidden")
    run(tree, "restore", "hidden")
    assert await workspaces.altered(tree, BRANCH) == []


async def test_commit_all_finishes_a_resolved_merge(workspaces: Kind, tree: Path) -> None:
    run(tree, "branch", "side")
    commit(tree, {"f": "1"})
    run(tree, "switch", "-q", "side")
    side = commit(tree, {"f": "2"})
    run(tree, "switch", "-q", BRANCH)
    run(tree, "merge", "side", check=False)
    with pytest.raises(GitError, match="unresolved conflicts"):
        await workspaces.commit_all(tree, BRANCH, "Merge")
    write(tree, {"f": "3"})
    run(tree, "add", "f")
    await workspaces.commit_all(tree, BRANCH, "Merge")
    assert sha(tree, "HEAD^2") == side


async def test_a_moved_head_is_refused(workspaces: Kind, repo: Path, tree: Path) -> None:
    before = sha(repo, "main")
    run(tree, "symbolic-ref", "HEAD", "refs/heads/main")
    write(tree, {"a": "1"})
    with pytest.raises(GitError, match='it is on "main"'):
        await workspaces.commit_all(tree, BRANCH, "Add a")
    assert sha(repo, "main") == before


async def test_a_redirected_tree_is_refused(workspaces: Kind, tree: Path, tmp_path: Path) -> None:
    evil = make_repo(tmp_path / "evil")
    if (tree / ".git").is_dir():
        (tree / ".git").rename(tmp_path / "the clone's")
    (tree / ".git").write_text(f"gitdir: {evil / '.git'}\n")
    write(tree, {"a": "1"})
    with pytest.raises(GitError, match=r"no longer a worktree|holds no repository"):
        await workspaces.commit_all(tree, BRANCH, "Add a")


async def test_repository_inside_the_tree_is_neither_committed_nor_run(
    workspaces: Kind, tree: Path, tmp_path: Path
) -> None:
    inner = make_repo(tree / "inner", {"f": "1", ".gitattributes": "* filter=evil\n"})
    spot = tmp_path / "canary"
    run(inner, "config", "filter.evil.clean", str(executable(tmp_path / "evil", canary(spot))))
    run(tree, "add", "inner")
    commit(tree, {"a": "1"}, "Agent's own gitlink")
    write(inner, {"f": "2"})
    run(tree, "status")
    assert spot.exists(), "plain git should fall for it"
    spot.unlink()
    make_repo(tree / "second")
    write(tree, {"b": "2"})
    await workspaces.commit_all(tree, BRANCH, "Add b")
    assert not spot.exists()
    assert "second" not in run(tree, "ls-tree", "--name-only", "HEAD").split()
    assert (tree / "second" / "README.md").exists()


async def test_names_that_could_be_a_git_folder_are_left_out(workspaces: Kind, tree: Path) -> None:
    write(tree, {".GIT/config": "x", "git~1": "x", "sub/.Git./hooks": "x", "good.git": "x"})
    await workspaces.commit_all(tree, BRANCH, "Add good.git")
    assert run(tree, "show", "--format=", "--name-only", "HEAD") == "good.git"


@pytest.mark.parametrize("where", ["hook", "fsmonitor"])
async def test_the_whole_walk_runs_nothing_of_the_repository(
    workspaces: Kind, repo: Path, tmp_path: Path, where: str
) -> None:
    spot = tmp_path / "canary"
    if where == "fsmonitor":
        run(repo, "config", "core.fsmonitor", str(executable(tmp_path / "evil", canary(spot))))
    else:
        for hook in ("post-checkout", "pre-commit", "post-commit", "reference-transaction"):
            executable(repo / ".git/hooks" / hook, f"touch '{spot}'")
    run(repo, "switch", "-q", "-c", "other")
    run(repo, "status")
    assert spot.exists(), "plain git should fall for it"
    spot.unlink()
    made = await workspaces.prepare(repo, "task2", "agent/y", "main")
    write(made.path, {"a": "1"})
    await workspaces.prepare(repo, "task2", "agent/y", "main")
    write(made.path, {"b": "1"})
    await workspaces.commit_all(made.path, "agent/y", "Add b")
    await workspaces.change(repo, "agent/y", "main")
    await workspaces.remove(repo, "task2")
    assert not spot.exists()


async def test_change_counts_what_the_branch_added(
    workspaces: Kind, repo: Path, tree: Path
) -> None:
    base = sha(repo)
    commit(repo, {"main only": "x"})
    first = commit(tree, {"ä b": "1\n2\n"}, "One\n\nbody")
    run(tree, "mv", "README.md", "LIESMICH")
    last = commit(tree, {"bin": b"\0\1"}, "Two")
    await workspaces.gather(tree, BRANCH)
    found = await workspaces.change(repo, BRANCH, "main")
    assert (found.base_sha, found.head_sha) == (base, last)
    assert [dict(entry) for entry in found.commits] == [
        {"sha": first, "subject": "One", "author": "Ada Löve"},
        {"sha": last, "subject": "Two", "author": "Ada Löve"},
    ]
    assert (found.files, found.additions, found.deletions) == (3, 2, 0)


async def test_change_takes_no_other_branch_for_a_missing_one(
    workspaces: Kind, repo: Path, tree: Path
) -> None:
    commit(tree, {"a": "1"})
    run(repo, "branch", "missing/but-like-it")
    with pytest.raises(InvalidRepository, match='no branch "missing"'):
        await workspaces.change(repo, BRANCH, "missing")
    with pytest.raises(InvalidRepository, match='no branch "missing"'):
        await workspaces.change(repo, "missing", "main")


async def test_head_of_a_branch_that_grew_from_its_base(
    workspaces: Kind, repo: Path, tree: Path
) -> None:
    last = commit(tree, {"a": "1"})
    await workspaces.gather(tree, BRANCH)
    assert (await workspaces.ends(repo, BRANCH, "main"))[1] == last
    stranger = run(repo, "commit-tree", "-m", "Alone", "HEAD^{tree}").strip()
    run(repo, "update-ref", f"refs/heads/{BRANCH}", stranger)
    with pytest.raises(InvalidRepository, match="share no history"):
        await workspaces.ends(repo, BRANCH, "main")


async def test_diff_cannot_be_hidden_or_run_programs(
    workspaces: Kind, repo: Path, tree: Path, tmp_path: Path
) -> None:
    spot = tmp_path / "canary"
    evil = str(executable(tmp_path / "evil", canary(spot)))
    for key in ("diff.external", "diff.evil.textconv", "diff.evil.command"):
        run(tree, "config", key, evil)
    head = commit(tree, {"code.py": "rm -rf\n", ".gitattributes": "*.py -diff\n*.md diff=evil\n"})
    head = commit(tree, {"README.md": "Bye\n"})
    await workspaces.gather(tree, BRANCH)
    run(tree, "diff", "main", head, check=False)
    assert spot.exists(), "plain git should fall for it"
    spot.unlink()
    text = await workspaces.diff(repo, sha(repo), head)
    assert not spot.exists()
    assert "+rm -rf\n" in text
    assert "+Bye\n" in text
    assert (await workspaces.change(repo, BRANCH, "main")).additions == 4


async def test_diff_is_cut(workspaces: Kind, repo: Path, tree: Path) -> None:
    head = commit(tree, {"big": "line\n" * 600_000, "bytes": b"caf\xe9\n"})
    await workspaces.gather(tree, BRANCH)
    text = await workspaces.diff(repo, sha(repo), head)
    assert len(text) < commits.DIFF_LIMIT + 100
    assert text.endswith("+line\n[The diff was cut here: it is longer than 2 MB.]\n")
    with pytest.raises(InvalidRepository, match="not a commit hash"):
        await workspaces.diff(repo, "--output=/tmp/x", head)


async def test_what_was_committed_is_taken_back_by_a_commit_on_top(
    workspaces: Kind, repo: Path, tree: Path
) -> None:
    before = sha(repo, BRANCH)
    commit(tree, {"README.md": "worse", "new": "1"})
    await workspaces.gather(tree, BRANCH)
    worse = sha(repo, BRANCH)
    for _ in range(2):
        await workspaces.take_back(repo, BRANCH, before, "Take it back")
        assert sha(repo, f"{BRANCH}~1") == worse
        assert run(repo, "diff", before, BRANCH) == ""
    await workspaces.release(tree)
    again = await workspaces.prepare(repo, "task1", BRANCH, "main")
    assert (again.head_sha, status(again.path)) == (sha(repo, BRANCH), "")
    assert (again.path / "README.md").read_text() == "Hello\n"
