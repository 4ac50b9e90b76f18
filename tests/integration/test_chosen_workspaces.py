"""Which kind of workspace a task gets where nobody said which."""

from pathlib import Path

import pytest

from agents_manager.flow.ports import WorkspaceRules
from agents_manager.scm.workspaces import ChosenWorkspaces
from tests.repos import commit, make_repo, own_home, run

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")

BRANCH = "agent/one"
KEPT = WorkspaceRules(kept=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "my répo")


async def kind(repo: Path, rules: WorkspaceRules) -> str:
    made = await ChosenWorkspaces(repo.parent / "trees").prepare(repo, "t", BRANCH, "main", rules)
    return "clone" if (made.path / ".git").is_dir() else "worktree"


async def test_a_clone_for_an_agent_in_a_sandbox(repo: Path) -> None:
    assert await kind(repo, WorkspaceRules()) == "worktree"
    assert await kind(repo, KEPT) == "clone"
    assert await kind(repo, WorkspaceRules()) == "worktree"
    assert run(repo, "for-each-ref", "refs/agents-manager") == ""


async def test_what_was_said_counts(repo: Path) -> None:
    assert await kind(repo, WorkspaceRules(kind="worktree", kept=True)) == "worktree"
    assert await kind(repo, WorkspaceRules(kind="clone")) == "clone"


@pytest.mark.parametrize("where", [".gitattributes", "deep/er/.gitattributes", "info"])
async def test_not_where_files_pass_a_filter(repo: Path, own_home: Path, where: str) -> None:
    """That of Git LFS is often set up for all of a user's repositories."""
    with (own_home / ".gitconfig").open("a") as config:
        config.write('[filter "lfs"]\n\tclean = cat\n\tsmudge = cat\n')
    commit(repo, {".gitattributes": "*.txt text\n"})
    assert await kind(repo, KEPT) == "clone"
    if where == "info":
        (repo / ".git/info/attributes").write_text("*.png filter=lfs\n")
    else:
        commit(repo, {where: "*.png filter=lfs\n"})
    assert await kind(repo, KEPT) == "worktree"


async def test_nor_of_a_repository_that_is_not_whole(repo: Path) -> None:
    run(repo, "config", "core.repositoryFormatVersion", "1")
    run(repo, "config", "extensions.partialClone", "origin")
    assert await kind(repo, KEPT) == "worktree"
