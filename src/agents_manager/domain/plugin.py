"""Plugins as values: what a package added, and what a hook of one is told."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents_manager.domain.task import History, Project, Task

ADAPTERS = ("agents", "forges", "channels", "checks", "pipelines")
"""What configuration files name."""
KINDS = ("guards", "hooks", "outcomes", "rankers", *ADAPTERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """One entry point of an installed package."""

    package: str
    version: str
    entry_point: str
    guards: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    rankers: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    forges: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    pipelines: tuple[str, ...] = ()
    error: str | None = None
    """Why nothing of it is registered."""

    @property
    def title(self) -> str:
        return f"{self.package} {self.version}".strip()

    @property
    def trouble(self) -> str:
        """The sentence that a missing name is explained with."""
        return f'The plugin {self.title} ("{self.entry_point}") could not be used: {self.error}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Borrowed:
    """A name in a pipeline that a plugin stands for."""

    kind: str
    """`guard`, `hook` or `outcome`."""
    name: str
    plugin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCall:
    """All that a plugin's hook is told."""

    key: str
    """The same whenever the same effect is performed again, as after a crash."""
    attempt: int
    params: Mapping[str, Any]
    """As the pipeline gives them."""
    task: Task
    project: Project
    move: History
    """The move that the hook belongs to."""


Ranker = Callable[[str, Sequence[str]], Sequence[float]]
"""Told what a task is about and the texts of findings: how well each fits, from 0 to 1."""
HookFunction = Callable[[HookCall], None]
"""Called in a thread. HookFailed ends the effect, any other error is tried again first."""
