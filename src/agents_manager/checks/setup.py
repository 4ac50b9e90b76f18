"""Set-up commands: what makes a fresh workspace fit to work in, such as installing dependencies.
Run again only when the commands or the files they depend on changed. Whether they are trusted was
decided before."""

import asyncio
import fcntl
import hashlib
import os
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from agents_manager.checks.installing import SetupInstaller
from agents_manager.checks.running import CheckNotRun
from agents_manager.checks.shell import Keep, environment, run_command, shell
from agents_manager.errors import ExternalError
from agents_manager.flow.ports import (
    BARE,
    CachedSetup,
    Reach,
    SetupPlan,
    SetupResult,
    SetupSpec,
    Surroundings,
    Workspace,
)

MARK = "agents-manager-setup"
TAIL_LINES = 20
TAIL_CHARACTERS = 4_000


class SetupCommands:
    def __init__(
        self,
        root: Path,
        keep: Keep,
        installer: SetupInstaller,
        redact: Callable[[str], str] = lambda text: text,
    ) -> None:
        self._root = root
        self._keep = keep
        self._installer = installer
        self._redact = redact

    def cached(self) -> list[CachedSetup]:
        return self._installer.cache.entries()

    def excess(self) -> list[CachedSetup]:
        return self._installer.cache.excess()

    def forget(self, key: str) -> bool:
        return self._installer.cache.remove(key)

    async def run(
        self,
        workspace: Workspace,
        plan: SetupPlan,
        repo: Path,
        log: Path,
        *,
        reach: Reach | None = None,
        surroundings: Surroundings = BARE,
    ) -> SetupResult | None:
        spec = plan.spec
        state = hashlib.sha256("\0".join([*spec.commands, plan.inputs]).encode()).hexdigest()
        mark = workspace.state / MARK
        before = await asyncio.to_thread(_read, mark)
        if before == state:
            return None
        async with self._alone(workspace.path, spec.timeout_s) as lock:
            env = surroundings.env
            if not before and await self._copied(
                workspace.path, plan, repo, surroundings, kept=bool(reach)
            ):
                result = SetupResult(failed=None, output="")
                await asyncio.to_thread(_keep, log, "Copied from the cache of installed files.\n")
            else:
                result = await self._run_all(workspace.path, spec, log, lock, reach, env)
        if result.failed is None:
            await asyncio.to_thread(_write, mark, state)
        return result

    async def tear_down(
        self,
        tree: Path,
        spec: SetupSpec,
        log: Path,
        *,
        reach: Reach | None = None,
        surroundings: Surroundings = BARE,
    ) -> SetupResult:
        async with self._alone(tree, spec.timeout_s) as lock:
            return await self._run_all(
                tree, spec, log, lock, reach, surroundings.env, teardown=True
            )

    async def _copied(
        self, tree: Path, plan: SetupPlan, repo: Path, surroundings: Surroundings, *, kept: bool
    ) -> bool:
        """Copies the files from the cache into a workspace that was never set up. False if set-up
        has to run there, as it may need the repository, which check copies do not have."""
        try:
            return await self._installer.install(repo, plan, tree, None, surroundings, kept=kept)
        except CheckNotRun:
            return False

    async def _run_all(
        self,
        tree: Path,
        spec: SetupSpec,
        log: Path,
        lock: int,
        reach: Reach | None,
        env: Mapping[str, str],
        *,
        teardown: bool = False,
    ) -> SetupResult:
        """Stops at the first command that fails, but for teardown, which goes on with the next."""
        kept: list[str] = []
        failed: SetupResult | None = None
        what = "teardown" if teardown else "set-up"
        try:
            for command in spec.commands:
                with tempfile.TemporaryDirectory(prefix="agents-manager-") as folder:
                    tmp = Path(folder)
                    argv = self._argv(command, tree, tmp, reach, tuple(env))
                    code, output = await run_command(
                        argv, tree, tmp, spec.timeout_s, held=(lock,), env=env
                    )
                    output = self._redact(output)
                kept.append(f"$ {command}\n{output}\n")
                if code != 0:
                    how = "took too long" if code is None else f"exit code {code}"
                    why = f'The {what} command "{command}" failed ({how}); its output is in {log}.'
                    tail = "\n".join(output.rstrip().splitlines()[-TAIL_LINES:])[-TAIL_CHARACTERS:]
                    failed = failed or SetupResult(failed=why, output=tail)
                    if not teardown:
                        return failed
        finally:
            await asyncio.to_thread(_keep, log, "".join(kept))
        return failed or SetupResult(failed=None, output="")

    def _argv(
        self, command: str, tree: Path, tmp: Path, reach: Reach | None, inherits: Sequence[str]
    ) -> Sequence[str]:
        argv = shell(command)
        if reach is None:
            return argv
        env = environment(tmp, {**reach.env, "HOME": str(tmp)})
        writes = (*reach.writes, tmp)
        return self._keep(argv, env, tree, writes=writes, reads=reach.reads, inherits=inherits)

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
