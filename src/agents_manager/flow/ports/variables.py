"""The environment of a project's runs: variables for set-up, checks and agents."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

VariableSource = Literal["environment", "keyring"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable that runs of a project get; its value is in no file."""

    name: str
    source: VariableSource
    entry: str
    """Its name in the source."""
    optional: bool

    @property
    def described(self) -> str:
        where = "the keyring" if self.source == "keyring" else "the server's environment"
        return f"{self.entry} from {where}{', optional' if self.optional else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadVariables:
    values: Mapping[str, str] = field(repr=False)
    missing: tuple[str, ...]
    """For each required variable without a value, a sentence that says how to provide it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the commands of a task find besides the files of its branch."""

    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Variables, also those that hold secrets."""
    place_files: Callable[[Path], Awaitable[Sequence[str]]] | None = None
    """Copies the ignored files that the project asks for into a check copy."""


BARE = Surroundings()
TASK_VARIABLES = ("AM_TASK_ID", "AM_BRANCH", "AM_PORT")
"""Variables that differ between tasks; results that tasks share cannot depend on them."""


class Variables(Protocol):
    def read(self, wanted: Sequence[Variable]) -> ReadVariables:
        """Return the values that this server has. From then on they are redacted in everything
        that the server keeps. May wait for the desktop to unlock a keyring."""
        ...

    def learn_env_files(self, paths: Sequence[Path]) -> None:
        """Redact from now on what files such as `.env` assign to names that sound like a secret.
        Other files are left alone."""
        ...


class PortBlocks(Protocol):
    """Blocks of TCP ports of this machine, one for each live task."""

    def owners(self) -> Mapping[int, str]:
        """The tasks that have a block, by its first port."""
        ...

    def assign(self, task: str) -> int | None:
        """Return the first port of the task's block, which stays the same until it is released, or
        None when no block is free."""
        ...

    def release(self, task: str) -> None: ...
