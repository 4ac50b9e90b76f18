"""What may go, each with the way to remove it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from agents_manager.domain.ids import TaskId

Kind = Literal["transcripts", "worktrees", "snapshots", "engine", "backups", "setup"]
KINDS: tuple[Kind, ...] = ("transcripts", "worktrees", "snapshots", "engine", "backups", "setup")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    kind: Kind
    what: str
    why: str
    count: int = 1
    bytes: int | None = None
    """None: unknown."""
    task_id: TaskId | None = None


@dataclass(frozen=True, slots=True)
class Found:
    item: Item
    remove: Callable[[], Awaitable[int]]
    """How many things went: none when it was needed again in the meantime."""
