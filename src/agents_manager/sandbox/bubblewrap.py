"""What a command may see and do, and the command line of bubblewrap that holds it to that.

    argv = wrapped(Cage(argv=("git", "upload-pack", "--strict"), cwd=clone, writes=(clone,)))

is a command line that can be started like any other, from any thread: standard input, output and
error are those of the command, and so is the exit code. It starts `launch.py`, whose child becomes
bubblewrap (`namespaces.py`), which starts `inside.py`, which becomes the command.

The values are named tuples: importing dataclasses and creating two of them takes 10 ms, for which
each start of a command would wait.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agents_manager.sandbox.supervision import IN_NAMESPACES

SERVICE_ID = 60800
"""Whom root becomes: a number that neither Debian nor systemd gives to anybody."""
EGRESS_PORT = 3128

HIDDEN = ("/root", "/home", "/run", "/var/tmp", "/tmp", "/Users", "/private/var/folders")  # noqa: S108
"""Homes and places for what is temporary; the last two are those of a Mac."""

BUBBLEWRAP = IN_NAMESPACES
"""The level at which bubblewrap makes the sandbox; at others it is made without namespaces."""

PACKAGE = Path(__file__).parent
START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from agents_manager.sandbox import launch; "
    "launch.main(sys.argv[1:])"
)
PROGRAM = (sys.executable, "-I", "-S", "-c", START, str(PACKAGE.parents[1]))

TMP_BYTES = 2 * 1024**3
MEGABYTE = 1024 * 1024


class Bounds(NamedTuple):
    """How much may be used; None: as much as there is."""

    memory_mb: int | None = None
    """All processes together; looked at once a second."""
    disk_mb: int | None = None
    """All that may be written to, together; looked at once a second or less often."""
    processes: int | None = None
    file_mb: int | None = None
    open_files: int | None = None
    cpu_s: int | None = None
    """Of each process."""
    address_mb: int | None = None
    """What each process may reserve. Many programs reserve far more than they use."""


class Cage(NamedTuple):
    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str] = {}
    """All of the command's environment, but for what leads to the proxy."""
    writes: Sequence[Path] = ()
    """Folders and files that it may change, besides a temporary folder and a home of its own, which
    are empty. They must be there."""
    reads: Sequence[Path] = ()
    """What it may read although it lies in a hidden place, or inside of what it may change; what is
    not there is left out."""
    locks: Sequence[Path] = ()
    """Inside of what it may change, and not to be changed all the same; only where the sandbox can
    do it (not by Landlock)."""
    logins: Mapping[str, str] = {}
    """Single files that it finds at other places, by these places. What it changes in them is
    changed for good."""
    settings: Mapping[str, str] = {}
    """Single files that it finds at other places and cannot change, likewise."""
    hides: Sequence[Path] = ()
    """Hidden besides homes, `/run` and temporary folders."""
    hosts: Sequence[str] = ()
    """Names that it may reach by the proxy, exact or as `*.example.com`; none: no network."""
    private: Sequence[str] = ()
    """`host:port` that it may reach by the proxy whatever they are: addresses of a private network,
    above all."""
    ports: Sequence[int] = ()
    """Ports of this machine's loopback address that it may reach."""
    bounds: Bounds = Bounds()
    level: str = BUBBLEWRAP
    log: Path | None = None
    """A folder for what the sandbox says: `egress.log`, and `limit` when a bound ended it."""
    inherits: Sequence[str] = ()
    """Variables that the command also gets, with the values that the launcher has for them. Their
    values are not in the command line, which every user of the machine can read."""

    @property
    def talks(self) -> bool:
        """Whether it has a proxy."""
        return bool(self.hosts or self.private)

    def dumped(self) -> str:
        return json.dumps({**self._asdict(), "bounds": self.bounds._asdict()}, default=str)

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "Cage":
        raw = dict(read)
        known = {*cls._fields}
        if unknown := sorted(raw.keys() - known):
            raise ValueError(f"a cage has no {', '.join(unknown)}")
        for name in ("writes", "reads", "hides", "locks"):
            raw[name] = tuple(Path(each) for each in raw.get(name, ()))
        raw["cwd"] = Path(raw["cwd"])
        raw["log"] = Path(raw["log"]) if raw.get("log") else None
        raw["bounds"] = Bounds(**raw.get("bounds", {}))
        return cls(**raw)


