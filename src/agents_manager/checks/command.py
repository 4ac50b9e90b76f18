"""Project checks: commands run on a clean copy of a commit, where the agent's uncommitted, ignored
or hidden files are not, and the search for secrets. The commands come from the user's
configuration; whether they are trusted was decided before."""

import asyncio
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from agents_manager.checks import secrets
from agents_manager.errors import ExternalError
from agents_manager.flow.ports import (
    Adapters,
    CheckResult,
    CheckSaid,
    CheckSpec,
    CheckWork,
    Written,
)
from agents_manager.flow.ports.adapters import Check
from agents_manager.plugins.blame import sentence

COMMAND, NO_SECRETS = "command", "no-secrets"
OUTPUT_LIMIT = 64 * 1024
KEPT_ENV = ("PATH", "HOME", "LANG", "LC_ALL", "USER", "LOGNAME", "TZ")

Export = Callable[[Path, str, Path], Awaitable[None]]
"""Writes the files of a repository's commit into an empty folder."""
Read = Callable[[Path, str, str], Awaitable[Written]]
"""What the commits of a repository hold, from the one, which is left out, to the other."""
KillMarked = Callable[[str], None]
"""Kills every process with this in its environment."""


class Keep(Protocol):
    """A command as the one that runs it in the sandbox."""

    def __call__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: Path,
        *,
        writes: Sequence[Path],
        reads: Sequence[Path] = (),
        hides: Sequence[Path] = (),
    ) -> Sequence[str]: ...


MARK = "AM_CHECK"


class ProjectChecks:
    def __init__(
        self,
        root: Path,
        export: Export,
        read: Read,
        kill_marked: KillMarked,
        keep: Keep,
        known: Sequence[str] = (),
        *,
        adapters: Adapters,
    ) -> None:
        """`known` are secrets of this machine, in the forms that programs print them in."""
        self._root = root
        self._export = export
        self._read = read
        self._kill_marked = kill_marked
        self._keep = keep
        self._known = known
        self._adapters = adapters

    async def run(
        self,
        repo: Path,
        base_sha: str,
        sha: str,
        checks: Sequence[CheckSpec],
        *,
        kept: bool = False,
    ) -> list[CheckResult]:
        async with AsyncExitStack() as over:
            ground = _Ground(self, over, repo, base_sha, sha, kept)
            return [await self._run(check, ground) for check in checks]

    async def _run(self, check: CheckSpec, ground: "_Ground") -> CheckResult:
        began = time.monotonic()
        name = check.kind or (COMMAND if check.command else NO_SECRETS)
        kind = self._adapters.checks.get(name)
        if kind is None:
            lost = self._adapters.missing(f'There is no kind of check "{name}".')
            said = CheckSaid(passed=False, how="nobody can run it", output=lost)
        elif kind.plugin is None:
            said = await kind.run(_Work(check, ground))
        else:
            said = await _of_plugin(kind.plugin, kind.run, _Work(check, ground))
        return CheckResult(
            name=check.name,
            passed=said.passed,
            severity=check.severity,
            how=said.how,
            output=said.output,
            seconds=round(time.monotonic() - began, 3),
        )

    async def tree(self, over: AsyncExitStack, repo: Path, sha: str) -> Path:
        """A folder with a clean checkout beside one for what is passing; until it is over."""
        scratch = await asyncio.to_thread(self._scratch)
        over.push_async_callback(asyncio.to_thread, remove, scratch)
        await self._export(repo, sha, scratch / "tree")
        return scratch

    async def command(
        self, command: str, timeout_s: float, scratch: Path, hidden: Path | None
    ) -> tuple[int | None, str]:
        """Where the repository is hidden, the command is kept in the sandbox."""
        tree, tmp = scratch / "tree", scratch / "tmp"
        # In a folder without a repository git looks for one in those above.
        env = {MARK: scratch.name, "GIT_CEILING_DIRECTORIES": str(scratch)}
        argv = shell(command)
        if hidden is not None:
            own = environment(tmp, {**env, "HOME": str(tmp)})
            argv = self._keep(argv, own, tree, writes=(tree, tmp), hides=(hidden,))
        return await run_command(
            argv,
            tree,
            tmp,
            timeout_s,
            env=env,
            sweep=lambda: self._kill_marked(f"{MARK}={scratch.name}"),
        )

    async def written(self, repo: Path, base_sha: str, sha: str) -> Written:
        return await self._read(repo, base_sha, sha)

    async def leaks(self, written: Written, base_sha: str) -> str:
        found = await asyncio.to_thread(secrets.search, written, self._known)
        return secrets.told(found, base_sha)

    async def secrets(
        self, repo: Path, base_sha: str, sha: str, texts: Mapping[str, str]
    ) -> list[str]:
        return await self._searched(await self._read(repo, base_sha, sha), texts)

    async def secrets_in(self, texts: Mapping[str, str]) -> list[str]:
        return await self._searched(Written(messages=(), patch="", cut=False), texts)

    async def _searched(self, written: Written, texts: Mapping[str, str]) -> list[str]:
        found = await asyncio.to_thread(secrets.search, written, self._known, texts)
        return [f"{one.where}: {one.what}" for one in found]

    def _scratch(self) -> Path:
        """A new folder; those of processes that were killed are removed on the way, with what still
        works in them."""
        self._root.mkdir(parents=True, exist_ok=True)
        for left in self._root.glob("check-*-*"):
            if not Path("/proc", left.name.split("-")[1]).exists():
                self._kill_marked(f"{MARK}={left.name}")
                remove(left)
        scratch = Path(tempfile.mkdtemp(dir=self._root, prefix=f"check-{os.getpid()}-"))
        (scratch / "tree").mkdir()
        (scratch / "tmp").mkdir()
        return scratch


