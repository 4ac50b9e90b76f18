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

from agents_manager.sandbox import bubblewrap, landlock, seatbelt
from agents_manager.sandbox.bubblewrap import Cage

PATIENCE_S = 20.0
AGAIN_S = 60.0
"""What fails is tried again after this long, so that a server notices what was installed."""
USERS_MAY = (
    "Allow user namespaces: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 on"
    " Ubuntu, kernel.unprivileged_userns_clone=1 on Debian, user.max_user_namespaces=10000 where it"
    " is 0; a container needs to be allowed them"
)


class Level(StrEnum):
    S3 = "S3"
    """Files, network and processes are kept apart."""
    S2 = "S2"
    """Files and network are; processes can be seen. Linux without namespaces, by Landlock."""
    S1 = "S1"
    """Files and network are. macOS, by its own sandbox."""
    NONE = "none"
    """Nothing is."""

    def less_than(self, wanted: str) -> bool:
        """Whether it keeps less than what was asked for; `auto` asks for nothing."""
        order = list(Level)
        return wanted != "auto" and order.index(self) > order.index(Level(wanted))


@dataclass(frozen=True, slots=True)
class Found:
    level: Level
    why: str
    """In a sentence: what was tried, or what is missing; also why there is no higher level."""
    way_out: str = ""
    """What would give a higher one."""


# Each line names a way out of the sandbox that was open.
ESCAPES = """\
import json, os, socket, sys
told = json.loads(sys.argv[1])
open_ways = []
def tried(name, way):
    try:
        if way():
            open_ways.append(name)
    except (OSError, AttributeError):
        pass
def reads_home():
    return open(told["canary"]).read() == "canary"
def reaches_the_machine():
    with socket.create_connection(("127.0.0.1", told["port"]), 2):
        return True
def becomes_root():
    import ctypes
    return os.geteuid() == 0 or ctypes.CDLL(None).unshare(0x10000000) == 0
def asks_a_program():
    with socket.socket(socket.AF_UNIX) as door:
        door.connect(told["door"])
        return True
def sends_a_datagram():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        return door.sendto(b"x", ("127.0.0.1", told["port"])) == 1
def asks_the_kernel():
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close()
    return True
tried("files of the user can be read", reads_home)
tried("the machine's own network can be reached", reaches_the_machine)
tried("user namespaces can be made", becomes_root)
if told["alone"]:
    port = int(os.environ["HTTP_PROXY"].rpartition(":")[2])
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
    except OSError as error:
        sys.exit(f"The proxy cannot be reached: {error}.")
    tried("other programs can be asked by their sockets", asks_a_program)
    tried("datagrams can be sent", sends_a_datagram)
    tried("the network can be asked of the kernel", asks_the_kernel)
with open("came.txt", "w") as file:
    json.dump(open_ways, file)
"""


def probe() -> Found:
    """The strongest that holds. What is missing for a stronger one is told with it."""
    if sys.platform == "darwin":
        return by_seatbelt()
    if sys.platform != "linux":
        return Found(Level.NONE, "There is a sandbox for Linux and macOS alone.")
    best = by_bubblewrap()
    if best.level is Level.S3:
        return best
    less = by_landlock()
    way_out = best.way_out or less.way_out
    if less.level is Level.NONE:
        return Found(Level.NONE, f"{best.why} {less.why}", way_out)
    return Found(less.level, f"{less.why} Not S3: {best.why}", way_out)


def by_bubblewrap() -> Found:
    if bubblewrap.found() is None:
        way = "Install bubblewrap: sudo apt install bubblewrap (or dnf, pacman, apk add)"
        return Found(Level.NONE, "The program bubblewrap is not installed.", way)
    trial = _trial(Level.S3)
    if isinstance(trial, str):
        return Found(Level.NONE, f"Bubblewrap does not work here: {trial}", _way_out(trial))
    if trial:
        return _broken(trial)
    how = f", as user {bubblewrap.SERVICE_ID} instead of root" if bubblewrap.is_root() else ""
    return Found(Level.S3, f"Bubblewrap holds: three ways out were tried in vain{how}.")


def by_landlock() -> Found:
    if bubblewrap.is_root():
        why = "Landlock (S2) does not keep root."
        return Found(Level.NONE, why, "Run Agents Manager as a user who is not root")
    known = landlock.version()
    if known < landlock.LEAST:
        return Found(Level.NONE, "The kernel has no Landlock that knows of TCP (S2, Linux 6.7).")
    trial = _trial(Level.S2)
    if isinstance(trial, str):
        return Found(Level.NONE, f"Landlock does not work here: {trial}")
    if trial:
        return _broken(trial)
    signals = "" if known >= landlock.SCOPES else " Before Linux 6.12, signals are not kept in."
    return Found(Level.S2, f"Landlock holds: six ways out were tried in vain.{signals}")


def by_seatbelt() -> Found:
    if bubblewrap.is_root():
        why = "The sandbox of macOS (S1) does not keep root."
        return Found(Level.NONE, why, "Run Agents Manager as a user who is not root")
    if not Path(seatbelt.PROGRAM).exists():
        return Found(Level.NONE, f"There is no {seatbelt.PROGRAM}.")
    trial = _trial(Level.S1)
    if isinstance(trial, str):
        return Found(Level.NONE, f"The sandbox of macOS does not work here: {trial}")
    if trial:
        return _broken(trial)
    why = "The sandbox of macOS holds: six ways out were tried in vain. S3 and S2 take Linux."
    return Found(Level.S1, why, "Run Agents Manager in a virtual machine with Linux")


def _broken(open_ways: Sequence[str]) -> Found:
    return Found(Level.NONE, f"The sandbox does not hold: {'; '.join(open_ways)}.")


def _trial(level: Level) -> str | list[str]:
    """The ways out that were open to a command in the sandbox; or why it could not be run in it.
    What it looks for lies beside the folder that is granted, in a place that is to be hidden."""
    with (
        tempfile.TemporaryDirectory(prefix="am-probe-") as name,
        socket.create_server(("127.0.0.1", 0)) as door,
        socket.socket(socket.AF_UNIX) as named,
    ):
        folder = Path(name)
        work, canary = folder / "work", folder / "canary"
        work.mkdir()
        canary.write_text("canary")
        named.bind(str(folder / "door"))
        named.listen()
        folder.chmod(0o755)
        told = {
            "canary": str(canary),
            "port": door.getsockname()[1],
            "door": str(folder / "door"),
            "alone": level is not Level.S3,
        }
        argv = (sys.executable, "-I", "-S", "-c", ESCAPES, json.dumps(told))
        env = {"PATH": os.defpath}
        cage = Cage(argv=argv, cwd=work, writes=(work,), hides=(folder,), env=env, level=level)
        return _came(cage if level is Level.S3 else cage._replace(hosts=("probe.invalid",)))


def _came(cage: Cage) -> str | list[str]:
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
        return f"it could not be tried: {error}."
    came = cage.cwd / "came.txt"
    if done.returncode or not came.exists():
        return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}."])[-1]
    open_ways: list[str] = json.loads(came.read_text())
    return open_ways


def _way_out(said: str) -> str:
    refused = any(word in said for word in ("ermission", "namespace", "not permitted"))
    return USERS_MAY if refused else "Update bubblewrap; 0.7 or newer is needed."


class Levels:
    """The probe, kept for the process: for good where nothing is missing, else for a minute."""

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
            if self._found is None or (old and self._found.level is not Level.S3):
                self._found = self._probe()
                self._at = self._clock()
            return self._found
