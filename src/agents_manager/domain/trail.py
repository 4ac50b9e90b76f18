"""What a task's past says, read from its history alone: how often it came round, and where it was
last at work. The engine and the simulation count by the same functions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol, TypeVar

from agents_manager.domain.pipeline import Pipeline, TriggerType
from agents_manager.domain.task import History, HookRecord, Result

RETRY = "retry"
"""The trigger of a run that was started again where it stood."""
MIGRATION = "migration"
"""The trigger of a step to another version of the pipeline."""
_BEGIN_A_PHASE = frozenset({"execute_split", "advance_phase"})
UNCOUNTED = frozenset({TriggerType.PROMPT_RESPONSE, TriggerType.AGENT_ERROR, RETRY})
"""Triggers of moves that begin no new round."""


class Entry(Protocol):
    """One attempt at a transition; the oldest comes first."""

    @property
    def result(self) -> Result: ...
    @property
    def trigger(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def to(self) -> str: ...
    @property
    def hooks(self) -> Sequence[HookRecord]: ...


class Told(Entry, Protocol):
    """With what it brought along: the new names of statuses, where it is a migration."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def payload(self) -> Mapping[str, Any] | None: ...


E = TypeVar("E", bound=Entry)
N = TypeVar("N", bound=Told)


def rounds(entries: Iterable[Entry]) -> Mapping[str, int]:
    """Counted moves into each status since the last grant; the very first is no repetition. A
    move that was taken back does not count, nor does the way out of a failure. Each phase
    counts for itself."""
    counts: dict[str, int] = {}
    granted = False
    failed = False
    for entry in _standing(entries):
        if entry.result is Result.GRANTED:
            counts, granted = {}, True
        elif entry.result is Result.DONE and entry.trigger != MIGRATION:
            if any(hook.name in _BEGIN_A_PHASE for hook in entry.hooks):
                counts, granted = {entry.to: 1}, False
            elif entry.trigger not in UNCOUNTED and not failed:
                counts[entry.to] = counts.get(entry.to, 0) + 1
            failed = entry.trigger == TriggerType.AGENT_ERROR
    return counts if granted else {status: n - 1 for status, n in counts.items()}


def _standing(entries: Iterable[E]) -> list[E]:
    """What was done and not taken back, and without the taking back."""
    standing: list[E] = []
    for entry in entries:
        if entry.result is Result.ROLLED_BACK:
            undone = (entry.to, entry.source)
            at = (i for i, e in enumerate(standing) if (e.source, e.to) == undone)
            last = max(at, default=None)
            if last is not None:
                del standing[last]
        elif entry.result is not Result.REFUSED:
            standing.append(entry)
    return standing


def as_named_now(entries: Sequence[N]) -> list[N]:
    """The history under the names that its statuses have in the version the task is on now."""
    names: dict[str, str] = {}
    told: list[N] = []
    for entry in reversed(entries):
        to = names.get(entry.to, entry.to)
        if entry.trigger == MIGRATION:
            renamed: Mapping[str, str] = (entry.payload or {})["statuses"]
            names = {**names, **{old: names.get(new, new) for old, new in renamed.items()}}
        source = names.get(entry.source, entry.source)
        told.append(replace(entry, source=source, to=to) if names else entry)
    return told[::-1]


def went_on(entries: Sequence[History], entry: History) -> bool:
    """Whether the task was moved after an entry of its history."""
    later = entries[[e.id for e in entries].index(entry.id) + 1 :]
    return any(moved(e) for e in later)


def moved(entry: Entry) -> bool:
    """Whether the task has changed its place by it: not by a refusal, a grant or a new run."""
    standing = (Result.REFUSED, Result.GRANTED)
    return entry.result not in standing and entry.trigger != RETRY


def arrival(entries: Sequence[E], status: str) -> E | None:
    """The move that brought the task to where it stands; what happened to it there is none."""
    for entry in reversed(entries):
        if moved(entry) and entry.to == status and entry.trigger != MIGRATION:
            return entry
    return None


def by_review(came: Entry) -> bool:
    """Whether a review brought the task here. One whose move was taken back did not."""
    done = came.result is not Result.ROLLED_BACK
    return done and came.trigger == TriggerType.REVIEW_SUBMITTED


def origin(pipeline: Pipeline, status: str, entries: Sequence[Entry]) -> str | None:
    """The last active status the task was in."""
    if pipeline.is_active(status):
        return status
    for entry in reversed(_standing(entries)):
        # A version that the task was migrated to need not have every status of the one before.
        if pipeline.has(entry.source) and pipeline.is_active(entry.source):
            return entry.source
    return None
