"""Lock files that a killed git left. Git takes its locks away at every other end, and refuses to
work beside one, so somebody has to do it. Removed is only what is known to be ours: a lock in the
user's own files may belong to a git that the user runs now."""

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path

from agents_manager.domain import names

OURS = "agents-manager.lock"
SLACK_S = 0.05
"""The clock of files is a little behind the clock of processes."""
SOON_S = 10.0
"""A lock that is younger than the git by more than this is somebody else's."""
STALE_S = 1.0
"""How long a lock must stand before its git counts as dead."""


def drop_since(git_dir: Path, began: float) -> None:
    """Drops what was locked in a repository since one of our gits began there that was killed."""
    for lock in _locks(git_dir):
        if _time(lock) >= began - SLACK_S:
            lock.unlink(missing_ok=True)


async def drop_left(common: Path, last_git: bytes) -> None:
    """Drops what the last git of a process left that died with it, told by when it began."""
    try:
        began = float(last_git)
    except ValueError:  # Not written by us: an agent can reach this file.
        return
    first, last = began - SLACK_S, began + SOON_S
    await drop_stale([lock for lock in _locks(common) if first <= _time(lock) <= last])


async def drop_stale(locks: Iterable[Path]) -> None:
    """Drops locks that stand for long. The caller holds the repository's own lock, so none of our
    gits is at work there, and no agent has a claim to these."""
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


def _time(lock: Path) -> float:
    try:
        return lock.lstat().st_mtime
    except OSError:
        return 0.0


def _inode(lock: Path) -> int | None:
    try:
        return lock.lstat().st_ino
    except OSError:
        return None
