"""Folders that go: measured, put out of sight in one step, then deleted. One pass at a time."""

import fcntl
import json
import os
import shutil
import stat
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from agents_manager.errors import RetentionBusy

TRASH = ".trash"
LOCK = "gc.lock"
"""Held while a pass is at work; afterwards it says what the last one did."""


def size(path: Path) -> int:
    """What lies in a folder, links not followed; what vanishes meanwhile counts for nothing."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                found = (Path(folder) / name).lstat()
            except OSError:
                continue
            total += found.st_size if stat.S_ISREG(found.st_mode) else 0
    return total or (path.lstat().st_size if path.is_file() else 0)


def put_away(home: Path, paths: Iterable[Path]) -> None:
    """In one step each, so that half a folder is never taken for a whole one."""
    trash = home / TRASH
    trash.mkdir(mode=0o700, exist_ok=True)
    for path in paths:
        if os.path.lexists(path):
            path.rename(trash / f"{path.name}.{uuid4().hex}")


def empty(home: Path) -> None:
    for left in (home / TRASH).glob("*"):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


@contextmanager
def alone(home: Path) -> Generator[None]:
    fd = os.open(home / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RetentionBusy(
                f"Another gc is at work on {home}; try again when it is done."
            ) from None
        yield
    finally:
        os.close(fd)


def last(home: Path) -> dict[str, Any] | None:
    """What the last pass left behind; None when there was none."""
    try:
        found = json.loads((home / LOCK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def note(home: Path, at: datetime, removed: dict[str, int]) -> None:
    """Written in place: the file is the lock."""
    text = json.dumps({"at": at.isoformat(), "removed": removed})
    (home / LOCK).write_text(text, encoding="utf-8")
