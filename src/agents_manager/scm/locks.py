"""Lock files that a killed git left. Git takes its locks away at every other end, and refuses to
work beside one, so somebody has to do it. Removed is only what is known to be ours: a lock in the
user's own files may belong to a git that the user runs now."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from agents_manager.domain import names

OURS = "agents-manager.lock"
SLACK_S = 0.05
"""The clock of files is a little behind the clock of processes."""
STALE_S = 1.0
"""How long a git may hold a lock in a worktree of ours before it counts as dead."""


def drop_since(git_dir: Path, began: float) -> None:
    """Drops what was locked in a repository since one of our gits began there that was killed."""
    for lock in _locks(git_dir):
        with suppress(FileNotFoundError):
            if lock.lstat().st_mtime >= began - SLACK_S:
                lock.unlink()


async def drop_stale(locks: Iterable[Path]) -> None:
    """Drops old locks on a task's own branch or worktree. The caller holds the repository's lock,
    so none of our gits is at work there, and the task's agent has ended."""
    found = {lock: number for lock in locks if (number := _inode(lock))}
    if found:
        await asyncio.sleep(STALE_S)
    for lock, number in found.items():
        if _inode(lock) == number:
            lock.unlink(missing_ok=True)


def on_branch(common: Path, branch: str) -> Path:
    return common / "refs" / "heads" / f"{names.check_branch(branch)}.lock"


def in_worktree(admin: Path) -> list[Path]:
    return list(admin.glob("*.lock"))


def _locks(git_dir: Path) -> Iterator[Path]:
    common = git_dir.parent.parent if git_dir.parent.name == "worktrees" else git_dir
    for pattern in ("*.lock", "worktrees/*/*.lock", "refs/**/*.lock"):
        yield from (lock for lock in common.glob(pattern) if lock.name != OURS)


def _inode(lock: Path) -> int | None:
    try:
        return lock.lstat().st_ino
    except OSError:
        return None
