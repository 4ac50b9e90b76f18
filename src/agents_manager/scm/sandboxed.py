"""Git commands in a sandbox, run by a small helper process that stays there for a moment, because
to make a sandbox takes many times as long as most git commands.

A helper runs one command at a time, and every process that a command left is gone before the next
one begins. It ends when it has had nothing to do for `IDLE_S`, and with this process. What it
reports is trusted no more than what git prints: an agent's files may have taken git over.
"""

import asyncio
import marshal
import os
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_manager.domain import names
from agents_manager.errors import GitError

IDLE_S = 1.0
START_S = 30.0
END_S = 5.0
READY = b"ready\n"
STATUS_BYTES = 16
STDERR_BYTES = 64 * 1024
LOST = -signal.SIGKILL
"""The exit status of a command whose helper was killed."""

Started = tuple["subprocess.Popen[bytes]", bool]
StartHelper = Callable[[int, Sequence[Path], Sequence[Path]], Started | None]
"""Starts a helper in the sandbox that can write to the first folders and read the second, with the
descriptor as its standard input. Also returns whether the helper can run more than one command.
None where there is no sandbox."""


Owner = Callable[[], int | None]
"""Tells to which user an agent's files belong in the sandbox; None if it is ours."""


def own_user() -> None:
    return None


class NoSandbox(Exception):
    """The sandbox is switched off or not available."""


class Command:
    """A git command in the sandbox, used like `asyncio.subprocess.Process`."""

    def __init__(self, helper: "_Helper", streams: "_Streams", status: Future[int]) -> None:
        self._helper = helper
        self._status = status
        self._streams = streams
        self.stdin = streams.stdin
        self.stdout: asyncio.StreamReader | None = streams.stdout
        self.stderr: asyncio.StreamReader | None = streams.stderr
        self.returncode: int | None = None

    async def wait(self) -> int:
        code = await asyncio.shield(asyncio.wrap_future(self._status))
        self._streams.close()
        self.returncode = code
        return code

    def signal(self, number: int) -> None:
        """To all processes of the command."""
        if not self._status.done():
            self._helper.signal(number)

    def kill_helper(self) -> None:
        """Ends the command with its sandbox, for one that does not end otherwise."""
        if not self._status.done():
            self._helper.end()


@dataclass(frozen=True, slots=True)
class Box:
    """What git commands may see and change in the sandbox."""

    helpers: "Helpers"
    writes: tuple[Path, ...]
    reads: tuple[Path, ...]

    def holds(self, folder: Path) -> bool:
        """Whether the folder can be changed in there."""
        return any(folder.is_relative_to(each) for each in self.writes)


class Helpers:
    def __init__(self, start: StartHelper, owner: Owner = own_user) -> None:
        self.owner = owner
        self._start = start
        self._lock = threading.Lock()
        self._idle: dict[tuple[Any, ...], list[_Helper]] = {}

    def box(self, writes: Sequence[Path], reads: Sequence[Path]) -> Box:
        return Box(self, tuple(writes), tuple(reads))

    async def run(
        self,
        box: Box,
        argv: Sequence[str | bytes | Path],
        env: Mapping[str, str],
        cwd: Path,
        *,
        input: bool = False,
        connection: socket.socket | None = None,
    ) -> Command:
        """Starts a command. `connection` becomes its standard input and output. Raises `NoSandbox`
        where there is none, and `GitError` where it does not work."""
        helper = await asyncio.to_thread(self._taken, box)
        status = helper.status
        try:
            await asyncio.wrap_future(helper.ready)
            with ExitStack() as stack:
                streams = _Streams(stack, input=input, connection=connection)
                arguments = [os.fsencode(part) for part in argv]
                helper.request(0, arguments, dict(env), str(cwd), fds=streams.theirs)
            await streams.connect()
        except BaseException:
            helper.end()
            raise
        return Command(helper, streams, status)

    def expect(self, box: Box) -> None:
        """Starts a helper for the next command, unless there is one that has nothing to do."""
        key = _key(box)
        with self._lock:
            if not self._idle.get(key):
                self._idle[key] = [_Helper(self._start, box, self._putting_back(key), free=True)]

    def _taken(self, box: Box) -> "_Helper":
        """A helper that has nothing to do, or a new one. A folder that was made again since a
        helper started is another one to it."""
        key = _key(box)
        with self._lock:
            waiting = self._idle.get(key, [])
            while waiting:
                helper = waiting.pop()
                if helper.take():
                    return helper
            self._idle = {each: left for each, left in self._idle.items() if left}
        return _Helper(self._start, box, self._putting_back(key))

    def _putting_back(self, key: tuple[Any, ...]) -> Callable[["_Helper"], None]:
        return lambda helper: self._put_back(key, helper)

    def _put_back(self, key: tuple[Any, ...], helper: "_Helper") -> None:
        with self._lock:
            self._idle.setdefault(key, []).append(helper)


def _key(box: Box) -> tuple[Any, ...]:
    return (os.environ.get("PATH"), *map(_identity, (*box.writes, *box.reads)))


def _identity(folder: Path) -> tuple[str, int, int]:
    try:
        found = folder.stat()
    except OSError:
        return str(folder), 0, 0
    return str(folder), found.st_dev, found.st_ino


