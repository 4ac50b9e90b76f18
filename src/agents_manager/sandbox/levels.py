"""How well commands can be kept apart from the machine here. The answer comes from trying it: a
command is really run in the sandbox, and really tries to get out."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from agents_manager.sandbox import bubblewrap
from agents_manager.sandbox.bubblewrap import Cage

PATIENCE_S = 20.0
AGAIN_S = 60.0
"""What fails is tried again after this long, so that a server notices what was installed."""
USERS_MAY = (
    "Allow user namespaces: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 on"
    " Ubuntu, kernel.unprivileged_userns_clone=1 on Debian; a container needs to be allowed them"
)


class Level(StrEnum):
    S3 = "S3"
    """Files, network and processes are kept apart."""
    NONE = "none"
    """Nothing is."""


@dataclass(frozen=True, slots=True)
class Found:
    level: Level
    why: str
    """In a sentence: what was tried, or what is missing."""
    way_out: str = ""


# Each line names a way out of the sandbox that was open.
ESCAPES = """\
import json, os, socket, sys
told = json.loads(sys.argv[1])
open_ways = []
def tried(name, way):
    try:
        if way():
            open_ways.append(name)
    except OSError:
        pass
def reads_home():
    return open(told["canary"]).read() == "canary"
def reaches_the_machine():
    with socket.create_connection(("127.0.0.1", told["port"]), 2):
        return True
def becomes_root():
    import ctypes
    libc = ctypes.CDLL(None)
    return libc.unshare(0x10000000) == 0 or 0 in os.getresuid()
tried("files of the user can be read", reads_home)
tried("the machine's own network can be reached", reaches_the_machine)
tried("user namespaces can be made", becomes_root)
with open("came.txt", "w") as file:
    json.dump(open_ways, file)
"""


def probe() -> Found:
    """Runs a command in the sandbox that tries three ways out."""
    if sys.platform != "linux":
        return Found(Level.NONE, "There is a sandbox for Linux alone.")
    if bubblewrap.found() is None:
        way = "Install bubblewrap: sudo apt install bubblewrap (or dnf, pacman, apk add)"
        return Found(Level.NONE, "The program bubblewrap is not installed.", way)
    with (
        tempfile.TemporaryDirectory(prefix="am-probe-") as folder,
        socket.create_server(("127.0.0.1", 0)) as door,
    ):
        return _tried(Path(folder), door.getsockname()[1])


def _tried(folder: Path, port: int) -> Found:
    """The canary lies beside the folder that is granted, in a place that is to be hidden."""
    work, canary = folder / "work", folder / "canary"
    work.mkdir()
    canary.write_text("canary")
    folder.chmod(0o755)
    told = json.dumps({"canary": str(canary), "port": port})
    argv = (sys.executable, "-I", "-S", "-c", ESCAPES, told)
    env = {"PATH": os.defpath}
    cage = Cage(argv=argv, cwd=work, writes=(work,), hides=(folder,), env=env)
    try:
        done = subprocess.run(
            bubblewrap.wrapped(cage),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE_S,
            env={},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Found(Level.NONE, f"The sandbox could not be tried: {error}.")
    came = work / "came.txt"
    if done.returncode or not came.exists():
        said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return Found(Level.NONE, f"Bubblewrap does not work here: {said}", _way_out(said))
    return _verdict(json.loads(came.read_text()))


def _verdict(open_ways: Sequence[str]) -> Found:
    if open_ways:
        return Found(Level.NONE, f"The sandbox does not hold: {'; '.join(open_ways)}.")
    how = f", as user {bubblewrap.SERVICE_ID} instead of root" if bubblewrap.is_root() else ""
    return Found(Level.S3, f"Bubblewrap holds: three ways out were tried in vain{how}.")


def _way_out(said: str) -> str:
    refused = any(word in said for word in ("ermission", "user namespace", "not permitted"))
    return USERS_MAY if refused else "Update bubblewrap; 0.7 or newer is needed."


class Levels:
    """The probe, kept for the process: for good where it holds, for a minute where it does not."""

    def __init__(
        self, probe: Callable[[], Found] = probe, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._probe = probe
        self._clock = clock
        self._lock = threading.Lock()
        self._found: Found | None = None
        self._at = 0.0

    def found(self) -> Found:
        with self._lock:
            old = self._found is not None and self._clock() - self._at > AGAIN_S
            if self._found is None or (old and self._found.level is Level.NONE):
                self._found = self._probe()
                self._at = self._clock()
            return self._found
