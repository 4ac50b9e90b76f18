"""What the program has on this machine, and what it leaves in the repositories of its user."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agents_manager.scm.traces import Trace


@dataclass(frozen=True, slots=True)
class Repository:
    project: str
    path: Path
    workspaces: tuple[str, ...] = ()
    """Their keys; they go."""
    traces: "tuple[Trace, ...]" = ()
    """They stay."""
    trouble: str | None = None
    """Why its workspaces cannot be looked at."""


@dataclass(frozen=True, slots=True)
class Found:
    home: Path
    working_folder: Path
    files: tuple[Path, ...]
    """What goes."""
    strange: tuple[Path, ...]
    """Files in these two folders that are not ours."""
    busy: tuple[str, ...]
    repositories: tuple[Repository, ...]
    database: str | None
    """The one on Postgres, which stays."""
