"""Submodules and Git LFS in worktrees: what can be had is there, what cannot is told."""

import os
import shutil
from pathlib import Path

import pytest

from agents_manager.flow.ports import Workspace
from tests.repos import canary, commit, executable, make_repo, own_home, run, sha, status, write
from tests.workspaces import Kind, workspaces

__all__ = ["own_home", "workspaces"]
pytestmark = [pytest.mark.usefixtures("own_home"), pytest.mark.slow]

BRANCH = "agent/one"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "the lïbrary", {"lib.py": "1\n"})


@pytest.fixture
def repo(tmp_path: Path, library: Path) -> Path:
    repo = make_repo(tmp_path / "my répo")
    file_allowed = ("-c", "protocol.file.allow=always")
    run(repo, *file_allowed, "submodule", "--quiet", "add", str(library), "vendor/lïb")
    run(repo, "commit", "-q", "-m", "With a library")
    return repo


async def prepare(workspaces: Kind, repo: Path) -> Workspace:
    return await workspaces.prepare(repo, "task1", BRANCH, "main")


async def test_submodules_come_from_the_users_own_copy(
    workspaces: Kind, repo: Path, library: Path
) -> None:
    shutil.move(library, library.with_name("moved away"))
    made = await prepare(workspaces, repo)
    assert made.events == ()
    assert (made.path / "vendor/lïb/lib.py").read_text() == "1\n"
    assert status(made.path) == ""
    assert (await prepare(workspaces, repo)).events == ()


async def test_submodules_of_a_checkout_that_leaves_out_the_file_that_names_them(
    workspaces: Kind, repo: Path
) -> None:
    run(repo, "sparse-checkout", "set", "--no-cone", "/*", "!/.gitmodules")
    made = await prepare(workspaces, repo)
    assert not (made.path / ".gitmodules").exists()
    assert (made.path / "vendor/lïb/lib.py").read_text() == "1\n"


async def test_submodules_within_submodules(
    workspaces: Kind, repo: Path, library: Path, tmp_path: Path
) -> None:
    deep = make_repo(tmp_path / "deep", {"deep.py": "1\n"})
    file_allowed = ("-c", "protocol.file.allow=always")
    run(library, *file_allowed, "submodule", "--quiet", "add", str(deep), "deep")
    news = commit(library, {"lib.py": "2\n"})
    run(repo / "vendor/lïb", "fetch", "-q")
    run(repo / "vendor/lïb", "checkout", "-q", news)
    commit(repo, {}, "Newer library")
    run(repo, *file_allowed, "submodule", "--quiet", "update", "--init", "--recursive")
    made = await prepare(workspaces, repo)
    assert (made.path / "vendor/lïb/deep/deep.py").read_text() == "1\n"
    assert sha(made.path / "vendor/lïb") == news


async def test_submodules_that_the_user_does_not_have(
    workspaces: Kind, repo: Path, tmp_path: Path
) -> None:
    run(tmp_path, "clone", "-q", str(repo), "clone")
    made = await prepare(workspaces, tmp_path / "clone")
    [told] = made.events
    assert told.type == "workspace.submodules_missing"
    assert "vendor/lïb. Check them out in the project: git submodule update" in told.sentence()
    assert list((made.path / "vendor/lïb").iterdir()) == []


async def test_a_link_in_place_of_a_submodules_folder_is_not_followed(
    workspaces: Kind, repo: Path, tmp_path: Path
) -> None:
    made = await prepare(workspaces, repo)
    run(made.path, "submodule", "deinit", "-q", "--all", "--force", check=False)
    for path in sorted((made.path / "vendor").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (made.path / "vendor").rmdir()
    (tmp_path / "elsewhere").mkdir()
    (made.path / "vendor").symlink_to(tmp_path / "elsewhere")
    write(repo, {".git/info/exclude": "vendor\n"})
    await prepare(workspaces, repo)
    assert list((tmp_path / "elsewhere").iterdir()) == []


async def test_work_in_a_submodule_outlives_the_worktree(workspaces: Kind, repo: Path) -> None:
    made = await prepare(workspaces, repo)
    assert (await workspaces.remove(repo, "task1")).events[-1].model_dump()["kept"] is None
    made = await prepare(workspaces, repo)
    lost = commit(made.path / "vendor/lïb", {"new.py": "2\n"})
    removed = await workspaces.remove(repo, "task1")
    kept = Path(removed.events[-1].model_dump()["kept"])
    assert sha(kept / "vendor/lïb") == lost


async def test_looking_into_a_submodule_runs_no_filter_of_it(
    workspaces: Kind, repo: Path, tmp_path: Path
) -> None:
    spot = tmp_path / "canary"
    made = await prepare(workspaces, repo)
    module = made.path / "vendor/lïb"
    run(module, "config", "filter.evil.clean", canary(spot))
    write(module, {".git/info/attributes": "* filter=evil\n", "lib.py": "2\n"})
    await workspaces.remove(repo, "task1")
    assert not spot.exists()


# ------------------------------------------------------------------------------------------ LFS

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"


@pytest.fixture
def with_lfs(tmp_path: Path) -> Path:
    files = {".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "a.bin": POINTER}
    repo = make_repo(tmp_path / "big", files)
    for name, command in {"smudge": "smudge -- %f", "clean": "clean -- %f"}.items():
        run(repo, "config", "--global", f"filter.lfs.{name}", f"git-lfs {command}")
    run(repo, "config", "--global", "filter.lfs.process", "git-lfs filter-process")
    run(repo, "config", "--global", "filter.lfs.required", "true")
    return repo


@pytest.fixture
def no_git_lfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All programs but git-lfs, which this machine may have."""
    (tmp_path / "bin").mkdir()
    for folder in os.environ["PATH"].split(":"):
        for program in Path(folder).glob("*"):
            link = tmp_path / "bin" / program.name
            if program.name != "git-lfs" and not link.is_symlink():
                link.symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


@pytest.mark.usefixtures("no_git_lfs")
async def test_lfs_without_its_program(workspaces: Kind, with_lfs: Path) -> None:
    made = await prepare(workspaces, with_lfs)
    [told] = made.events
    assert told.sentence().endswith("only pointers in the workspace: git-lfs is not installed.")
    assert (made.path / "a.bin").read_text() == POINTER
    write(made.path, {"a.bin": "changed", "work": "x"})
    again = await prepare(workspaces, with_lfs)
    assert [e.type for e in again.events] == ["snapshot.saved"]
    assert (made.path / "a.bin").read_text() == POINTER


async def test_lfs_that_cannot_reach_its_server(
    workspaces: Kind, with_lfs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = 'case "$*" in "smudge --skip"*) cat;; *) echo "batch: no such host" >&2; exit 2;; esac'
    executable(tmp_path / "bin" / "git-lfs", fake)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    made = await prepare(workspaces, with_lfs)
    assert [e.type for e in made.events] == ["workspace.lfs_pointers"]
    assert (made.path / "a.bin").read_text() == POINTER
