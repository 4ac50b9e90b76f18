"""Project checks: commands run on a clean copy of a commit, where the agent's uncommitted, ignored
or hidden files are not, and the search for secrets. The commands come from the user's
configuration; whether they are trusted was decided before."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from agents_manager.checks import secrets
from agents_manager.checks.copies import CheckCopies, CheckCopy
from agents_manager.checks.installing import Export, SetupInstaller
from agents_manager.checks.running import (
    NO_REPORTS,
    CheckNotRun,
    CopyCommands,
    SandboxReports,
    ending,
)
from agents_manager.checks.setup_cache import SetupCache
from agents_manager.checks.shell import OUTPUT_LIMIT, Keep
from agents_manager.flow.ports import (
    BARE,
    Adapters,
    CheckProblem,
    CheckResult,
    CheckSaid,
    CheckSpec,
    CheckWork,
    SetupPlan,
    Surroundings,
    Written,
)
from agents_manager.flow.ports.adapters import Check
from agents_manager.plugins.blame import sentence
from agents_manager.redaction import NOTHING, Redactor

COMMAND, NO_SECRETS = "command", "no-secrets"

Read = Callable[[Path, str, str], Awaitable[Written]]
"""What the commits of a repository hold, from the one, which is left out, to the other."""
KillMarked = Callable[[str], None]
"""Kills every process with this in its environment."""


class ProjectChecks:
    def __init__(
        self,
        root: Path,
        export: Export,
        read: Read,
        kill_marked: KillMarked,
        keep: Keep,
        known: Redactor = NOTHING,
        *,
        adapters: Adapters,
        reports: SandboxReports = NO_REPORTS,
        cache: SetupCache | None = None,
    ) -> None:
        """`known` has the secrets of this machine."""
        self._copies = CheckCopies(root, kill_marked)
        self.commands = CopyCommands(self._copies, keep, reports)
        kept = cache or SetupCache(root / "installed")
        self.installer = SetupInstaller(kept, self._copies, self.commands, export)
        self._export = export
        self._read = read
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
        setup: SetupPlan | None = None,
        on_result: Callable[[CheckResult], None] | None = None,
        surroundings: Surroundings = BARE,
    ) -> list[CheckResult]:
        results: list[CheckResult] = []
        async with AsyncExitStack() as over:
            ground = _Ground(self, over, repo, base_sha, sha, kept, setup, surroundings)
            for check in checks:
                results.append(await self._run(check, ground))
                if on_result is not None:
                    on_result(results[-1])
        return results

    async def _run(self, check: CheckSpec, ground: "_Ground") -> CheckResult:
        began, setup_s = time.monotonic(), ground.setup_s
        name = check.kind or (COMMAND if check.command else NO_SECRETS)
        kind = self._adapters.checks.get(name)
        problem: CheckProblem | None = None
        try:
            if kind is None:
                lost = self._adapters.missing(f'There is no kind of check "{name}".')
                said = CheckSaid(passed=False, how="nobody can run it", output=lost)
            elif kind.plugin is None:
                said = await kind.run(_Work(check, ground))
            else:
                said = await _of_plugin(kind.plugin, kind.run, _Work(check, ground))
        except CheckNotRun as error:
            said = CheckSaid(passed=False, how=error.how, output=error.output)
            problem = error.problem
        if not said.passed and problem is None:
            problem = "timed_out" if said.how == ending(None, check.timeout_s) else "failed"
        return CheckResult(
            name=check.name,
            passed=said.passed,
            severity=check.severity,
            how=said.how,
            output=self._known.text(said.output),
            seconds=round(time.monotonic() - began - ground.setup_s + setup_s, 3),
            problem=problem,
        )

    async def check_out(self, over: AsyncExitStack, repo: Path, sha: str) -> CheckCopy:
        """Returns a check copy of the commit, which is removed when `over` ends."""
        copy = await over.enter_async_context(self._copies.empty())
        await self._export(repo, sha, copy.tree)
        return copy

    async def set_up(
        self,
        copy: CheckCopy,
        repo: Path,
        plan: SetupPlan,
        surroundings: Surroundings,
        *,
        kept: bool,
    ) -> None:
        """Provides the copy with what set-up installs; raises CheckNotRun when set-up failed."""
        home = copy.home if kept else None
        if not await self.installer.install(repo, plan, copy.tree, home, surroundings, kept=kept):
            hidden = repo if kept else None
            await self.commands.set_up(copy, plan.spec, hidden, surroundings.env)

    async def written(self, repo: Path, base_sha: str, sha: str) -> Written:
        return await self._read(repo, base_sha, sha)

    async def leaks(self, written: Written, base_sha: str) -> str:
        found = await asyncio.to_thread(secrets.search, written, self._known.needles)
        return secrets.told(found, base_sha)

    async def secrets(
        self, repo: Path, base_sha: str, sha: str, texts: Mapping[str, str]
    ) -> list[str]:
        return await self._searched(await self._read(repo, base_sha, sha), texts)

    async def secrets_in(self, texts: Mapping[str, str]) -> list[str]:
        return await self._searched(Written(messages=(), patch="", cut=False), texts)

    def masked(self, text: str) -> str:
        return secrets.masked(text)

    async def _searched(self, written: Written, texts: Mapping[str, str]) -> list[str]:
        found = await asyncio.to_thread(secrets.search, written, self._known.needles, texts)
        return [f"{one.where}: {one.what}" for one in found]


@dataclass(slots=True)
class _Ground:
    """What the checks of one run look at together."""

    checks: ProjectChecks
    over: AsyncExitStack
    repo: Path
    base_sha: str
    sha: str
    kept: bool
    setup: SetupPlan | None
    surroundings: Surroundings
    setup_s: float = 0.0
    """How long set-up took, which is not the time of the check that came first."""
    _copy: CheckCopy | None = None
    _is_set_up: bool = False
    _setup_failure: CheckNotRun | None = None

    async def copy(self) -> CheckCopy:
        if self._copy is None:
            self._copy = await self.checks.check_out(self.over, self.repo, self.sha)
            if self.surroundings.place_files is not None:
                await self.surroundings.place_files(self._copy.tree)
        return self._copy

    async def prepared(self) -> CheckCopy:
        """Returns the copy after set-up, which runs once; raises CheckNotRun if it failed."""
        copy = await self.copy()
        if self.setup is not None and not self._is_set_up:
            self._is_set_up, began = True, time.monotonic()
            try:
                await self.checks.set_up(
                    copy, self.repo, self.setup, self.surroundings, kept=self.kept
                )
            except CheckNotRun as error:
                self._setup_failure = error
            self.setup_s = time.monotonic() - began
        if self._setup_failure is not None:
            raise self._setup_failure
        return copy


@dataclass(frozen=True, slots=True)
class _Work:
    """The same for one check."""

    spec: CheckSpec
    ground: _Ground
    deadline: asyncio.Timeout | None = None
    """The check's own, which does not run during set-up."""

    async def tree(self) -> Path:
        return (await self.ground.copy()).tree

    async def written(self) -> Written:
        at = self.ground
        return await at.checks.written(at.repo, at.base_sha, at.sha)

    async def command(self, command: str) -> tuple[int | None, str]:
        at = self.ground
        with _paused(self.deadline):
            copy = await at.prepared()
        env = at.surroundings.env
        hidden = at.repo if at.kept else None
        return await at.checks.commands.run(command, self.spec.timeout_s, copy, hidden, env)

    async def leaks(self) -> str:
        return await self.ground.checks.leaks(await self.written(), self.ground.base_sha)


