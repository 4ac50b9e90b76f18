"""A git that dies anywhere in the life of a clone costs nothing: what was asked for is asked again,
and is then as if it had not died."""

import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from agents_manager.errors import GitError
from agents_manager.flow.ports import Workspace
from agents_manager.scm.clones import Clones
from tests.repos import commit, executable, make_repo, own_home, run, sha, status, write

__all__ = ["own_home"]
pytestmark = [pytest.mark.usefixtures("own_home"), pytest.mark.slow, pytest.mark.timeout(600)]

T = TypeVar("T")
BRANCH = "agent/one"
MOST = 300
PARTS = 8


async def until_done(act: Callable[[], Awaitable[T]], bin_dir: Path) -> T:
    """By the gits of the folder, of which one dies."""
    while True:
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("PATH", f"{bin_dir}:{os.environ['PATH']}")
            try:
                return await act()
            except GitError:
                continue


async def life(clones: Clones, repo: Path, bin_dir: Path) -> None:
    def prepare() -> Awaitable[Workspace]:
        return clones.prepare(repo, "task1", BRANCH, "main")

    tree = (await until_done(prepare, bin_dir)).path
    commit(tree, {"mine": "1"}, "Mine")
    await until_done(lambda: clones.gather(tree, BRANCH), bin_dir)
    write(tree, {"left": "over"})
    await until_done(lambda: clones.commit_all(tree, BRANCH, "Left over"), bin_dir)
    assert (status(tree), sha(tree)) == ("", sha(repo, BRANCH))
    write(tree, {"later": "saved"})
    await until_done(prepare, bin_dir)
    assert status(tree) == ""
    await until_done(lambda: clones.remove(repo, "task1"), bin_dir)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_every_git_dies_once(tmp_path: Path, after: bool, part: int) -> None:
    real, count = shutil.which("git"), tmp_path / "count"
    die = "kill -9 $$"
    killed = f'"{real}" "$@"; {die}' if after else die
    spy = f"""n=$(($(cat '{count}') + 1)); echo $n > '{count}'
if [ $n = "$(cat '{count}.at')" ]; then {killed}; fi
exec "{real}" "$@\""""
    executable(tmp_path / "bin" / "git", spy)
    for at in range(part + 1, MOST, PARTS):
        repo = make_repo(tmp_path / f"repo {at}", {"README.md": "Hello\n"})
        count.write_text("0")
        (tmp_path / "count.at").write_text(str(at))
        await life(Clones(tmp_path / f"trees {at}"), repo, tmp_path / "bin")
        subjects = run(repo, "log", "--format=%s", BRANCH).splitlines()
        assert subjects == ["Left over", "Mine", "First"], at
        assert run(repo, "show", "refs/agents-manager/snapshots/task1/1:later") == "saved", at
        assert run(repo, "for-each-ref", "refs/agents-manager/base") == "", at
        assert run(repo, "fsck", "--strict", "--no-dangling") == "", at
        assert sha(repo, "main") == sha(repo, f"{BRANCH}~2"), at
        if int(count.read_text()) < at:
            return
    pytest.fail(f"more than {MOST} gits")
