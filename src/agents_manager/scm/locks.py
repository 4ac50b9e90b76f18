"""Lock files that a killed git left. Git removes its locks at every other end, and refuses to work
beside one, so they have to be removed here. A lock that a living process holds is waited for or
reported, and never removed."""

import asyncio
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from agents_manager.domain import names
from agents_manager.errors import WorkspaceBusy
from agents_manager.scm import holders

OURS = "agents-manager.lock"
SLACK_S = 0.05
"""The clock of files is a little behind the clock of processes."""
SOON_S = 10.0
"""A lock that is younger than the git by more than this is somebody else's."""
STALE_S = 1.0
"""How long a lock must stand before its git counts as dead."""


def drop_since(git_dir: Path, began: float) -> None:
    """Drops what was locked in a repository since one of our gits began there that was killed."""
    last = time.monotonic() + STALE_S  # The gits that it started are ending too.
    for lock in _locks(git_dir):
        if _time(lock) < began - SLACK_S:
            continue
        while (held := holders.holder(lock, _users(lock))) and time.monotonic() < last:
            time.sleep(holders.POLL_S)
        if held is None:
            lock.unlink(missing_ok=True)


async def drop_left(common: Path, last_git: bytes) -> None:
    """Drops what the last git of a process left that died with it, told by when it began."""
    try:
        began = float(last_git)
    except ValueError:  # Not written by us: an agent can reach this file.
        return
    first, last = began - SLACK_S, began + SOON_S
    found = [lock for lock in _locks(common) if first <= _time(lock) <= last]
    for lock in await _standing(found):
        if await asyncio.to_thread(holders.holder, lock, _users(lock)) is None:
            lock.unlink(missing_ok=True)


async def drop_stale(locks: Iterable[Path]) -> None:
    """Drops locks that stand for long and whose git is dead; WorkspaceBusy if one is still held
    after a while. The caller holds the repository's own lock, so none of our gits is at work."""
    loop = asyncio.get_running_loop()
    for lock in await _standing(locks):
        number, last = _inode(lock), loop.time() + holders.WAIT_S
        while reason := await asyncio.to_thread(holders.holder, lock, _users(lock)):
            if loop.time() >= last:
                raise WorkspaceBusy(reason)
            await asyncio.sleep(holders.POLL_S)
        if _inode(lock) == number:
            lock.unlink(missing_ok=True)


async def _standing(locks: Iterable[Path]) -> list[Path]:
    """Returns those of the locks that stay for longer than a git at work needs them."""
    found = {lock: number for lock in locks if (number := _inode(lock))}
    if found:
        await asyncio.sleep(STALE_S)
    return [lock for lock, number in found.items() if _inode(lock) == number]


def on_branch(common: Path, branch: str) -> Path:
    return common / "refs" / "heads" / f"{names.check_branch(branch)}.lock"


def in_worktree(admin: Path) -> list[Path]:
    return list(admin.glob("*.lock"))


def _locks(git_dir: Path) -> Iterator[Path]:
    common = git_dir.parent.parent if git_dir.parent.name == "worktrees" else git_dir
    for pattern in ("*.lock", "worktrees/*/*.lock", "refs/**/*.lock"):
        yield from (lock for lock in common.glob(pattern) if lock.name != OURS)


def _users(lock: Path) -> list[Path]:
    """Returns the folders in which a git works that made a lock."""
    if lock.parent.parent.name == "worktrees":
        return [lock.parent, *_work_trees([lock.parent])]
    common = next((p for p in lock.parents if (p / "objects").is_dir()), lock.parent)
    checkout = [common.parent] if common.name == ".git" else []
    return [common, *checkout, *_work_trees((common / "worktrees").glob("*"))]


def _work_trees(admins: Iterable[Path]) -> Iterator[Path]:
    for file in (admin / "gitdir" for admin in admins):
        with suppress(OSError):
            if stat.S_ISREG(file.lstat().st_mode):  # An agent may have put a pipe in its place.
                yield Path(file.read_text(errors="replace").strip()).parent


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