@dataclass(slots=True)
class _Ground:
    """What the checks of one run look at together."""

    checks: ProjectChecks
    over: AsyncExitStack
    repo: Path
    base_sha: str
    sha: str
    kept: bool
    _made: Path | None = None

    async def scratch(self) -> Path:
        if self._made is None:
            self._made = await self.checks.tree(self.over, self.repo, self.sha)
        return self._made


@dataclass(frozen=True, slots=True)
class _Work:
    """The same for one check."""

    spec: CheckSpec
    ground: _Ground

    async def tree(self) -> Path:
        return await self.ground.scratch() / "tree"

    async def written(self) -> Written:
        at = self.ground
        return await at.checks.written(at.repo, at.base_sha, at.sha)

    async def command(self, command: str) -> tuple[int | None, str]:
        at = self.ground
        hidden = at.repo if at.kept else None
        return await at.checks.command(command, self.spec.timeout_s, await at.scratch(), hidden)

    async def leaks(self) -> str:
        return await self.ground.checks.leaks(await self.written(), self.ground.base_sha)


async def _of_plugin(plugin: str, run: Check, work: _Work) -> CheckSaid:
    """A check that fails to look has not passed."""
    limit = work.spec.timeout_s
    try:
        async with asyncio.timeout(limit):
            said = await run(work)
        return replace(said, output=said.output[-OUTPUT_LIMIT:])
    except TimeoutError:
        return CheckSaid(passed=False, how=_how(None, limit))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told
        told = sentence(plugin, error)
        return CheckSaid(passed=False, how="its plugin failed", output=told)


async def by_command(work: CheckWork) -> CheckSaid:
    code, output = await work.command(work.spec.command or "false")
    return CheckSaid(passed=code == 0, how=_how(code, work.spec.timeout_s), output=output)


async def for_secrets(work: CheckWork) -> CheckSaid:
    found = await work.leaks()
    how = "something that looks like a secret was committed" if found else "passed"
    return CheckSaid(passed=not found, how=how, output=found)


def remove(scratch: Path) -> None:
    """Also what a command made read-only, as package caches do. Several may be at it: checks that
    begin beside each other find the same folder left."""
    for folder, folders, _ in os.walk(scratch):
        for name in folders:
            path = Path(folder, name)
            with suppress(FileNotFoundError):
                if not path.is_symlink():
                    path.chmod(0o700)
    shutil.rmtree(scratch, ignore_errors=True)


def _how(code: int | None, timeout_s: float) -> str:
    match code:
        case None:
            return f"stopped after {timeout_s:g} s"
        case 0:
            return "passed"
        case 126:
            return "a program cannot be run (exit code 126)"
        case 127:
            return "a program was not found (exit code 127)"
        case _ if code < 0:
            return f"killed by {signal.Signals(-code).name}"
        case _:
            return f"exit code {code}"


def shell(command: str) -> Sequence[str]:
    return ("/bin/sh", "-c", command)


def environment(tmp: Path, env: Mapping[str, str]) -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT_ENV if name in os.environ}
    return {**kept, **env, "TMPDIR": str(tmp)}


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
