"""A list of tasks in a file, read: its entries, each with its place, and every fault, so that all
of them are told at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MAX_BYTES = 1024 * 1024
MAX_TASKS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Where a task comes from, as it is kept with it."""

    key: str
    """What comes from the same place is not made again."""
    label: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    place: str
    """Such as `line 3`."""
    words: Mapping[str, Any]
    pipeline: str | None = None
    needs: tuple[int, ...] = ()
    """Which others of the list have to be finished first."""
    waits_for: tuple[str, ...] = ()
    """Tasks outside of the list that have to be finished first."""
    source: str | None = None
    """Where it comes from, if that is not the list."""
    link: Link | None = None
    """None: by its title in the list."""
    file: str | None = None
    """The whole file, where it tells what became of the task elsewhere: it stays with the link."""
    note: bool = False
    """The file has a handoff in free words."""

    @property
    def title(self) -> str:
        return " ".join(str(self.words.get("title", "")).split())


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A list item that is not a task, such as a bullet without a box."""

    place: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    entries: Sequence[Entry] = ()
    faults: Sequence[str] = ()
    skipped: int = 0
    """Those that are no tasks, such as what is checked off."""
    left_out: Sequence[LeftOut] = ()
    forgiving: bool = False
    """What an entry waits for may be unknown here, and is left out then."""


def lines(text: str) -> list[str]:
    """As editors count them; `str.splitlines` sees more."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return plain.split("\n")


def circle(entries: Sequence[Entry]) -> list[Entry]:
    """A way from an entry back to itself over what it needs; empty without one."""
    over = set[int]()
    for start in range(len(entries)):
        way: list[int] = []
        left = [iter((start,))]
        while left:
            one = next(left[-1], None)
            if one is None:
                left.pop()
                if way:
                    over.add(way.pop())
            elif one in way:
                return [entries[n] for n in [*way[way.index(one) :], one]]
            elif one not in over:
                way.append(one)
                left.append(iter(entries[one].needs))
    return []
