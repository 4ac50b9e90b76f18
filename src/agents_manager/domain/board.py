"""The board: what stands in which column, and as much of each task as its card shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from agents_manager.domain.ids import EffectId, HistoryId, ProjectId, PromptId, RunId, TaskId
from agents_manager.domain.pipeline import Category, PromptType
from agents_manager.domain.run import RunStatus
from agents_manager.domain.task import EffectStatus, HookRecord, PullState, Result

# ------------------------------------------------------------------------------ what is stored


class Place(NamedTuple):
    """Where a task can stand."""

    pipeline_id: str
    version: int
    status: str


@dataclass(frozen=True, slots=True)
class TaskRow:
    id: TaskId
    project_id: ProjectId
    title: str
    type: str
    priority: str
    tags: Sequence[str]
    pipeline_id: str
    pipeline_version: int
    status: str
    version: int
    updated_at: datetime
    starts_at: datetime | None


@dataclass(frozen=True, slots=True)
class Awaited:
    """A task that another one depends on."""

    task_id: TaskId
    """The task that depends on it."""
    id: TaskId
    title: str
    place: Place


@dataclass(frozen=True, slots=True)
class PromptRow:
    id: PromptId
    task_id: TaskId
    type: PromptType
    created_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class RunRow:
    id: RunId
    task_id: TaskId
    agent: str | None
    mode: str
    status: RunStatus
    started_at: datetime | None
    effect_id: EffectId


@dataclass(frozen=True, slots=True)
class OpenEffect:
    id: EffectId
    task_id: TaskId
    status: EffectStatus
    due_at: datetime


@dataclass(frozen=True, slots=True)
class Step:
    """As much of a history entry as counts rounds."""

    id: HistoryId
    task_id: TaskId
    result: Result
    trigger: str
    source: str
    to: str
    hooks: tuple[HookRecord, ...]
    payload: Mapping[str, Any] | None
    """Of a migration; None for all others."""


@dataclass(frozen=True, slots=True)
class Move:
    """As much of a history entry as tells the way of a task."""

    task_id: TaskId
    began: datetime
    """When the task was created."""
    result: Result
    transition_id: str | None
    source: str
    to: str
    trigger: str
    time: datetime
    hooks: tuple[HookRecord, ...] = ()


# -------------------------------------------------------------------------------- what is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    id: str
    title: str
    color: str | None
    category: Category
    count: int
    """Of all tasks there, also of finished ones that have no card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A pipeline that tasks are on."""

    id: str
    name: str
    version: int
    """The newest. What only older versions have comes last among the columns."""
    columns: Sequence[Column]


@dataclass(frozen=True, slots=True)
class CardDependency:
    id: TaskId
    title: str


@dataclass(frozen=True, slots=True)
class CardPrompt:
    id: PromptId
    type: PromptType
    since: datetime


@dataclass(frozen=True, slots=True)
class CardRun:
    id: RunId
    agent: str | None
    mode: str
    status: RunStatus
    started_at: datetime | None
    printed_at: datetime | None
    """When the agent last printed something; None: it has not yet."""


@dataclass(frozen=True, slots=True)
class CardRound:
    """How often a status was entered again that may be so a limited number of times."""

    number: int
    max: int
    status: str


@dataclass(frozen=True, slots=True)
class CardCost:
    usd: float | None
    """Of the runs whose cost is known; None when there are none."""
    unknown: int
    """Runs whose cost is not."""


@dataclass(frozen=True, slots=True)
class CardPhases:
    done: int
    """Those that were left out among them."""
    total: int


@dataclass(frozen=True, slots=True)
class CardPull:
    number: int
    state: PullState


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    id: TaskId
    title: str
    project_id: ProjectId
    pipeline_id: str
    status: str
    category: Category
    type: str
    priority: str
    tags: Sequence[str]
    version: int
    updated_at: datetime
    starts_at: datetime | None
    """When the engine starts it, or since when it has waited for its dependencies; None: a person
    starts it."""
    waits_for: Sequence[CardDependency]
    """The first of the unfinished tasks that it waits for."""
    waits_for_total: int
    mover: str
    """The kind of who moves it next."""
    prompt: CardPrompt | None
    """The question that is answered next."""
    run: CardRun | None
    round: CardRound | None
    cost: CardCost | None
    """None: nothing has run."""
    phases: CardPhases | None
    pull: CardPull | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    total: int
    shown: int
    """Those that changed last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    lanes: Sequence[Lane]
    cards: Sequence[Card]
    """All that are not finished, and the last that are; the newest change first."""
    finished: Finished
