"""Prepares what bubblewrap needs and becomes it. Imported by a process that has nothing else to
do, as its memory is gone when it has become bubblewrap."""

import marshal
import os
import socket
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from agents_manager.sandbox import bubblewrap, idmap, seccomp, telling
from agents_manager.sandbox.bubblewrap import EGRESS_PORT, PACKAGE, SERVICE_ID, Cage, Given
from agents_manager.sandbox.telling import in_memory

INSIDE = (
    "import sys; sys.path.append(sys.argv[1]); import inside; inside.main(int(sys.argv[2]))",
    str(PACKAGE),
)
"""Imported and not run as a file, which would be compiled at each start."""


def enter(
    raw: Mapping[str, Any], umask: int, channel: socket.socket | None, parent: int
) -> NoReturn:
    """`channel` is where the sandbox sends its listening sockets; `parent` is the process that
    bubblewrap must not outlive."""
    cage = Cage.from_json(raw)
    bubblewrap.check(cage)
    program = bubblewrap.found()
    if program is None:
        raise FileNotFoundError("bubblewrap is not installed")
    given = files()
    passed = [fd for fd in (given.filter, given.passwd) if fd is not None]
    told = in_memory(marshal.dumps(_told(cage, umask, channel)))
    argv = [program, *bubblewrap.arguments(cage, given), "--"]
    argv += [sys.executable, "-I", "-S", "-c", *INSIDE, str(told)]
    passed += [told, *([channel.fileno()] if channel is not None else [])]
    if given.root:
        _make_places(cage)
        # Last: root cannot create anything in a folder whose owners are mapped.
        idmap.own(bubblewrap.changed(cage), bubblewrap.shown(cage), SERVICE_ID)
    _pass_on(passed)
    os.umask(0o022)
    os.chdir("/")
    if os.getppid() != parent:
        raise ProcessLookupError("the process that started it has ended")
    _execute(argv)


def _make_places(cage: Cage) -> None:
    """Creates the files over which single files are mounted, in folders whose owners are mapped
    later: bubblewrap could not create them there."""
    for place, source in (*cage.logins.items(), *cage.settings.items()):
        if Path(source).is_file() and not os.path.lexists(place):
            Path(place).parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _execute(argv: list[str]) -> NoReturn:
    # With an empty environment, because bubblewrap is the first process of the sandbox, whose
    # environment can be read there.
    os.execve(argv[0], argv, {})  # noqa: S606 - no shell is the point


def _pass_on(descriptors: Iterable[int]) -> None:
    """Lets bubblewrap have these beside standard input, output and error, and no others."""
    first = 3
    for descriptor in sorted(descriptors):
        os.set_inheritable(descriptor, True)
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def files() -> Given:
    """Opens the files that bubblewrap reads."""
    code = seccomp.program()
    root = bubblewrap.is_root()
    return Given(
        root=root,
        filter=None if code is None else in_memory(code),
        passwd=in_memory(_users()) if root else None,
    )


def _users() -> bytes:
    known = Path("/etc/passwd").read_bytes()
    return known + f"agent:x:{SERVICE_ID}:{SERVICE_ID}:agent:/:/bin/sh\n".encode()


def _told(cage: Cage, umask: int, channel: socket.socket | None) -> dict[str, Any]:
    return {
        **telling.told(cage, umask),
        "user": SERVICE_ID if bubblewrap.is_root() else None,
        "ports": [*cage.ports, *([EGRESS_PORT] if cage.talks else [])],
        "channel": None if channel is None else channel.fileno(),
    }
