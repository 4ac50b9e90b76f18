"""Runs one shell command with a timeout, ends everything it started, and keeps the end of its
output."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from agents_manager.environment import without_product
from agents_manager.errors import ExternalError

OUTPUT_LIMIT = 64 * 1024
KEPT_ENV = ("PATH", "HOME", "LANG", "LC_ALL", "USER", "LOGNAME", "TZ")


class Keep(Protocol):
    """Returns the command line that runs a command in the sandbox."""

    def __call__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: Path,
        *,
        writes: Sequence[Path],
        reads: Sequence[Path] = (),
        hides: Sequence[Path] = (),
        log: Path | None = None,
        inherits: Sequence[str] = (),
    ) -> Sequence[str]:
        """`inherits` names variables that the command takes from the process that starts it: a
        command line, which every user of the machine can read, must not hold their values."""
        ...


def shell(command: str) -> Sequence[str]:
    return ("/bin/sh", "-c", command)


def environment(tmp: Path, env: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of a command: a few of the server's, then `env`."""
    kept = {name: os.environ[name] for name in KEPT_ENV if name in os.environ}
    return without_product({**kept, **env, "TMPDIR": str(tmp)})


async def run_command(
    argv: Sequence[str],
    cwd: Path,
    tmp: Path,
    timeout_s: float,
    held: Sequence[int] = (),
    env: Mapping[str, str] | None = None,
    sweep: Callable[[], None] | None = None,
) -> tuple[int | None, str]:
    """The exit status, None after the timeout, and the end of the output. The file descriptors in
    `held` stay open in the command's processes; `sweep` ends those that left its group."""
    # A pipe of our own: asyncio would wait for those of its making until every process that a
    # command left in the background has closed them.
    reading, writing = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=cwd,
            env=environment(tmp, env or {}),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=writing,
            stderr=writing,
            start_new_session=True,
            pass_fds=held,
        )
    except OSError as error:
        os.close(reading)
        raise ExternalError(f'"{argv[-1]}" cannot be started: {error}') from error
    finally:
        os.close(writing)
    code, output = await _follow(process, reading, timeout_s, sweep)
    if code is None:
        output += f"\n[Stopped: it took longer than {timeout_s:g} s.]"
    return code, output


async def _follow(
    process: asyncio.subprocess.Process,
    reading: int,
    timeout_s: float,
    sweep: Callable[[], None] | None,
) -> tuple[int | None, str]:
    """The exit status, None after the timeout, and the end of the output."""
    tail = _Tail()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: tail, os.fdopen(reading, "rb"))
    code: int | None = None
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                code = await process.wait()
    finally:
        # The group goes in any case: what a command left in the background goes with it.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        if sweep is not None:
            await asyncio.to_thread(sweep)
        # A process that left the group may hold the pipe for ever.
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                await tail.closed.wait()
        transport.close()
    return code, tail.text()


class _Tail(asyncio.Protocol):
    """Keeps the last part of what comes in."""

    def __init__(self) -> None:
        self.closed = asyncio.Event()
        self._kept = bytearray()
        self._cut = False

    def data_received(self, data: bytes) -> None:
        self._kept += data
        if len(self._kept) > OUTPUT_LIMIT:
            self._cut = True
            del self._kept[:-OUTPUT_LIMIT]

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set()

    def text(self) -> str:
        text = self._kept.decode(errors="replace")
        return f"[The beginning was cut.]\n{text}" if self._cut else text
