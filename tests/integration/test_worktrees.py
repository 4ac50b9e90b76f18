"""What only worktrees have: what they share with their repository."""

import shutil
from pathlib import Path

import pytest

from agents_manager.scm.worktrees import Worktrees
from tests.repos import make_repo, own_home, run, sha, write

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")

BRANCH = "agent/one"


@pytest.fixture
def worktrees(tmp_path: Path) -> Worktrees:
    return Worktrees(tmp_path / "work trees")


async def test_git_itself_knows_of_the_lock(worktrees: Worktrees, tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "my répo")
    made = await worktrees.prepare(repo, "task1", BRANCH, "main")
    assert "locked An agent works here, for task task1" in run(
        repo, "worktree", "list", "--porcelain"
    )
    refused = run(repo, "worktree", "remove", "--force", str(made.path), check=False)
    assert (refused, made.path.exists()) == ("", True)
    await worktrees.release(made.path)
    assert "\nlocked" not in run(repo, "worktree", "list", "--porcelain")
    shutil.rmtree(made.path)
    await worktrees.release(made.path)


async def test_gitmodules_can_name_nothing_outside_and_run_nothing(
    worktrees: Worktrees, tmp_path: Path
) -> None:
    spot = tmp_path / "canary"
    library = make_repo(tmp_path / "the lïbrary", {"lib.py": "1\n"})
    repo = make_repo(tmp_path / "my répo")
    made = await worktrees.prepare(repo, "task1", BRANCH, "main")
    text = (
        f'[submodule "../../../the lïbrary/.git"]\npath = out\nurl = {library}\n'
        f'[submodule "b"]\npath = b\nupdate = !touch {spot}\nurl = ext::{spot}\n'
    )
    write(made.path, {".gitmodules": text})
    run(made.path, "update-index", "--add", "--cacheinfo", f"160000,{sha(library)},out")
    run(made.path, "add", ".gitmodules")
    run(made.path, "commit", "-q", "-m", "Evil")
    await worktrees.remove(repo, "task1")
    again = await worktrees.prepare(repo, "task1", BRANCH, "main")
    [told] = again.events
    assert told.model_dump()["paths"] == ("out",)
    assert not spot.exists()
