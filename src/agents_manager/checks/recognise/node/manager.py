"""What the package managers of Node have in common."""

from collections.abc import Callable
from dataclasses import dataclass

from agents_manager.checks.recognise.node.package import Package


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeManager:
    """One package manager: how it is found, and the commands that it takes."""

    name: str
    locks: tuple[str, ...]
    install: Callable[[Package], str]
    """Returns the arguments that install what the lock file says."""
    run: Callable[[str], str]
    """Returns the arguments that run a script of the package."""
    run_everywhere: Callable[[Package], str]
    """Returns the arguments that run the tests of all workspaces that have some."""
    by_npx: Callable[[Package], str]
    """Returns the command that downloads and starts it where it is not installed."""
    get: str
    committed: Callable[[Package], str] = lambda _: ""
    """Returns the command that starts the copy in the repository; empty if there is none."""
