"""The program that starts runners by forking, so that none of them waits for Python and for its
imports. It knows neither jobs nor secrets: a runner reads its own from its job directory and from
the pipe that it is given.

It ends with the server and when it has had nothing to do for a while. The runners stay.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import os
import select
import signal
import socket
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from agents_manager import runner
else:
    import runner

IDLE_S = 60.0
ROOM = 4096
"""How many bytes the path of a job directory can have."""
FILLER = " " * ROOM
"""The last argument of this program, in the place of which a runner writes its job directory."""
ARGUMENTS = slice(45, 47)
"""Where the kernel says in /proc/self/stat where the arguments begin and end."""


def main() -> None:
    control = socket.socket(fileno=fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    _import_for_sandboxes()
    # The kernel removes runners that have ended: nothing here waits for them.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()
    poll = select.poll()
    poll.register(control, select.POLLIN)
    while poll.poll(1000 * IDLE_S):
        folder, descriptors, _, _ = socket.recv_fds(control, ROOM, 1)
        if not folder:
            return
        (secrets,) = descriptors
        pid = os.fork()
        if pid == 0:
            control.close()
            become(os.fsdecode(folder), secrets)
        os.close(secrets)
        control.send(str(pid).encode())


def _import_for_sandboxes() -> None:
    """What a runner and the process that becomes a sandbox would import."""
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
    from agents_manager.sandbox import launch, namespaces

    assert launch
    assert namespaces


def become(folder: str, secrets: int) -> NoReturn:
    """Turns the forked child into the runner of a job."""
    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(secrets, 0)
        os.close(secrets)
        rename(folder)
        code = runner.main(folder)
    finally:
        os._exit(code)


def rename(folder: str) -> None:
    """Makes the directory of the job the last argument of this process, by which it is found."""
    begin, end = map(int, runner.stat("self")[ARGUMENTS])
    before = ctypes.string_at(begin, end - begin).rstrip(b"\0").rpartition(b"\0")[0]
    arguments = before + b"\0" + os.fsencode(folder)
    ctypes.memmove(begin, arguments.ljust(end - begin, b"\0"), end - begin)
