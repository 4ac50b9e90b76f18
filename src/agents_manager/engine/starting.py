"""Starts the detached runners, on Linux by a small program that forks them (`starter.py`)."""

import json
import os
import select
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import structlog

from agents_manager.errors import AgentProcessError

PACKAGE = Path(__file__).parents[1]
# Imported and not run as a file, which would be compiled at each start; what it imports itself is
# found in the standard library first. All it wrote is on disk when it is done, so Python need not
# be taken down, for which the run would wait.
START = (
    "import os, sys; sys.path.append(sys.argv[1]); import runner; "
    "os._exit(runner.main(sys.argv[2]))"
)
PROGRAM = (sys.executable, "-I", "-S", "-c", START, str(PACKAGE))
STARTER = (
    *PROGRAM[:4],
    "import sys; sys.path.append(sys.argv[1]); import starter; starter.main()",
    str(PACKAGE),
)
ROOM = 4096
"""As in `starter.py`."""
ANSWER_S = 10.0

log = structlog.get_logger()


class Forked:
    """A runner that was forked by the starter, so it is not a child of this process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._handle: int | None = None
        with suppress(ProcessLookupError):
            self._handle = os.pidfd_open(pid)

    def __del__(self) -> None:
        self._close()

    @property
    def returncode(self) -> int | None:
        """None while it lives; how it ended is in its job directory."""
        if self._handle is not None and select.select([self._handle], [], [], 0)[0]:
            self._close()
        return None if self._handle is not None else 0

    def _close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


Child = subprocess.Popen[bytes] | Forked


class Starter:
    def __init__(self, argv: Sequence[str] = PROGRAM) -> None:
        self._argv = tuple(argv)
        self._forks = (
            sys.platform == "linux" and self._argv == PROGRAM and hasattr(os, "pidfd_open")
        )
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._finalizer: Callable[[], object] | None = None

    def start(self, folder: Path, hidden: Sequence[str]) -> Child:
        """Starts the runner of a job, which reads from a pipe what it must keep out of the output:
        not all of that is in a file already."""
        told = json.dumps(list(hidden)).encode()
        place = os.fsencode(folder)
        if self._forks and hasattr(os, "pidfd_open") and len(place) < ROOM:
            with self._lock, suppress(OSError, ValueError):
                return self._forked(place, told)
            log.warning("runner.not_forked", dir=str(folder))
        return self._spawned(folder, told)

    def _forked(self, place: bytes, told: bytes) -> Forked:
        with ExitStack() as stack:
            try:
                control = self._connected()
                read, write = os.pipe()
                with os.fdopen(write, "wb") as writing:
                    stack.callback(os.close, read)
                    socket.send_fds(control, [place], [read])
                    pid = int(control.recv(ROOM))
                    runner = Forked(pid)
                    with suppress(BrokenPipeError):
                        writing.write(told)
                        writing.flush()
            except (OSError, ValueError):
                self._end()
                raise
        return runner

    def _connected(self) -> socket.socket:
        if self._process is not None and self._process.poll() is None and self._control:
            return self._control
        self._end()
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, ExitStack() as stack:
            stack.callback(control.close)
            control.settimeout(ANSWER_S)
            self._process = _popen((*STARTER, " " * ROOM), theirs.fileno())
            stack.pop_all()
        self._control = control
        # Before the garbage collector finalizes the process, which would warn that it still runs.
        self._finalizer = weakref.finalize(self, _end, self._process, self._control)
        return self._control

    def _end(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
        self._control = self._process = self._finalizer = None

    def _spawned(self, folder: Path, told: bytes) -> "subprocess.Popen[bytes]":
        try:
            child = _popen((*self._argv, str(folder)), subprocess.PIPE)
        except OSError as error:
            raise AgentProcessError(f"The runner could not be started: {error}") from error
        assert child.stdin is not None
        with suppress(BrokenPipeError), child.stdin:
            child.stdin.write(told)
        threading.Thread(target=child.wait, name=f"reap-{child.pid}", daemon=True).start()
        return child


def _end(process: "subprocess.Popen[bytes]", control: socket.socket) -> None:
    control.close()
    process.kill()
    process.wait()


def _popen(argv: Sequence[str], stdin: int) -> "subprocess.Popen[bytes]":
    # An empty environment, because an agent of the same user can read its runner's.
    return subprocess.Popen(
        argv,
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={},
        start_new_session=True,
    )
