"""What the process is told that becomes the command."""

import os
import sys
import tempfile
from typing import Any

from agents_manager.sandbox.bubblewrap import EGRESS_PORT, MEGABYTE, Bounds, Cage

PROXIED = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
DIRECT = "localhost,127.0.0.1,::1"


def told(cage: Cage, umask: int, proxy: int = EGRESS_PORT) -> dict[str, Any]:
    return {
        "argv": list(cage.argv),
        "env": environment(cage, proxy),
        "cwd": str(cage.cwd),
        "umask": umask,
        "limits": limits(cage.bounds),
    }


def environment(cage: Cage, proxy: int = EGRESS_PORT) -> dict[str, str]:
    """A proxy of the machine's own cannot be reached from inside."""
    both = {*PROXIED, *(name.lower() for name in PROXIED), "NO_PROXY", "no_proxy"}
    env = {name: value for name, value in cage.env.items() if name not in both}
    if cage.talks:
        address = f"http://127.0.0.1:{proxy}"
        for name in PROXIED[:2]:
            env |= {name: address, name.lower(): address}
        env |= {"NO_PROXY": DIRECT, "no_proxy": DIRECT}
    return env


def limits(bounds: Bounds) -> dict[str, int]:
    wanted = {
        "RLIMIT_CORE": 0,
        "RLIMIT_NPROC": bounds.processes,
        "RLIMIT_NOFILE": bounds.open_files,
        "RLIMIT_CPU": bounds.cpu_s,
        "RLIMIT_FSIZE": bounds.file_mb and bounds.file_mb * MEGABYTE,
        "RLIMIT_AS": bounds.address_mb and bounds.address_mb * MEGABYTE,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def in_memory(data: bytes) -> int:
    """A file without a name, open at its beginning."""
    fd = _nameless()
    with os.fdopen(os.dup(fd), "wb") as file:
        file.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _nameless() -> int:
    if sys.platform == "linux":
        return os.memfd_create("agents-manager", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
