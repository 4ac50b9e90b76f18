"""Parts of a task's work that are done side by side: runs of one group, each on a branch of its
own, and what they come to together."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agents_manager.domain.run import Run, RunStatus

CONFLICT = "conflicts_detected"
"""What a group ends with whose work cannot be put together. The engine says so, no agent."""


@dataclass(frozen=True, slots=True, order=True)
class Part:
    group: int
    place: int
    """Its place in the group, in whose order the work is put together."""

    def __str__(self) -> str:
        return f"{self.group}-{self.place}"


def of(run: Run) -> Part | None:
    """None: the run does all of the work."""
    group, _, place = run.part.partition("-")
    return Part(int(group), int(place)) if run.part else None


def group_of(part: str) -> int:
    return int(part.partition("-")[0])


def new_group(runs: Sequence[Run], size: int) -> list[str]:
    """The parts of a group that none was before."""
    group = 1 + max((part.group for run in runs if (part := of(run))), default=0)
    return [str(Part(group, place)) for place in range(1, size + 1)]


def beside(runs: Sequence[Run], run: Run) -> list[Run]:
    """The newest run of each part of a run's group, in their order."""
    mine = of(run)
    return of_group(runs, mine.group) if mine else []


def of_group(runs: Sequence[Run], group: int) -> list[Run]:
    """The newest run of each part. One that was called off before it began counts only where there
    is no other."""
    found: dict[Part, Run] = {}
    for one in runs:
        part = of(one)
        mine = part is not None and part.group == group
        if part is not None and mine and (part not in found or not one.never_began):
            found[part] = one
    return [found[part] for part in sorted(found)]


def finished(run: Run, asking: Collection[str]) -> bool:
    """Whether the part is done; `asking` are the outcomes that ask a person for something."""
    done = run.status is RunStatus.COMPLETED and run.error is None
    return done and run.outcome not in asking


def undone(runs: Sequence[Run], asking: Collection[str]) -> list[Run]:
    """What is left of the group that worked last: those to go on with."""
    if not runs or not runs[-1].part:
        return []
    return [run for run in beside(runs, runs[-1]) if not finished(run, asking)]


def speaker(members: Sequence[Run], asking: Collection[str]) -> Run:
    """The run whose ending the group ends with: one that was stopped, else one that failed, else
    one that asks; where all are done, the last."""

    def rank(run: Run) -> int:
        if run.status is RunStatus.CANCELLED:
            return 0
        if run.error is not None:
            return 1
        return 2 if run.outcome in asking else 3

    worst = min(map(rank, members))
    found = [run for run in members if rank(run) == worst]
    return members[-1] if worst == 3 else found[0]
