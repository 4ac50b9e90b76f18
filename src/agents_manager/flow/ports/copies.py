"""What machines that share a database pass on to each other by a remote."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from agents_manager.domain.event import Event


class Copies(Protocol):
    async def remote(self, repo: Path) -> str | None:
        """The address of the remote that work goes by, without what is secret in it; None where
        there is none that other machines could use."""
        ...

    async def clone(self, url: str, target: Path, base: str) -> None:
        """Makes the folder, whole or not at all; what was left unfinished goes."""
        ...

    async def follow(self, repo: Path, url: str, base: str) -> str | None:
        """Brings the base of a clone, and its files, to where the remote has it; else why not."""
        ...

    async def is_shared(self, repo: Path) -> bool:
        """Whether the remote has all that the branches and snapshots hold, as it was heard of
        last."""
        ...

    async def has(self, repo: Path, *commits: str) -> bool: ...
    async def lacks(self, repo: Path, branch: str, head: str) -> bool:
        """Whether a commit is no part of the branch here."""
        ...

    async def take(
        self, repo: Path, key: str, branch: str, base: str, head: str
    ) -> Sequence[Event]:
        """Brings a branch to where the remote has it. What only the branch here had is saved as a
        snapshot under the key. WorkElsewhere where the commit is no part of it there, nor of the
        base."""
        ...

    async def fetch(self, repo: Path, branches: Sequence[str]) -> str | None:
        """Asks the remote for the commits of branches; else tells what went wrong."""
        ...
