"""The day in one message: what needs somebody, what was done, what it cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from agents_manager.domain.budget import spent
from agents_manager.domain.cost import Spent
from agents_manager.domain.event.happening import counted_as
from agents_manager.domain.names import visible

MOST = 10
"""Entries of a kind that are shown; of more, the number is told."""


@dataclass(frozen=True, slots=True)
class Entry:
    title: str
    """The task's."""
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    day: date
    waiting: Sequence[Entry]
    """The questions that are open, the most urgent first."""
    done: Sequence[Entry]
    """What came to its end since the last time."""
    cost: Spent
    """Of the runs since then."""


def title(day: Day) -> str:
    return f"Your day, {day.day:%A %Y-%m-%d}"


def body(day: Day) -> tuple[str, ...]:
    return (
        _listed("What needs you", day.waiting, "Nothing needs you."),
        _listed("What was done", day.done, "Nothing was finished."),
        f"What it cost: {_cost(day.cost)}",
    )


def _listed(head: str, entries: Sequence[Entry], none: str) -> str:
    if not entries:
        return none
    rows = [f"• {visible(e.title, 80)}: {visible(e.says, 160)}" for e in entries[:MOST]]
    more = [f"• and {len(entries) - MOST} more"] if len(entries) > MOST else []
    return "\n".join([f"{head} ({len(entries)}):", *rows, *more])


def _cost(cost: Spent) -> str:
    runs = counted_as(cost.runs, "run")
    if not cost.runs:
        return "no agent ran."
    if cost.cost_usd is None:
        return f"unknown, {runs}."
    return f"{spent(cost.cost_usd, cost.unknown)}, {runs}."
