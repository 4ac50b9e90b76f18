"""The way of a task through its statuses: when it came, when it left, and how."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean, median
from typing import Protocol

from agents_manager.domain.task import Actor
from agents_manager.domain.trail import Entry, moved


class Passage(Entry, Protocol):
    """A move with its time."""

    @property
    def transition_id(self) -> str | None: ...
    @property
    def time(self) -> datetime: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A stay in a status."""

    status: str
    entered: datetime
    left: datetime | None
    """None: the task is still there."""
    transition_id: str | None
    """By which it left; None: by none of the graph, or it did not."""
    trigger: str | None

    @property
    def seconds(self) -> float | None:
        return None if self.left is None else (self.left - self.entered).total_seconds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A stay, with who ended it."""

    visit: Visit
    by: Actor | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """All stays in a status together."""

    status: str
    visits: int
    again: int
    """How often it was entered again."""
    seconds: float
    """Of the stays that are over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    steps: Sequence[Step]
    totals: Sequence[Stay]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusCount:
    status: str
    tasks: int
    """That are there now."""
    visits: int
    """That are over."""
    median_s: float | None
    mean_s: float | None
    """Of those; None when there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransitionCount:
    transition_id: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineCounts:
    pipeline_id: str
    version: int
    statuses: Sequence[StatusCount]
    transitions: Sequence[TransitionCount]


def visits(began: datetime, status: str, entries: Iterable[Passage]) -> Iterator[Visit]:
    """From the beginning to the present status, which counts where nothing was moved yet."""
    moves = [entry for entry in entries if moved(entry)]
    at, since = (moves[0].source if moves else status), began
    for entry in moves:
        yield Visit(
            status=at,
            entered=since,
            left=entry.time,
            transition_id=entry.transition_id,
            trigger=entry.trigger,
        )
        at, since = entry.to, entry.time
    yield Visit(status=at, entered=since, left=None, transition_id=None, trigger=None)


def totals(stays: Sequence[Visit]) -> list[Stay]:
    """By status, in the order in which each was first entered."""
    found: dict[str, list[Visit]] = defaultdict(list)
    for visit in stays:
        found[visit.status].append(visit)
    return [
        Stay(
            status=status,
            visits=len(known),
            again=len(known) - 1,
            seconds=sum(visit.seconds or 0 for visit in known),
        )
        for status, known in found.items()
    ]


def counted(
    statuses: Sequence[str], now: Counter[str], stays: Iterable[Visit]
) -> tuple[list[StatusCount], list[TransitionCount]]:
    spent: dict[str, list[float]] = defaultdict(list)
    taken: Counter[str] = Counter()
    for visit in stays:
        if visit.seconds is not None:
            spent[visit.status].append(visit.seconds)
        if visit.transition_id is not None:
            taken[visit.transition_id] += 1
    named = dict.fromkeys([*statuses, *sorted(now), *sorted(spent)])
    return [
        StatusCount(
            status=status,
            tasks=now[status],
            visits=len(spent[status]),
            median_s=round(median(spent[status]), 3) if spent[status] else None,
            mean_s=round(fmean(spent[status]), 3) if spent[status] else None,
        )
        for status in named
    ], [TransitionCount(transition_id=id, times=times) for id, times in taken.most_common()]
