"""Ignored files of the main checkout that workspaces get."""

import os
from pathlib import Path

import pytest

from agents_manager.flow.ports import IncludedFiles, Workspace
from agents_manager.scm import including
from tests.repos import make_repo, own_home, run, sha, status, write
from tests.workspaces import Kind, workspaces

__all__ = ["own_home", "workspaces"]
pytestmark = pytest.mark.usefixtures("own_home")

BRANCH = "agent/x-1a2b3c4d"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    ignored = ".env*\n*.local\nconf/secret/\n"
    files = {"README.md": "Hello\n", ".gitignore": ignored, "conf/a": "1"}
    return make_repo(tmp_path / "my répo", files)


async def prepared(workspaces: Kind, repo: Path) -> Workspace:
    return await workspaces.prepare(repo, "task1", BRANCH, "main")


async def test_ignored_files_are_copied_and_never_committed(workspaces: Kind, repo: Path) -> None:
    write(repo, {".env": "A=1\n", "conf/secret/deep/key": "k", "other.local": "x"})
    (repo / ".env").chmod(0o600)
    made = await prepared(workspaces, repo)
    files = await workspaces.included(repo, [".env", "conf/secret/**"])
    assert (files.paths, files.refused) == ((".env", "conf/secret/deep/key"), ())
    assert await workspaces.place(files, made.path, made.state) == files.paths
    assert (made.path / ".env").read_text() == "A=1\n"
    assert (made.path / ".env").stat().st_mode & 0o077 == 0
    assert not (made.path / "other.local").exists()
    assert status(made.path) == ""
    before = sha(repo, BRANCH)
    write(made.path, {".gitignore": ""})
    done = await workspaces.commit_all(made.path, BRANCH, "Ignore nothing")
    assert done.left_out == (".env", "conf/secret/deep/key")
    assert sha(repo, BRANCH) != before
    assert run(repo, "show", "--format=", "--name-only", BRANCH) == ".gitignore"


async def test_a_copy_follows_its_source_until_it_is_changed(workspaces: Kind, repo: Path) -> None:
    write(repo, {".env": "A=1\n", ".env.test": "B=1\n"})
    made = await prepared(workspaces, repo)

    async def copied() -> set[str]:
        files = await workspaces.included(repo, [".env*"])
        return {*await workspaces.place(files, made.path, made.state)}

    assert await copied() == {".env", ".env.test"}
    assert await copied() == set()
    write(repo, {".env": "A=2\n", ".env.test": "B=2\n"})
    write(made.path, {".env.test": "B=own\n"})
    assert await copied() == {".env"}
    assert (made.path / ".env").read_text() == "A=2\n"
    assert (made.path / ".env.test").read_text() == "B=own\n"
    (made.path / ".env").unlink()
    assert await copied() == {".env"}


async def test_what_is_not_ignored_or_no_regular_file_is_refused(
    workspaces: Kind, repo: Path, tmp_path: Path
) -> None:
    write(tmp_path, {"outside.local": "x"})
    write(repo, {"new.txt": "x", "big.local": b"x" * (including.MOST_BYTES + 1)})
    (repo / "link.local").symlink_to(tmp_path / "outside.local")
    (repo / "loop.local").symlink_to("loop.local")
    (repo / "up").symlink_to("..")
    os.mkfifo(repo / "pipe.local")
    patterns = ["*.local", "new.txt", "README.md", "../outside.local", "/etc/passwd", "up/**", "!x"]
    files = await workspaces.included(repo, patterns)
    assert files.paths == ()
    assert {*files.refused} >= {
        "README.md is tracked",
        "new.txt is not ignored",
        "big.local is larger than 10 MB",
        "link.local is not a regular file",
        "loop.local is not a regular file",
    }


async def test_no_link_of_an_agent_is_followed(
    workspaces: Kind, repo: Path, tmp_path: Path
) -> None:
    write(repo, {"conf/secret/key": "k", ".env": "A=1\n", "a.local": "1"})
    made = await prepared(workspaces, repo)
    outside = tmp_path / "outside"
    outside.mkdir()
    (made.path / "conf" / "secret").symlink_to(outside)
    (made.path / ".env").symlink_to(outside / "env")
    os.mkfifo(made.path / "a.local")
    files = await workspaces.included(repo, [".env", "conf/secret/", "*.local"])
    assert len(files.paths) == 3
    assert await workspaces.place(files, made.path, made.state) == ()
    assert list(outside.iterdir()) == []


def test_paths_that_lead_out_are_not_written(tmp_path: Path) -> None:
    write(tmp_path, {"repo/inner/x": "1", "x": "2"})
    (tmp_path / "tree").mkdir()
    paths = ("../x", "inner/../../x", ".git/x")
    files = IncludedFiles(repo=tmp_path / "repo" / "inner", paths=paths)
    assert including.place(files, tmp_path / "tree") == ()
    assert list((tmp_path / "tree").rglob("*")) == []


async def test_a_file_that_changes_into_a_pipe_is_not_waited_for(
    workspaces: Kind, repo: Path
) -> None:
    write(repo, {".env": "A=1\n"})
    files = await workspaces.included(repo, [".env"])
    (repo / ".env").unlink()
    os.mkfifo(repo / ".env")
    made = await prepared(workspaces, repo)
    assert await workspaces.place(files, made.path, made.state) == ()
