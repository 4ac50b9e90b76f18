"""Limits that hold at once: a control group (version 2) around the command, where the system lets
us make one. systemd does for what runs below a user's own manager."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NEEDED = ("memory", "pids")
PREFIX = "agents-manager-"
WEIGHT = 50
"""Of the processor; everything else has 100."""
MEGABYTE = 1024 * 1024
LONG_S = 5.0
ROUND_S = 0.01
WAY_OUT = "Start the server below your own manager: systemd-run --user --scope am serve"


class Unavailable(Exception):
    """There is no control group to be had; says why."""


class Group:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def join(self) -> None:
        """Moves this process into the group, with all that it will start."""
        (self.folder / "cgroup.procs").write_text("0")

    @property
    def ran_out(self) -> bool:
        """Whether the system ended a process of it for its memory."""
        try:
            events = (self.folder / "memory.events").read_text()
        except OSError:
            return False
        counts = dict(line.split() for line in events.splitlines())
        return int(counts.get("oom_kill", 0)) > 0

    def close(self) -> None:
        """Ends what is left in it, and removes it."""
        with suppress(OSError):
            (self.folder / "cgroup.kill").write_text("1")
        deadline = time.monotonic() + LONG_S
        while self.folder.exists() and time.monotonic() < deadline:
            with suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(ROUND_S)


def make(bounds: Mapping[str, int | None], above: Path | None = None) -> Group:
    """Creates a group, and tries that a process can join it."""
    folder = (above or found()) / f"{PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
    group = Group(folder)
    try:
        folder.mkdir()
        for name, value in limits(bounds).items():
            (folder / name).write_text(value)
        _try_to_join(group)
    except OSError as error:
        group.close()
        raise Unavailable(
            f"the control group {folder.parent} takes none of ours: {error}"
        ) from error
    with suppress(OSError):  # Not everybody is given these.
        (folder / "cpu.weight").write_text(str(WEIGHT))
        (folder / "memory.swap.max").write_text("0")
    return group


def _try_to_join(group: Group) -> None:
    child = os.fork()
    if child == 0:
        try:
            group.join()
        except OSError as error:
            os._exit(error.errno or 1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if code := os.waitstatus_to_exitcode(status):
        raise OSError(code, os.strerror(code) if code > 0 else "the process was ended")


def limits(bounds: Mapping[str, int | None]) -> Mapping[str, str]:
    """The files of a group that hold these bounds (see `Bounds`), with their contents."""
    wanted: dict[str, str] = {}
    memory_mb, processes = bounds.get("memory_mb"), bounds.get("processes")
    if memory_mb is not None:
        wanted |= {"memory.max": str(memory_mb * MEGABYTE), "memory.oom.group": "1"}
    if processes is not None:
        wanted["pids.max"] = str(processes)
    return wanted


def found() -> Path:
    """The nearest folder of groups in which we may make one that has limits."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    groups = Path("/proc/self/cgroup").read_text().splitlines()
    return nearest(*own(mounts, groups))


def own(mounts: Sequence[str], groups: Sequence[str]) -> tuple[Path, Path]:
    """Where the groups of version 2 lie, and which of them is ours."""
    top = next((line.split()[4] for line in mounts if " - cgroup2 " in line), None)
    mine = next((line[3:] for line in groups if line.startswith("0::")), None)
    if top is None or mine is None:
        raise Unavailable("the system has no control groups of version 2")
    return Path(top), Path(top) / mine.lstrip("/")


def nearest(top: Path, mine: Path) -> Path:
    for folder in (mine, *mine.parents):
        if not folder.is_relative_to(top):
            break
        if os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK):
            with suppress(OSError):
                handed_on = (folder / "cgroup.subtree_control").read_text().split()
                if {*NEEDED} <= {*handed_on}:
                    return folder
    raise Unavailable("no control group above this process may be divided by it")


def probe() -> str | None:
    """Why there are none; None where one was really made and removed."""
    try:
        make({"memory_mb": 64, "processes": 16}).close()
    except (Unavailable, OSError) as error:
        return str(error)
    return None
