"""A git that a person runs in a task's workspace: it is waited for or reported, and neither its
lock nor its folder is touched."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agents_manager.domain.event import WorkspaceRebuilt
from agents_manager.errors import WorkspaceBusy
from agents_manager.scm import holders, locks
from agents_manager.scm.clones import Clones
from agents_manager.scm.worktrees import Worktrees
from tests.repos import make_repo, own_home, run, write

__all__ = ["own_home"]

BRANCH = "agent/a-task-1a2b3c4d"
EDITOR = """#!/bin/sh
echo "By hand" >"$1"
touch "$STARTED"
while [ ! -e "$DONE" ]; do sleep 0.05; done
"""

Kind = type[Worktrees] | type[Clones]


class Person:
    """Has a commit open in an editor, in a folder."""

    def __init__(self, tmp_path: Path) -> None:
        self._editor, self._done = tmp_path / "editor", tmp_path / "done"
        self._started = tmp_path / "started"
        self._editor.write_text(EDITOR)
        self._editor.chmod(0o755)
        self._git: subprocess.Popen[bytes] | None = None

    def commit(self, folder: Path, *flags: str) -> None:
        env = {
            **os.environ,
            "GIT_EDITOR": str(self._editor),
            "STARTED": str(self._started),
            "DONE": str(self._done),
        }
        self._git = subprocess.Popen(["git", "commit", *flags], cwd=folder, env=env)
        while not self._started.exists():
            assert self._git.poll() is None
            os.sched_yield()

    def save(self) -> None:
        self._done.touch()
        assert self._git is not None
        assert self._git.wait() == 0

    def die(self) -> None:
        assert self._git is not None
        self._git.kill()
        self._git.wait()
        self._done.touch()


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    someone = Person(tmp_path)
    yield someone
    if someone._git and someone._git.poll() is None:
        someone.die()


@pytest.fixture
def repo(tmp_path: Path, own_home: Path) -> Path:
    return make_repo(tmp_path / "a repo", {"file": "1\n"})


@contextmanager
def opened(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A program that has begun, until its input ends."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout
        program.stdout.readline()
        yield program


@contextmanager
def waiting(monkeypatch: pytest.MonkeyPatch, seconds: float) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(holders, "WAIT_S", seconds)
        yield


@pytest.mark.parametrize("kind", [Worktrees, Clones])
@pytest.mark.parametrize("flags", [("-a",), ()], ids=["with a lock", "without a lock"])
async def test_open_commit_of_a_person_is_reported_and_survives(
    tmp_path: Path,
    repo: Path,
    person: Person,
    monkeypatch: pytest.MonkeyPatch,
    kind: Kind,
    flags: tuple[str, ...],
) -> None:
    workspaces = kind(tmp_path / "trees")
    made = await workspaces.prepare(repo, "task1", BRANCH, "main")
    write(made.path, {"file": "by hand\n"})
    run(made.path, "add", "file")
    person.commit(made.path, *flags)

    with waiting(monkeypatch, 0.5):
        for attempt in (
            workspaces.prepare(repo, "task1", BRANCH, "main"),
            workspaces.commit_all(made.path, BRANCH, "By the product"),
            workspaces.remove(repo, "task1"),
        ):
            with pytest.raises(WorkspaceBusy, match=r'"git commit.*process \d+.*try again'):
                await attempt
    assert (made.path / "file").read_text() == "by hand\n"

    person.save()
    again = await workspaces.prepare(repo, "task1", BRANCH, "main")
    assert again.path == made.path
    assert not any(isinstance(happened, WorkspaceRebuilt) for happened in again.events)
    assert run(repo, "log", "-1", "--format=%s", BRANCH) == "By hand"
    assert run(repo, "show", f"{BRANCH}:file") == "by hand"


async def test_commit_that_ends_soon_is_waited_for(
    tmp_path: Path, repo: Path, person: Person
) -> None:
    worktrees = Worktrees(tmp_path / "trees")
    made = await worktrees.prepare(repo, "task1", BRANCH, "main")
    write(made.path, {"file": "by hand\n"})
    person.commit(made.path, "-a")
    asyncio.get_running_loop().call_later(1.0, person.save)
    again = await worktrees.prepare(repo, "task1", BRANCH, "main")
    assert again.events == ()
    assert run(repo, "log", "-1", "--format=%s", BRANCH) == "By hand"


async def test_lock_of_a_dead_commit_is_removed(tmp_path: Path, repo: Path, person: Person) -> None:
    worktrees = Worktrees(tmp_path / "trees")
    made = await worktrees.prepare(repo, "task1", BRANCH, "main")
    write(made.path, {"file": "by hand\n"})
    person.commit(made.path, "-a")
    lock = Path(run(made.path, "rev-parse", "--absolute-git-dir")) / "index.lock"
    assert lock.exists()
    person.die()
    assert (await worktrees.commit_all(made.path, BRANCH, "By the product")).sha
    assert not lock.exists()


async def test_lock_that_a_program_has_open_is_kept(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs with a git of their own keep their lock files open."""
    lock = locks.on_branch(repo / ".git", BRANCH)
    lock.parent.mkdir(parents=True)
    program = "import sys; file = open(sys.argv[1], 'x'); print(); sys.stdin.read()"
    command = [sys.executable, "-c", program, str(lock)]
    with opened(command) as other:
        worktrees = Worktrees(tmp_path / "trees")
        with waiting(monkeypatch, 0.5), pytest.raises(WorkspaceBusy, match=f"process {other.pid}"):
            await worktrees.prepare(repo, "task1", BRANCH, "main")
        assert lock.exists()
        other.communicate()
    await worktrees.prepare(repo, "task1", BRANCH, "main")
    assert not lock.exists()


def test_git_that_only_reads_stops_nothing(tmp_path: Path, repo: Path) -> None:
    lock = repo / ".git" / "index.lock"
    lock.touch()
    command = ["git", "cat-file", "--batch"]
    with subprocess.Popen(command, cwd=repo, stdin=subprocess.PIPE) as reader:
        assert holders.at_work(repo, repo / ".git") is None
        reader.communicate(b"")


def test_any_running_git_may_hold_a_lock_without_proc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holders, "PROC", tmp_path / "nothing")
    lock = tmp_path / "index.lock"
    lock.touch()
    with subprocess.Popen(["git", "hash-object", "--stdin"], stdin=subprocess.PIPE, cwd="/") as git:
        reason = holders.holder(lock, (tmp_path,))
        assert reason is not None
        assert "may be held by" in reason
        git.communicate(b"")