@contextmanager
def _paused(deadline: asyncio.Timeout | None) -> Generator[None]:
    if deadline is None or (due := deadline.when()) is None:
        yield
        return
    left = due - asyncio.get_running_loop().time()
    deadline.reschedule(None)
    try:
        yield
    finally:
        deadline.reschedule(asyncio.get_running_loop().time() + left)


async def _of_plugin(plugin: str, run: Check, work: _Work) -> CheckSaid:
    """A check that fails to look has not passed."""
    limit = work.spec.timeout_s
    try:
        async with asyncio.timeout(limit) as deadline:
            said = await run(replace(work, deadline=deadline))
        return replace(said, output=said.output[-OUTPUT_LIMIT:])
    except CheckNotRun:
        raise
    except TimeoutError:
        return CheckSaid(passed=False, how=ending(None, limit))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told
        told = sentence(plugin, error)
        return CheckSaid(passed=False, how="its plugin failed", output=told)


async def by_command(work: CheckWork) -> CheckSaid:
    code, output = await work.command(work.spec.command or "false")
    return CheckSaid(passed=code == 0, how=ending(code, work.spec.timeout_s), output=output)


async def for_secrets(work: CheckWork) -> CheckSaid:
    found = await work.leaks()
    how = "something that looks like a secret was committed" if found else "passed"
    return CheckSaid(passed=not found, how=how, output=found)
