"""Rules of the kernel for what a process, and all that it starts, may open and reach. They take
neither rights nor namespaces, so that they hold where bubblewrap is refused. What no rule allows is
denied; a rule holds for all that lies beneath its folder, and nothing is taken out of it again."""

import ctypes
import errno
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_manager.sandbox import bubblewrap
from agents_manager.sandbox.bubblewrap import Cage

LEAST = 4
"""The version of Landlock that knows of TCP (Linux 6.7)."""
SCOPES = 6
"""The one that keeps signals in (Linux 6.12)."""

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION = 1
BENEATH_PATH, TO_PORT = 1, 2
NO_NEW_PRIVILEGES = 38

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = (1 << bit for bit in range(4))
TRUNCATE = 1 << 14
DEVICES = 1 << 6 | 1 << 11
"""Making them, of characters and of blocks: never allowed."""
KNOWN = {4: (1 << 15) - 1, 5: (1 << 16) - 1}
"""All that can be done to files, by the version that first knew it; later ones add nothing."""
READS = EXECUTE | READ_FILE | READ_DIR
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
"""What can be allowed of something that is no folder."""
BIND, CONNECT = 1, 2
ABSTRACT_SOCKETS, SIGNALS = 1, 2

OPEN_DEVICES = tuple(Path("/dev", n) for n in ("null", "zero", "full", "random", "urandom"))


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


class _Port(ctypes.Structure):
    _fields_ = (("allowed", ctypes.c_uint64), ("port", ctypes.c_uint64))


# ----------------------------------------------------------------------------------- the rules


@dataclass(frozen=True, slots=True)
class Rules:
    reads: Sequence[Path]
    writes: Sequence[Path]
    ports: Sequence[int]
    """To which TCP may connect, whatever the address."""


def rules(cage: Cage, ports: Sequence[int]) -> Rules:
    hidden = [*bubblewrap.hidden(cage), Path("/dev")]
    return Rules(
        reads=[*open_places(hidden), *bubblewrap.shown(cage)],
        writes=[*bubblewrap.changed(cage), *OPEN_DEVICES],
        ports=ports,
    )


def check(cage: Cage) -> None:
    """What may be changed is so with all that lies beneath."""
    for path in cage.reads:
        if path.exists() and any(path.is_relative_to(above) for above in cage.writes):
            raise PermissionError(
                f"Landlock cannot keep {path} from being changed, which lies in what the command"
                " may write. Where user namespaces are refused, agents work in clones: set"
                " workspace.kind to auto or clone"
            )


def open_places(hidden: Sequence[Path], top: Path = Path("/")) -> list[Path]:
    """The largest folders that hold nothing hidden, and the files beside them. Links are left out:
    where they lead to counts."""
    if top in hidden:
        return []
    if not any(place.is_relative_to(top) for place in hidden):
        return [top]
    try:
        inside = sorted(entry.path for entry in os.scandir(top) if not entry.is_symlink())
    except PermissionError:
        return []
    return [place for path in inside for place in open_places(hidden, Path(path))]


# ---------------------------------------------------------------------------------- the kernel


def version() -> int:
    """0: the kernel has none, or it is switched off."""
    if not hasattr(os, "O_PATH"):
        return 0
    return max(0, _libc().syscall(CREATE_RULESET, None, 0, ASK_VERSION))


def hold(rules: Rules) -> None:
    """From now on this process is held to the rules. There is no way back."""
    libc, known = _libc(), version()
    files = KNOWN[max(each for each in KNOWN if each <= known)]
    wanted = _Ruleset(files, BIND | CONNECT, ABSTRACT_SOCKETS | SIGNALS)
    size = ctypes.sizeof(wanted) - (0 if known >= SCOPES else ctypes.sizeof(ctypes.c_uint64))
    ruleset = _checked(libc.syscall(CREATE_RULESET, ctypes.byref(wanted), size, 0))
    for path in rules.reads:
        with suppress(OSError):  # What is gone by now, or cannot be looked at, stays closed.
            _beneath(libc, ruleset, path, READS)
    for path in rules.writes:
        _beneath(libc, ruleset, path, files & ~DEVICES)
    for port in rules.ports:
        rule = _Port(CONNECT, port)
        _checked(libc.syscall(ADD_RULE, ruleset, TO_PORT, ctypes.byref(rule), 0))
    no_new_privileges()
    _checked(libc.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def no_new_privileges() -> None:
    _checked(_libc().prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))


def _beneath(libc: Any, ruleset: int, path: Path, allowed: int) -> None:
    folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(folder).st_mode):
            allowed &= OF_FILES
        rule = _Beneath(allowed, folder)
        _checked(libc.syscall(ADD_RULE, ruleset, BENEATH_PATH, ctypes.byref(rule), 0))
    finally:
        os.close(folder)


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno() or errno.EINVAL
        raise OSError(number, f"Landlock does not work here: {os.strerror(number)}")
    return result