def wrapped(cage: Cage) -> tuple[str, ...]:
    """The command line that runs the command in the sandbox. Arguments that are added to it are
    added to the command. Everybody on the machine can read a command line: use `kept` for a
    command whose environment holds a secret."""
    return (*PROGRAM, cage.dumped())


def kept(cage: Cage, file: Path) -> tuple[str, ...]:
    """The same by way of a file, which is to be written with `cage.dumped()`."""
    return (*PROGRAM, f"@{file}")


# ------------------------------------------------------------------------------ the command line


class Given(NamedTuple):
    """What the command line of bubblewrap needs to know beside the cage."""

    root: bool
    filter: int | None
    """The file descriptor with the filter of system calls."""
    passwd: int | None = None
    """The one with a list of users that knows whom root becomes."""


Measure = Callable[[Cage, Given], list[str]]


def _lifetime(cage: Cage, given: Given) -> list[str]:
    return ["--die-with-parent"]


def _processes(cage: Cage, given: Given) -> list[str]:
    """Root needs no users of its own to mount; inside of them it would still be root to what is
    outside."""
    users = [] if given.root else ["--unshare-user"]
    return [*users, "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]


def _network(cage: Cage, given: Given) -> list[str]:
    return ["--unshare-net"]


def _capabilities(cage: Cage, given: Given) -> list[str]:
    """Root keeps what it takes to become somebody else."""
    needed = ("CAP_SETUID", "CAP_SETGID") if given.root else ()
    return ["--cap-drop", "ALL", *(part for each in needed for part in ("--cap-add", each))]


def _read_only_root(cage: Cage, given: Given) -> list[str]:
    return ["--ro-bind", "/", "/"]


def _devices(cage: Cage, given: Given) -> list[str]:
    return ["--dev", "/dev", *_empty(Path("/dev/shm"), given), "--proc", "/proc"]  # noqa: S108


def _kernel_settings(cage: Cage, given: Given) -> list[str]:
    return ["--ro-bind", "/proc/sys", "/proc/sys"]


def _hidden(cage: Cage, given: Given) -> list[str]:
    return [part for place in hidden(cage) for part in _empty(place, given)]


def _granted(cage: Cage, given: Given) -> list[str]:
    """The deeper of two places comes later, so that each is as it was granted."""
    places, empty = [*cage.writes, *visible(cage)], hidden(cage)
    binds: list[str] = []
    granted: list[Path] = []
    for path in sorted(dict.fromkeys(places), key=lambda path: len(path.parts)):
        # It is there already, and bubblewrap cannot create what its target may not have yet.
        if path.is_symlink() and path not in cage.writes and _lies_in(path.parent, granted):
            continue
        granted.append(path)
        binds += _way_to(path, empty, given)
        binds += ["--bind" if path in cage.writes else "--ro-bind", str(path), str(path)]
    return binds


def _locked(cage: Cage, given: Given) -> list[str]:
    return [part for path in cage.locks for part in ("--ro-bind", str(path), str(path))]


def _logins(cage: Cage, given: Given) -> list[str]:
    binds: list[str] = []
    empty = hidden(cage) if cage.logins or cage.settings else []
    for places, how in ((cage.logins, "--bind"), (cage.settings, "--ro-bind")):
        for place, source in places.items():
            if Path(source).is_file():
                binds += [*_way_to(Path(place), empty, given), how, source, place]
    return binds


def _way_to(path: Path, empty: Sequence[Path], given: Given) -> list[str]:
    """Bubblewrap makes folders on the way through empty places that root alone may enter."""
    if not given.root:
        return []
    above = [folder for folder in reversed(path.parents) if _lies_in(folder, empty)]
    return [part for folder in above for part in ("--perms", "0755", "--dir", str(folder))]


def _known_user(cage: Cage, given: Given) -> list[str]:
    if given.passwd is None:
        return []
    return ["--perms", "0644", "--ro-bind-data", str(given.passwd), "/etc/passwd"]


def _system_calls(cage: Cage, given: Given) -> list[str]:
    return [] if given.filter is None else ["--seccomp", str(given.filter)]


MEASURES: dict[str, Measure] = {
    "lifetime": _lifetime,
    "processes": _processes,
    "network": _network,
    "capabilities": _capabilities,
    "read-only root": _read_only_root,
    "devices": _devices,
    "kernel settings": _kernel_settings,
    "hidden places": _hidden,
    "granted": _granted,
    "locks": _locked,
    "logins": _logins,
    "known user": _known_user,
    "system calls": _system_calls,
}
"""In the order in which they hold."""


def arguments(cage: Cage, given: Given) -> list[str]:
    """Everything between the name of bubblewrap and the command."""
    lines = [part for measure in MEASURES.values() for part in measure(cage, given)]
    return [*lines, "--chdir", "/"]


def hidden(cage: Cage) -> list[Path]:
    """Places that are empty inside, the outer ones first. Sockets of other programs lie there, too:
    Docker's, the SSH agent's, the desktop's."""
    usual = [Path.home(), *map(Path, HIDDEN)]
    places = {place.resolve() for place in (*usual, *cage.hides)}
    return sorted(place for place in places if place.is_dir() and place != Path("/"))


def visible(cage: Cage) -> list[Path]:
    """What is only read but would be hidden or could be changed: what is granted so, and Python,
    which starts the command."""
    own = (Path(sys.base_prefix), Path(sys.prefix), Path(sys.executable).parent, PACKAGE.parent)
    places = [*hidden(cage), *cage.writes]
    return [path for path in (*cage.reads, *own) if path.exists() and _lies_in(path, places)]


def changed(cage: Cage) -> list[Path]:
    """What the command may change."""
    logins = (Path(source) for source in cage.logins.values())
    return [*cage.writes, *(path for path in logins if path.exists())]


def shown(cage: Cage) -> list[Path]:
    """What it may read besides."""
    settings = (Path(source) for source in cage.settings.values())
    return [*visible(cage), *(path for path in settings if path.exists())]


def check(cage: Cage) -> None:
    """What lies in a folder that an earlier command could write must not lead elsewhere by now: it
    would be granted where it leads to."""
    for path in cage.writes:
        if not path.exists():
            raise FileNotFoundError(
                f"{path} does not exist, and the command must be able to write it"
            )
    places = [Path(place) for place in (*cage.logins, *cage.settings)]
    if cage.level != BUBBLEWRAP:  # There they are links of ours, made anew each time.
        places = [place.parent for place in places]
    for path in (*cage.writes, *cage.reads, *cage.locks, *places):
        for above in cage.writes:
            inside = path != above and path.is_relative_to(above)
            if inside and path.resolve() != above.resolve() / path.relative_to(above):
                raise PermissionError(f"{path} leads elsewhere, to {path.resolve()}")


def _lies_in(path: Path, places: Sequence[Path]) -> bool:
    return any(path.is_relative_to(place) for place in places)


def _empty(place: Path, given: Given) -> list[str]:
    size = ["--size", str(TMP_BYTES)]
    return [*size, *(["--perms", "1777"] if given.root else []), "--tmpfs", str(place)]


def found() -> str | None:
    """Where bubblewrap lies. Looked for in the system's folders alone: an agent can write those of
    its user."""
    programs = (f"{folder}/bwrap" for folder in ("/usr/local/bin", "/usr/bin", "/bin"))
    return next((program for program in programs if os.access(program, os.X_OK)), None)


def is_root() -> bool:
    return os.geteuid() == 0