class _Helper:
    """One helper process. A thread of its own starts it, because the process ends with the thread
    that started it, and receives what it reports."""

    def __init__(
        self,
        start: StartHelper,
        box: Box,
        put_back: Callable[["_Helper"], None],
        *,
        free: bool = False,
    ) -> None:
        """Is reserved for a command, unless it is `free`."""
        self.ready: Future[None] = Future()
        self.status: Future[int] = Future()
        self._lock = threading.Lock()
        self._free_since = time.monotonic() if free else None
        """None while a command runs or is about to."""
        self._over = False
        self._number = 0
        self._gentle = False
        """Whether the process is a launcher, which has something to clear away at its end."""
        self._put_back = put_back
        self._control, theirs = socket.socketpair()
        threading.Thread(
            target=self._follow, args=(start, box, theirs), name="git-helper", daemon=True
        ).start()

    def take(self) -> bool:
        """Reserves the helper for a command; False when it has ended meanwhile."""
        with self._lock:
            if self._over or self._free_since is None:
                return False
            self._free_since = None
            self._number += 1
            self.status = Future()
            return True

    def request(self, *message: Any, fds: Sequence[int] = ()) -> None:
        data = marshal.dumps((self._number, *message))
        with suppress(OSError):  # It has ended, which its status says.
            socket.send_fds(self._control, [len(data).to_bytes(4, "big")], fds)
            self._control.sendall(data)

    def signal(self, number: int) -> None:
        self.request(int(number), [], {}, "")

    def end(self) -> None:
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)

    def _follow(self, start: StartHelper, box: Box, theirs: socket.socket) -> None:
        process = None
        try:
            with theirs:
                started = start(theirs.fileno(), box.writes, box.reads)
            if started is None:
                raise NoSandbox
            process, lasting = started
            self._gentle = not lasting
            self._await_ready(process)
            self._receive(lasting)
        except (OSError, NoSandbox, GitError) as error:
            if not self.ready.done():
                text = f"The sandbox could not be made: {error}"
                known = isinstance(error, NoSandbox | GitError)
                self.ready.set_exception(error if known else GitError(text))
        finally:
            with self._lock:
                self._over = True
                status = self.status
            if process is not None:
                self.end()
                _end(process, END_S if self._gentle else 0)
            if not status.done():
                status.set_result(LOST)
            self._control.close()

    def _await_ready(self, process: "subprocess.Popen[bytes]") -> None:
        self._control.settimeout(START_S)
        try:
            came = self._control.recv(len(READY))
        except TimeoutError as error:
            raise GitError(f"The git helper did not start within {START_S:g} s.") from error
        self._control.settimeout(None)
        if came != READY:
            raise GitError(_reason(process))
        self.ready.set_result(None)

    def _receive(self, lasting: bool) -> None:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        told = b""
        while True:
            if not poll.poll(1000 * IDLE_S):
                if self._is_idle():
                    return
                continue
            piece = self._control.recv(STATUS_BYTES)
            told += piece
            if not piece or len(told) > STATUS_BYTES:
                return
            if told.endswith(b"\n"):
                code, told = _code(told), b""
                if code is None:
                    return
                self._finish(code, lasting)
                if not lasting:
                    return

    def _finish(self, code: int, lasting: bool) -> None:
        status = self.status
        if lasting:
            with self._lock:
                self._free_since = time.monotonic()
            self._put_back(self)
        status.set_result(code)

    def _is_idle(self) -> bool:
        with self._lock:
            free = self._free_since
            self._over = free is not None and time.monotonic() - free >= IDLE_S
            return self._over


def _end(process: "subprocess.Popen[bytes]", grace_s: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=grace_s)
        return
    process.kill()
    process.communicate()


def _code(told: bytes) -> int | None:
    try:
        code = int(told)
    except ValueError:
        return None
    return code if -64 <= code <= 255 else None


def _reason(process: "subprocess.Popen[bytes]") -> str:
    """Why the helper did not start, in its words."""
    process.kill()
    said = process.communicate()[1][:STDERR_BYTES].decode(errors="replace").strip()
    last = (said.splitlines() or ["it ended without a message"])[-1]
    return names.one_line(last)


class _Streams:
    """The pipes of a command: its ends, which are closed once it has them, and ours."""

    def __init__(self, stack: ExitStack, *, input: bool, connection: socket.socket | None) -> None:
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout = asyncio.StreamReader()
        self.stderr = asyncio.StreamReader()
        self._transports: list[asyncio.BaseTransport] = []
        self._input: int | None = None
        self._outputs: list[tuple[int, asyncio.StreamReader]] = []
        if connection is not None:
            self.theirs = [connection.fileno(), connection.fileno()]
            self.stdout.feed_eof()
        else:
            read = self._input_end(stack) if input else _opened(stack, os.devnull)
            self.theirs = [read, self._output_end(stack, self.stdout)]
        self.theirs.append(self._output_end(stack, self.stderr))

    def _input_end(self, stack: ExitStack) -> int:
        read, self._input = os.pipe()
        stack.callback(os.close, read)
        return read

    def _output_end(self, stack: ExitStack, reader: asyncio.StreamReader) -> int:
        read, write = os.pipe()
        stack.callback(os.close, write)
        self._outputs.append((read, reader))
        return write

    async def connect(self) -> None:
        loop = asyncio.get_running_loop()
        for read, reader in self._outputs:
            transport, _ = await loop.connect_read_pipe(
                lambda reader=reader: asyncio.StreamReaderProtocol(reader), os.fdopen(read, "rb")
            )
            self._transports.append(transport)
        if self._input is not None:
            transport, protocol = await loop.connect_write_pipe(
                lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()),
                os.fdopen(self._input, "wb"),
            )
            self._transports.append(transport)
            self.stdin = asyncio.StreamWriter(transport, protocol, None, loop)

    def close(self) -> None:
        """The writing end only: what was printed can still be read."""
        if self.stdin is not None:
            self.stdin.close()


def _opened(stack: ExitStack, path: str) -> int:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    stack.callback(os.close, fd)
    return fd
