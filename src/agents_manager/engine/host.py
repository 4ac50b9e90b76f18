"""The host lock: one engine per data directory. Everything else only writes rows."""

import fcntl
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from agents_manager.errors import HostLocked

LEFTOVER_S = 5.0
"""How long a lock may outlive the server that took it."""


class HostLock:
    """Held for as long as the process lives; the kernel lets go of it when the process dies."""

    def __init__(self, home: Path) -> None:
        self._path = home / "host.lock"
        self._fd: int | None = None

    def __enter__(self) -> Self:
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not _taken(fd):
            holder = _holder(fd) or "unknown"
            os.close(fd)
            raise HostLocked(
                f"Another server (process {holder}) already works on {self._path.parent}. "
                "Stop it first, or use another AM_HOME."
            )
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
        self._fd = fd
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _taken(fd: int) -> bool:
    """At once, or a moment later where it is held for nobody: by a program that only looks, or by a
    child of a killed server that has not become another program yet."""
    end = time.monotonic() + LEFTOVER_S
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if _is_process(_holder(fd)) or time.monotonic() > end:
                return False
            time.sleep(0.02)
        else:
            return True


def _holder(fd: int) -> str:
    return os.pread(fd, 32, 0).decode().strip()


def _is_process(holder: str) -> bool:
    try:
        os.kill(int(holder), 0)
    except PermissionError:
        return True
    except (ValueError, ProcessLookupError):
        return False
    return True


def is_live(home: Path) -> bool:
    """Whether a server or worker is performing the effects of this data directory."""
    path = home / "host.lock"
    if not path.exists():
        return False
    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(fd)


def executor_id(home: Path) -> str:
    """The name of this host in the engine: made once, kept beside the data."""
    path = home / "host-id"
    if not path.exists():
        fresh = path.with_name(f"host-id.{secrets.token_hex(4)}")
        fresh.write_text(secrets.token_hex(8))
        fresh.chmod(0o600)
        with suppress(FileExistsError):  # Another program was quicker.
            path.hardlink_to(fresh)
        fresh.unlink()
    return path.read_text().strip()
