"""Set-up commands: what makes a fresh workspace fit to work in, such as installing dependencies.
Run again only when the commands or the files they depend on changed. Whether they are trusted was
decided before."""

import asyncio
import fcntl
import hashlib
import os
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from agents_manager.checks.command import Keep, environment, run_command, shell
from agents_manager.errors import ExternalError
from agents_manager.flow.ports import Reach, SetupResult, SetupSpec, Workspace

MARK = "agents-manager-setup"
TAIL_LINES = 20


class SetupCommands:
    def __init__(self, root: Path, keep: Keep) -> None:
        self._root = root
        self._keep = keep

    async def run(
        self,
        workspace: Workspace,
        spec: SetupSpec,
        inputs: str,
        log: Path,
        *,
        reach: Reach | None = None,
    ) -> SetupResult | None:
        state = hashlib.sha256("\0".join([*spec.commands, inputs]).encode()).hexdigest()
        mark = workspace.state / MARK
        if await asyncio.to_thread(_read, mark) == state:
            return None
        async with self._alone(workspace.path, spec.timeout_s) as lock:
            result = await self._run_all(workspace.path, spec, log, lock, reach)
        if result.failed is None:
            await asyncio.to_thread(_write, mark, state)
        return result

    async def _run_all(
        self, tree: Path, spec: SetupSpec, log: Path, lock: int, reach: Reach | None
    ) -> SetupResult:
        kept: list[str] = []
        try:
            for command in spec.commands:
                with tempfile.TemporaryDirectory(prefix="agents-manager-") as folder:
                    tmp = Path(folder)
                    argv = self._argv(command, tree, tmp, reach)
                    code, output = await run_command(argv, tree, tmp, spec.timeout_s, held=(lock,))
                kept.append(f"$ {command}\n{output}\n")
                if code != 0:
                    how = "took too long" if code is None else f"exit code {code}"
                    why = f'The set-up command "{command}" failed ({how}); its output is in {log}.'
                    tail = "\n".join(output.rstrip().splitlines()[-TAIL_LINES:])
                    return SetupResult(failed=why, output=tail)
        finally:
            await asyncio.to_thread(_keep, log, "".join(kept))
        return SetupResult(failed=None, output="")

    def _argv(self, command: str, tree: Path, tmp: Path, reach: Reach | None) -> Sequence[str]:
        argv = shell(command)
        if reach is None:
            return argv
        env = environment(tmp, {**reach.env, "HOME": str(tmp)})
        return self._keep(argv, env, tree, writes=(*reach.writes, tmp), reads=reach.reads)

    @asynccontextmanager
    async def _alone(self, tree: Path, timeout_s: float) -> AsyncGenerator[int]:
        """The commands hold the lock too: after a kill -9 of this process, those it left are waited
        for, so that no two work in one tree."""
        self._root.mkdir(parents=True, exist_ok=True)
        path = self._root / f"{hashlib.sha256(os.fsencode(tree)).hexdigest()[:16]}.lock"
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            await _acquire(fd, tree, timeout_s)
            yield fd
        finally:
            os.close(fd)


async def _acquire(fd: int, tree: Path, timeout_s: float) -> None:
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                try:
                    return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    await asyncio.sleep(0.1)
    except TimeoutError:
        raise ExternalError(f'Another set-up still works in "{tree}".') from None


def _keep(log: Path, text: str) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(text, encoding="utf-8", errors="replace")


def _read(mark: Path) -> str:
    """Agents can write here: neither a pipe nor a big file may hold us up."""
    try:
        fd = os.open(mark, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    with os.fdopen(fd, "rb") as file:
        return file.read(100).decode(errors="replace")


def _write(mark: Path, state: str) -> None:
    mark.unlink(missing_ok=True)
    with mark.open("x") as file:
        file.write(state)
