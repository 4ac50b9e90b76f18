"""What judges the work, and what makes a workspace ready for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from agents_manager.domain.stages.table import WRITERS
from agents_manager.flow.ports.variables import BARE, Surroundings
from agents_manager.flow.ports.workspaces import Reach, Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSpec:
    name: str
    command: str | None
    """None: the search for secrets, which needs none."""
    severity: str
    modes: tuple[str, ...]
    """The modes after which it runs; `*` stands for every one."""
    timeout_s: float
    kind: str | None = None
    """That of a plugin; None: a command, or the search for secrets."""
    settings: Any = None
    """What a check of a plugin is told, as its own model or, without one, as it is written."""

    @property
    def own(self) -> bool:
        """Whether the project asks for it: the search for secrets is made in any case."""
        return self.command is not None or self.kind is not None

    def follows(self, mode: str) -> bool:
        """One that follows `implement` follows every role that changes the work."""
        at_work = IMPLEMENT if mode in WRITERS else mode
        return not {mode, at_work, ANY_MODE}.isdisjoint(self.modes)


ANY_MODE = "*"
IMPLEMENT = "implement"


CheckProblem = Literal["failed", "timed_out", "setup_failed", "sandbox_unavailable"]
"""Why a check did not pass. The last two are failures of the environment: the check did not run."""
NOT_RUN: tuple[CheckProblem, ...] = ("setup_failed", "sandbox_unavailable")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    name: str
    passed: bool
    severity: str
    how: str
    """How it ended, in a few words."""
    output: str
    seconds: float
    problem: CheckProblem | None = None
    """None if the check passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSaid:
    """What a check found."""

    passed: bool
    how: str
    """How it ended, in a few words."""
    output: str = ""
    """For who mends it."""


class CheckWork(Protocol):
    """What a check looks at; each part is made when it is first asked for."""

    @property
    def spec(self) -> CheckSpec: ...

    async def tree(self) -> Path:
        """A clean checkout of the commit, which checks of the same run share."""
        ...

    async def written(self) -> "Written":
        """What was written since the base."""
        ...

    async def command(self, command: str) -> tuple[int | None, str]:
        """Runs it with `sh` in the checkout, in the sandbox where there is one: its exit status,
        None when it took too long, and the end of its output."""
        ...

    async def leaks(self) -> str:
        """Where what was written seems to hold secrets, for people; nothing where it does not."""
        ...


class Checks(Protocol):
    async def run(
        self,
        repo: Path,
        base_sha: str,
        sha: str,
        checks: Sequence[CheckSpec],
        *,
        kept: bool = False,
        setup: "SetupPlan | None" = None,
        on_result: Callable[[CheckResult], None] | None = None,
        surroundings: Surroundings = BARE,
    ) -> list[CheckResult]:
        """Runs the checks, in their order, on a clean checkout of the commit and on what was
        written since the base; in the sandbox if `kept`. Set-up runs before the first command; if
        it fails, so does every check that has a command. Calls `on_result` when a check ends."""
        ...

    async def secrets(
        self, repo: Path, base_sha: str, sha: str, texts: Mapping[str, str]
    ) -> list[str]:
        """Where what was written since the base, or a text by its name, seems to hold a secret, and
        of what kind it is; never what it is."""
        ...

    async def secrets_in(self, texts: Mapping[str, str]) -> list[str]:
        """The same for texts alone."""
        ...

    def masked(self, text: str) -> str:
        """Returns a short text without what seems to be a secret."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What commits hold, as text to be searched."""

    messages: Sequence[tuple[str, str]]
    """Of each commit: its hash and its message."""
    patch: str
    """What each of them changed, one after the other, without context."""
    cut: bool
    """Whether there was more than is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupSpec:
    """What makes a fresh workspace fit to work in."""

    commands: tuple[str, ...]
    inputs: tuple[str, ...]
    """Patterns of the files that decide whether it has to be done again."""
    timeout_s: float
    """For each command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupResult:
    failed: str | None
    """The command that failed and how, in a sentence."""
    output: str
    """The end of its output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupPlan:
    """Where what set-up installs for a checkout comes from."""

    spec: SetupSpec
    commit: str
    """The commit that set-up runs on if nothing is cached."""
    inputs: str
    """The hash of the input files of that commit."""
    task: str | None
    """The task that the installed files are private to, because its agent changed the inputs; None
    if all tasks of the project share them, which takes a commit that people approved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedSetup:
    """What set-up commands installed, as the cache has it."""

    key: str
    what: str
    """The set-up commands."""
    bytes: int
    used: float
    """When it was last used, in seconds since the epoch."""


class Setup(Protocol):
    def cached(self) -> list[CachedSetup]:
        """Lists what is cached, the least recently used first."""
        ...

    def excess(self) -> list[CachedSetup]:
        """Lists what is cached beyond the limits of `retention`."""
        ...

    def forget(self, key: str) -> bool:
        """Removes a cache entry; returns False if it is in use."""
        ...

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
        """Runs the commands in the workspace and writes what they said into a file; None when
        commands and inputs are those of the last time that they succeeded here. What they reach is
        given where they are to be kept in the sandbox."""
        ...

    async def tear_down(
        self,
        tree: Path,
        spec: SetupSpec,
        log: Path,
        *,
        reach: Reach | None = None,
        surroundings: Surroundings = BARE,
    ) -> SetupResult:
        """Runs all commands in a workspace that is about to be removed, also after one that
        failed, and writes what they said into a file."""
        ...
