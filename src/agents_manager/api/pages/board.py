"""The board and its cards."""

from datetime import datetime

from agents_manager.api import schemas
from agents_manager.domain.pipeline import Category, PromptType
from agents_manager.domain.run import RunStatus
from agents_manager.domain.task import PullState


class Column(schemas.Out):
    id: str
    title: str
    color: str | None
    category: Category
    count: int
    """Of all tasks there, also of finished ones that have no card."""


class Lane(schemas.Out):
    id: str
    name: str
    version: int
    """The newest."""
    columns: list[Column]
    """By their positions; statuses that only older versions have come last."""


class CardPrompt(schemas.Out):
    id: str
    type: PromptType
    since: datetime


class CardRun(schemas.Out):
    id: str
    agent: str | None
    mode: str
    status: RunStatus
    started_at: datetime | None
    printed_at: datetime | None
    """The last sign of life: when the agent last printed something; null: it has not yet."""


class CardRound(schemas.Out):
    number: int
    """How often the task came to the status again."""
    max: int
    status: str


class CardCost(schemas.Out):
    usd: float | None
    """Of the runs whose cost is known; null when there are none."""
    unknown: int
    """Runs whose cost is unknown."""


class CardPhases(schemas.Out):
    done: int
    """Those that were left out among them."""
    total: int


class CardDependency(schemas.Out):
    id: str
    title: str


class CardPull(schemas.Out):
    number: int
    state: PullState


class Card(schemas.Out):
    id: str
    title: str
    project_id: str
    pipeline_id: str
    status: str
    category: Category
    type: str
    priority: str
    tags: list[str]
    version: int
    updated_at: datetime
    starts_at: datetime | None
    """When the engine starts it, or since when it has waited for its dependencies; null: a person
    starts it."""
    waits_for: list[CardDependency]
    """The first of the unfinished tasks that it waits for."""
    waits_for_total: int
    mover: str
    """The kind of who moves it next, as in `next_mover`."""
    prompt: CardPrompt | None
    run: CardRun | None
    """The live one."""
    round: CardRound | None
    """Of the status that was entered again most often, among those for which that is limited."""
    cost: CardCost | None
    """Null: nothing has run."""
    phases: CardPhases | None
    pull: CardPull | None


class Finished(schemas.Out):
    total: int
    shown: int
    """Those that changed last."""


class Board(schemas.Out):
    lanes: list[Lane]
    """The pipelines that tasks are on."""
    cards: list[Card]
    """All tasks that are not finished, and the last that are; the newest change first."""
    finished: Finished
