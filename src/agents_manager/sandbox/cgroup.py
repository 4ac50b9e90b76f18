"""Limits that hold at once: a control group (version 2) around the command, where the system lets
us make one. systemd does for what runs below a user's own manager."""

import os
import secrets
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agents_manager.sandbox.bubblewrap import MEGABYTE, Bounds

NEEDED = ("memory", "pids")
PREFIX = "agents-manager-"
WEIGHT = 50
"""Of the processor; everything else has 100."""
LONG_S = 5.0
ROUND_S = 0.01
WAY_OUT = "Start the server below your own manager: systemd-run --user --scope am serve"
JOIN = 'echo 0 > "$0" && exec "$@"'


class Unavailable(Exception):
    """There is no control group to be had; says why."""


@dataclass(frozen=True, slots=True)
class Group:
    folder: Path

    def joined(self, argv: Sequence[str]) -> list[str]:
        """The same command, in the group from its beginning."""
        return ["/bin/sh", "-c", JOIN, str(self.folder / "cgroup.procs"), *argv]

    @property
    def ran_out(self) -> bool:
        """Whether the system ended a process of it for its memory."""
        try:
            told = (self.folder / "memory.events").read_text()
        except OSError:
            return False
        counts = dict(line.split() for line in told.splitlines())
        return int(counts.get("oom_kill", 0)) > 0

    def close(self) -> None:
        """Ends what is left in it, and removes it."""
        with suppress(OSError):
            (self.folder / "cgroup.kill").write_text("1")
        enough = time.monotonic() + LONG_S
        while self.folder.exists() and time.monotonic() < enough:
            with suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(ROUND_S)


def make(bounds: Bounds, above: Path | None = None) -> Group:
    """A group that a process could really join."""
    folder = (above or found()) / f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    group = Group(folder)
    try:
        folder.mkdir()
        for name, value in limits(bounds).items():
            (folder / name).write_text(value)
        subprocess.run(group.joined(["true"]), env={}, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        group.close()
        raise Unavailable(
            f"the control group {folder.parent} takes none of ours: {error}"
        ) from error
    with suppress(OSError):  # Not everybody is given these.
        (folder / "cpu.weight").write_text(str(WEIGHT))
        (folder / "memory.swap.max").write_text("0")
    return group


def limits(bounds: Bounds) -> Mapping[str, str]:
    wanted: dict[str, str] = {}
    if bounds.memory_mb is not None:
        wanted |= {"memory.max": str(bounds.memory_mb * MEGABYTE), "memory.oom.group": "1"}
    if bounds.processes is not None:
        wanted["pids.max"] = str(bounds.processes)
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
        make(Bounds(memory_mb=64, processes=16)).close()
    except (Unavailable, OSError) as error:
        return str(error)
    return None
