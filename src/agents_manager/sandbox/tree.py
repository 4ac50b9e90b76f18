"""The processes below one of ours, and their end where no namespace takes them along."""

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

CHILD_SUBREAPER = 36
"""Of `prctl`."""
LONG_S = 10.0
SOON_S = 0.2
SHORT_S = 0.001
ROUND_S = 0.01


def below(pid: int) -> list[int]:
    """All that descend from it, without itself."""
    children: dict[int, list[int]] = {}
    for each, parent in _parents():
        children.setdefault(parent, []).append(each)
    found: list[int] = []
    ahead = [pid]
    while ahead:
        more = children.get(ahead.pop(), [])
        found += more
        ahead += more
    return found


def end_below() -> None:
    """Ends all that descend from this process, also those that are made meanwhile. Who detached
    itself comes back to it where it is `adoptive`."""
    enough = time.monotonic() + LONG_S
    while (left := below(os.getpid())) and time.monotonic() < enough:
        for each in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(each, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(ROUND_S)


def end_adopted() -> None:
    """Returns when nothing is left below this process, which has to be `adoptive`. What bubblewrap
    leaves ends with its namespace within moments; what does not is ended."""
    patience = time.monotonic() + SOON_S
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] or time.monotonic() < patience:
            time.sleep(SHORT_S)
        end_below()


def adoptive() -> None:
    """Processes below this one whose parents end become its children. A Mac knows no such thing."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(CHILD_SUBREAPER, 1, 0, 0, 0)


def _parents() -> list[tuple[int, int]]:
    if sys.platform != "linux":
        import subprocess

        told = subprocess.run(
            ("/bin/ps", "-axo", "pid=,ppid="), capture_output=True, text=True, check=False
        )
        pairs = (line.split() for line in told.stdout.splitlines())
        return [(int(pid), int(parent)) for pid, parent in pairs]
    found: list[tuple[int, int]] = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - names are all it takes
        if name.isdigit():
            with suppress(OSError, IndexError):
                told = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()
                found.append((int(name), int(told[1])))
    return found
