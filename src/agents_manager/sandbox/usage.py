"""Ends a command that uses more memory or disk than it may. Where a control group holds the memory,
only the disk is looked at. This module is part of every live run, so it imports little."""

from __future__ import annotations

import errno
import os
import signal
import stat
import time
from contextlib import suppress

from agents_manager.sandbox import tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Bounds = Mapping[str, int | None]
    """The fields of `bubblewrap.Bounds`."""

MEGABYTE = 1024 * 1024
LOOK_S = 1.0
RESTS = 20
"""A look at the disk is followed by a rest that is so many times as long."""


class Watch:
    """Looks once a second at what a process and all below it use, until it is stopped."""

    def __init__(self, pid: int, bounds: Bounds, writes: Sequence[str], *, memory: bool) -> None:
        self.why: str | None = None
        """Why the process was ended, if a bound did it."""
        self._pid = pid
        self._bounds = bounds
        self._writes = writes
        self._memory = memory
        self._over = False

    def follow(self) -> None:
        written = _written(self._writes) or 0
        look_at = time.monotonic()
        while not self._over:
            time.sleep(LOOK_S)
            why = too_much_memory(self._pid, self._bounds) if self._memory else None
            if why is None and time.monotonic() >= look_at:
                began = time.monotonic()
                why = too_much_disk(self._writes, self._bounds, written)
                look_at = time.monotonic() + RESTS * (time.monotonic() - began)
            if why is not None and not self._over:
                self.why = why
                with suppress(ProcessLookupError):
                    os.kill(self._pid, signal.SIGKILL)
                return

    def stop(self) -> None:
        """After the end of the process, whose id may soon be that of another."""
        self._over = True


def too_much_memory(pid: int, bounds: Bounds) -> str | None:
    allowed = bounds.get("memory_mb")
    if allowed is None:
        return None
    used = sum(_memory(each) for each in (pid, *tree.below(pid))) // MEGABYTE
    if used <= allowed:
        return None
    return (
        f"The sandbox ended it: its processes used {used} MB of memory together, and"
        f" {allowed} MB are allowed (sandbox.memoryMb)."
    )


def out_of_memory(bounds: Bounds) -> str:
    return (
        f"The sandbox ended it: its processes used more than the {bounds.get('memory_mb')} MB of"
        " memory that are allowed together (sandbox.memoryMb)."
    )


def too_much_disk(writes: Sequence[str], bounds: Bounds, before: int) -> str | None:
    """A full disk is no reason to end a command: it waits for room, like all other work."""
    allowed = bounds.get("disk_mb")
    if allowed is None:
        return None
    now = _written(writes)
    if now is None:
        return "The sandbox ended it: it made folders that lie too deep to be looked at."
    grown = (now - before) // MEGABYTE
    if grown <= allowed:
        return None
    return (
        f"The sandbox ended it: it wrote {grown} MB, and {allowed} MB are allowed (sandbox.diskMb)."
    )


def _memory(pid: int) -> int:
    """Without the pages of files, which are shared and can be read again."""
    kilobytes = 0
    with suppress(OSError), open(f"/proc/{pid}/status", encoding="utf-8") as file:  # noqa: PTH123
        for line in file:
            if line.startswith(("RssAnon:", "RssShmem:")):
                kilobytes += int(line.split()[1])
    return kilobytes * 1024


def _written(writes: Sequence[str]) -> int | None:
    """The bytes of all that the command may write to; None where they cannot be counted."""
    total = 0
    ahead = [path for path in writes if not _lies_in_another(path, writes)]
    while ahead:
        try:
            with os.scandir(ahead.pop()) as entries:
                for entry in entries:
                    found = entry.stat(follow_symlinks=False)
                    total += found.st_blocks * 512
                    if stat.S_ISDIR(found.st_mode):
                        ahead.append(entry.path)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return None
    return total


def _lies_in_another(path: str, folders: Sequence[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)
