"""Project checks: commands run on a clean copy of a commit, where the agent's uncommitted, ignored
or hidden files are not. The commands come from the user's configuration; whether they are trusted
was decided before."""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

from agents_manager.errors import ExternalError
from agents_manager.flow.ports import CheckResult, CheckSpec

OUTPUT_LIMIT = 64 * 1024
KEPT_ENV = ("PATH", "HOME", "LANG", "LC_ALL", "USER", "LOGNAME", "TZ")

Export = Callable[[Path, str, Path], Awaitable[None]]
"""Writes the files of a repository's commit into an empty folder."""


class CommandChecks:
    def __init__(self, root: Path, export: Export) -> None:
        self._root = root
        self._export = export

    async def run(self, repo: Path, sha: str, checks: Sequence[CheckSpec]) -> list[CheckResult]:
        if not checks:
            return []
        scratch = await asyncio.to_thread(self._scratch)
        try:
            tree = scratch / "tree"
            await self._export(repo, sha, tree)
            return [await _run(check, tree, scratch / "tmp") for check in checks]
        finally:
            await asyncio.to_thread(_remove, scratch)

    def _scratch(self) -> Path:
        """A new folder; those of processes that were killed are removed on the way."""
        self._root.mkdir(parents=True, exist_ok=True)
        for left in self._root.glob("check-*-*"):
            if not Path("/proc", left.name.split("-")[1]).exists():
                _remove(left)
        scratch = Path(tempfile.mkdtemp(dir=self._root, prefix=f"check-{os.getpid()}-"))
        (scratch / "tree").mkdir()
        (scratch / "tmp").mkdir()
        return scratch


def _remove(scratch: Path) -> None:
    """Also what a command made read-only, as package caches do."""
    for folder, folders, _ in os.walk(scratch):
        for name in folders:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(0o700)
    shutil.rmtree(scratch, ignore_errors=True)


async def _run(check: CheckSpec, tree: Path, tmp: Path) -> CheckResult:
    code, output = await run_command(check.command, tree, tmp, check.timeout_s)
    return CheckResult(name=check.name, passed=code == 0, severity=check.severity, output=output)


async def run_command(
    command: str, cwd: Path, tmp: Path, timeout_s: float, held: Sequence[int] = ()
) -> tuple[int | None, str]:
    """The exit status, None after the timeout, and the end of the output. The file descriptors in
    `held` stay open in the command's processes."""
    env = {name: os.environ[name] for name in KEPT_ENV if name in os.environ}
    # A pipe of our own: asyncio would wait for those of its making until every process that a
    # command left in the background has closed them.
    reading, writing = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", command),
            cwd=cwd,
            env=env | {"TMPDIR": str(tmp)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=writing,
            stderr=writing,
            start_new_session=True,
            pass_fds=held,
        )
    except OSError as error:
        os.close(reading)
        raise ExternalError(f'"{command}" cannot be started: {error}') from error
    finally:
        os.close(writing)
    code, output = await _follow(process, reading, timeout_s)
    if code is None:
        output += f"\n[Stopped: it took longer than {timeout_s:g} s.]"
    return code, output


async def _follow(
    process: asyncio.subprocess.Process, reading: int, timeout_s: float
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
