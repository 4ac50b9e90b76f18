"""The host lock: one engine per data directory. Everything else only writes rows."""

import fcntl
import os
from pathlib import Path
from typing import Self

from agents_manager.errors import HostLocked


class HostLock:
    """Held for as long as the process lives; the kernel lets go of it when the process dies."""

    def __init__(self, home: Path) -> None:
        self._path = home / "host.lock"
        self._fd: int | None = None

    def __enter__(self) -> Self:
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(fd, 32, 0).decode().strip() or "unknown"
            os.close(fd)
            raise HostLocked(
                f"Another server (process {holder}) already works on {self._path.parent}. "
                "Stop it first, or use another AM_HOME."
            ) from None
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
        self._fd = fd
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


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


def executor_id(home: Path, new: str) -> str:
    """The name of this host in the engine: made once, kept beside the data."""
    path = home / "host-id"
    if not path.exists():
        fresh = path.with_name("host-id.new")
        fresh.write_text(new)
        fresh.chmod(0o600)
        fresh.replace(path)
    return path.read_text().strip()
