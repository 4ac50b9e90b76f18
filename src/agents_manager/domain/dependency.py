"""Whether the dependencies of a task let it start."""

from collections.abc import Iterable
from dataclasses import dataclass

from agents_manager.domain.ids import TaskId
from agents_manager.domain.names import visible
from agents_manager.domain.pipeline import Pipeline
from agents_manager.domain.task import Task

MOST_NAMED = 5
SHOWN = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    id: TaskId
    title: str
    status: str
    """The title of its status."""
    finished: bool
    cancelled: bool
    """Whether it ended without its result."""
    note: str = ""
    """Why it does not finish without a person; empty if it may."""

    def __str__(self) -> str:
        note = f", {self.note}" if self.note else ""
        return f'"{visible(self.title, SHOWN)}" ({self.status}{note})'


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """What keeps a task from being started automatically."""

    waits_for: tuple[Dependency, ...] = ()
    cancelled: tuple[Dependency, ...] = ()
    """Their result will never come."""
    blockers: tuple[str, ...] = ()

    @property
    def ready(self) -> bool:
        return not (self.waits_for or self.cancelled or self.blockers)

    def sentence(self) -> str:
        """When the task starts."""
        verb = "is" if len(self.waits_for) == 1 else "are"
        when = (
            [f"It starts when {_named(self.waits_for)} {verb} finished."] if self.waits_for else []
        )
        return " ".join([*when, *self.blockers])

    def refusal(self) -> str:
        """Why it cannot be started automatically at all."""
        verb = "was" if len(self.cancelled) == 1 else "were"
        return (
            f"It depends on {_named(self.cancelled)}, which {verb} cancelled. Remove the dependency"
            " with am task edit, or start the task yourself when nothing else is open."
        )


READY = Readiness()


def of_task(task: Task, pipeline: Pipeline) -> Dependency:
    """A task as those that depend on it see it."""
    status = pipeline.status(task.status)
    note = ""
    if status.id == pipeline.initial.id and task.starts_at is None:
        note = "not started"
    elif status.awaits_human:
        note = "waits for a person"
    return Dependency(
        id=task.id,
        title=task.title,
        status=status.title,
        finished=pipeline.is_final(status.id),
        cancelled=pipeline.is_cancelled(status.id),
        note=note,
    )


def readiness(dependencies: Iterable[Dependency], blockers: Iterable[str]) -> Readiness:
    found = list(dependencies)
    return Readiness(
        waits_for=tuple(one for one in found if not one.finished),
        cancelled=tuple(one for one in found if one.cancelled),
        blockers=tuple(blockers),
    )


def _named(found: tuple[Dependency, ...]) -> str:
    names = [str(one) for one in found[:MOST_NAMED]]
    more = len(found) - len(names)
    if more:
        names.append(f"{more} more")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
