"""The program in a git sandbox: it runs the git commands that the product sends it over a socket,
which is its standard input, and reports each exit status.

It is started as a file without site-packages and imports as little as it can, because its start
is part of every run. It never reads what an agent wrote; only the commands that it starts do. Where
the sandbox has its own process namespace, a command's status is reported after every process that
the command left has been killed, so a command that an agent's files took over cannot influence the
next one.
"""

# Pathlib, json, socket and signal would double the time that this takes to start.

from __future__ import annotations

import _ctypes
import _socket
import fcntl
import marshal
import os
import resource
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Any, NoReturn
else:
    import _signal as signal

PR_SET_DUMPABLE = 4
DESCRIPTORS = 3
"""Of a command: standard input, output and error."""
HEAD_BYTES = 4
READY = b"ready\n"
ENDED_S = 5.0
"""How long killed processes may take to disappear."""


def main(arguments: list[str]) -> None:
    user, apart, umask, *limits = arguments
    if user:
        become(int(user))
    if 0 in os.getresuid():
        raise PermissionError("the git helper would have the rights of root")
    for limit in limits:
        name, _, value = limit.partition("=")
        lower(getattr(resource, name), int(value))
    os.umask(int(umask))
    # Without this a command could read and write the memory of this process through /proc.
    prctl(PR_SET_DUMPABLE, 0)
    control = _socket.socket(fileno=fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3))
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(DESCRIPTORS):
        os.dup2(nothing, number)
    Helper(control, apart=apart == "apart").serve()


def become(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def lower(number: int, value: int) -> None:
    _, most = resource.getrlimit(number)
    kept = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(number, (kept, kept))


def prctl(option: int, value: int) -> None:
    if sys.platform != "linux":
        return
    this_program: Any = None
    address = _ctypes.dlsym(_ctypes.dlopen(this_program, os.RTLD_NOW), "prctl")
    if _ctypes.call_function(address, (option, value, 0, 0, 0)):
        raise OSError("the memory of the git helper cannot be protected")


class Helper:
    def __init__(self, control: _socket.socket, *, apart: bool) -> None:
        self._control = control
        self._apart = apart
        """Whether the sandbox has its own process namespace."""
        self._pid = 0
        """The process of the command that runs now, and the number of its request."""
        self._number = 0

    def serve(self) -> None:
        """Runs one command after the other until the product closes the socket."""
        wakeup, write = os.pipe()
        for fd in (wakeup, write):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _wake)
        poll = select.poll()
        for fd in (wakeup, self._control.fileno()):
            poll.register(fd, select.POLLIN)
        self._control.sendall(READY)
        while True:
            for fd, _ in poll.poll():
                if fd == wakeup:
                    os.read(wakeup, 4096)
                    self._reap()
                elif not self._take():
                    return self._signal(signal.SIGKILL)

    def _take(self) -> bool:
        """Handles one message; False at the end of the connection."""
        room = _socket.CMSG_SPACE(DESCRIPTORS * 4)
        head, ancillary, _, _ = self._control.recvmsg(HEAD_BYTES, room)
        received = [fd for _, _, data in ancillary for fd in memoryview(data).cast("i")]
        if not head:
            return False
        head += self._exactly(HEAD_BYTES - len(head))
        data = self._exactly(int.from_bytes(head, "big"))
        # From the product alone: commands cannot reach the socket.
        number, signum, argv, env, cwd = marshal.loads(data)  # noqa: S302
        if signum:
            if number == self._number:
                self._signal(signum)
            return True
        self._number, self._pid = number, os.fork()
        if self._pid == 0:
            run(argv, env, cwd, received)
        for fd in received:
            os.close(fd)
        return True

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self._control.recv(size - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def _reap(self) -> None:
        if not self._pid:
            return
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        if pid:
            self._signal(signal.SIGKILL)
            self._pid = 0
            self._end_others()
            self._control.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))

    def _end_others(self) -> None:
        """Kills every other process in the namespace, and waits until they are gone."""
        deadline = time.monotonic() + ENDED_S
        while self._apart:
            try:
                os.kill(-1, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                return
            if time.monotonic() > deadline:
                os._exit(1)  # The namespace ends with this process, and all that is in it.
            time.sleep(0.001)

    def _signal(self, number: int) -> None:
        """To all processes of the command's group."""
        try:
            if self._pid:
                os.killpg(self._pid, number)
        except (ProcessLookupError, PermissionError):
            return


def _wake(*_: object) -> None:
    """Without a handler a signal does not reach the descriptor."""


def run(argv: list[str], env: dict[str, str], cwd: str, descriptors: list[int]) -> NoReturn:
    """Becomes the command."""
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        for name in ("SIGTERM", "SIGINT", "SIGCHLD", "SIGPIPE", "SIGXFSZ"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        for number, fd in enumerate(descriptors):
            os.dup2(fd, number)
        os.chdir(cwd)
        os.execvpe(argv[0], argv, env)  # noqa: S606 - no shell is the point
    except OSError as error:
        os.write(2, f"The command could not be started in the sandbox: {error}\n".encode())
    finally:
        os._exit(126)


if __name__ == "__main__":
    main(sys.argv[1:])
