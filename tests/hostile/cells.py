"""A machine in miniature around the sandbox: what is to be protected, and the program that tries to
get at it, kept or not."""

import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents_manager.sandbox import seccomp
from agents_manager.sandbox.bubblewrap import BUBBLEWRAP, PACKAGE, Bounds, Cage

ESCAPES = Path(__file__).with_name("escapes.py")
WITHOUT = Path(__file__).with_name("without.py")
SOURCES = PACKAGE.parents[1]
PATIENCE_S = 60
MB = 1024 * 1024


@dataclass(frozen=True)
class Attempt:
    open: frozenset[str]
    broken: tuple[str, ...]
    tried: int
    survivors: int
    stderr: str = field(repr=False)


@dataclass
class Cell:
    folder: Path
    told: dict[str, Any]
    python: str
    prefix: Sequence[str] = ()
    """What makes a command one of another user."""

    @property
    def work(self) -> Path:
        return self.folder / "data/worktrees/mine"

    def kept(self, *off: str, level: str = BUBBLEWRAP) -> Attempt:
        """In the sandbox, but for the measures that are off."""
        cage = Cage(
            argv=(self.python, "-I", "-S", str(self._seen("escapes.py")), str(self._told())),
            cwd=self.work,
            env={"PATH": "/usr/bin:/bin"},
            writes=(self.work,),
            reads=[
                self._seen(name) for name in ("escapes.py", "told.json", "shown", "stays_root.py")
            ],
            hides=(self.folder / "home", self.folder / "data", self.folder / "project"),
            hosts=("allowed.test", "localhost"),
            ports=(self.told["open_port"],),
            bounds=Bounds(file_mb=1, processes=500),
            level=level,
        )
        # Where the network or `/run` is that of the machine, there is no room for ways out; without
        # a namespace of its own, what serves them is ended by nobody.
        if {"network", "hidden places", "processes"} & {*off}:
            cage = cage._replace(hosts=(), ports=())
        self.told["alone"] = level != BUBBLEWRAP
        argv = [self.python, "-I", "-S", str(WITHOUT), str(SOURCES), ",".join(off), cage.dumped()]
        return self._tried(argv)

    def loose(self) -> Attempt:
        """With nothing around it: the control."""
        return self._tried([self.python, "-I", "-S", str(ESCAPES), str(self._told())])

    def level(self, *off: str) -> list[str]:
        """What the probe finds for this user where there is no bubblewrap: the level, why, and what
        would give a higher one."""
        code = (
            "import json, sys; sys.path.insert(0, sys.argv[1])\n"
            "from agents_manager.sandbox import bubblewrap, levels\n"
            "bubblewrap.found = lambda: None\n"
            "start = [sys.argv[2], sys.argv[1], sys.argv[3]]\n"
            "bubblewrap.PROGRAM = (*bubblewrap.PROGRAM[:3], *start)\n"
            "found = levels.probe()\n"
            "print(json.dumps([found.level, found.why, found.way_out]))"
        )
        told = [str(SOURCES), str(WITHOUT), ",".join(off)]
        argv = [*self.prefix, self.python, "-I", "-S", "-c", code, *told]
        done = subprocess.run(argv, env={}, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def started(self, *argv: str, off: str = "", **grants: Any) -> "subprocess.Popen[str]":
        """Another command in the sandbox, with a process group of its own."""
        wanted = {"cwd": self.work, "writes": (self.work,), "hides": (self.folder,), **grants}
        cage = Cage(argv=argv, env={"PATH": "/usr/bin:/bin"}, **wanted)
        return subprocess.Popen(
            [*self.prefix, self.python, "-I", "-S", str(WITHOUT), str(SOURCES), off, cage.dumped()],
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )

    def _seen(self, name: str) -> Path:
        return self.folder / "data/jobs" / name

    def _told(self) -> Path:
        self._seen("told.json").write_text(json.dumps(self.told))
        return self._seen("told.json")

    def _tried(self, argv: Sequence[str]) -> Attempt:
        self._told()
        done = subprocess.run(
            [*self.prefix, *argv],
            cwd=self.work,
            env={"PATH": "/usr/bin:/bin", "AM_CANARY": "secret"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        if not done.stdout:
            raise AssertionError(f"it could not be run: {done.stderr}")
        found = json.loads(done.stdout)
        left = _end(self.told["marker"])
        return Attempt(
            frozenset(found["open"]), tuple(found["broken"]), found["tried"], left, done.stderr
        )


def marked(marker: str) -> list[int]:
    """The processes that have this among their arguments."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            mine = marker.encode() in (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if mine:
            found.append(int(entry.name))
    return found


def _end(marker: str) -> int:
    """Ends what the program left behind, and says how many."""
    found = marked(marker)
    for pid in found:
        os.kill(pid, 9)
    return len(found)


@contextmanager
def cell(user: int | None = None) -> Iterator[Cell]:
    """For this user, or for another one where this is root."""
    folder = Path(tempfile.mkdtemp(prefix="am-cell-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        for name in ("home", "data/worktrees/mine", "data/worktrees/other", "data/jobs", "project"):
            (folder / name).mkdir(parents=True)
        secrets = ("home/secret", "data/token", "project/.env", "data/worktrees/other/file")
        for name in secrets:
            (folder / name).write_text("secret")
        (folder / "data/jobs/shown").write_text("shown")
        (folder / "linkable").write_text("x")
        shutil.copy(ESCAPES, folder / "data/jobs/escapes.py")
        stays_root = (PACKAGE / "inside.py").read_text().replace('_become(told["user"])', "None")
        (folder / "data/jobs/stays_root.py").write_text(stays_root)
        told = _surroundings(folder, stack)
        prefix: list[str] = []
        if user is not None:
            ids = [f"--reuid={user}", f"--regid={user}", "--clear-groups"]
            prefix = [str(shutil.which("setpriv")), *ids]
            for path in (folder, *folder.rglob("*")):
                os.chown(path, user, user, follow_symlinks=False)
        # Not every user can read the Python of these tests.
        python = sys.executable if user is None else "/usr/bin/python3"
        stack.enter_context(_sleeping(folder, told, prefix, python))
        yield Cell(folder, told, python, prefix)


def _surroundings(folder: Path, stack: ExitStack) -> dict[str, Any]:
    """What runs on the machine, and listens."""
    marker = folder.name
    doors = [socket.create_server(("0.0.0.0", 0)) for _ in range(2)]
    named = socket.socket(socket.AF_UNIX)
    named.bind(str(folder / "home/door"))
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind(f"\0{marker}")
    for door in (*doors, named, abstract):
        door.listen(50)
        stack.callback(door.close)
    machine = platform.machine()
    return {
        "numbers": {**seccomp.NUMBERS[machine], **seccomp.ALIKE},
        "home": str(folder / "home"),
        "data": str(folder / "data"),
        "project": str(folder / "project"),
        "shown": str(folder / "data/jobs/shown"),
        "linkable": str(folder / "linkable"),
        "marker": marker,
        "abstract": marker,
        "port": doors[0].getsockname()[1],
        "open_port": doors[1].getsockname()[1],
        "addresses": sorted({a[4][0] for a in socket.getaddrinfo(socket.gethostname(), None)}),
        "segment": 0x414D0000 | (os.getpid() & 0xFFFF),
        "file_bytes": MB + 1,
        "processes": 500,
        "alone": False,
    }


@contextmanager
def _sleeping(
    folder: Path, told: dict[str, Any], prefix: Sequence[str], python: str
) -> Iterator[None]:
    """A program of the same user, with shared memory, whose folder is the home."""
    code = (
        "import ctypes, sys, time; libc = ctypes.CDLL(None)\n"
        f"made = libc.shmget({told['segment']}, 4096, 0o1600)\n"
        "print('ready', flush=True); sys.stdin.read()\n"
        "libc.shmctl(made, 0, None)"
    )
    sleeper = subprocess.Popen(
        [*prefix, python, "-I", "-S", "-c", code, "am-sleeper"],
        cwd=folder / "home",
        env={"AM_CANARY": "secret"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert sleeper.stdin is not None
    assert sleeper.stdout is not None
    sleeper.stdout.readline()
    told["sleeper"] = sleeper.pid
    try:
        yield
    finally:
        sleeper.stdin.close()
        sleeper.wait()
        sleeper.stdout.close()
