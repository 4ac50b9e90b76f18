"""Costs and performance."""

from datetime import datetime

from agents_manager.api import schemas
from agents_manager.domain.budget import BudgetScope
from agents_manager.domain.cost import By


class Spent(schemas.Out):
    runs: int
    unknown: int
    """Runs whose cost is unknown; they are not in the sum."""
    cost_usd: float | None
    """Of the others; null when there are none."""


class Share(schemas.Out):
    key: str | None
    """Null: the runs say no agent or model."""
    name: str | None
    """That of the project, the title of the task; else the key."""
    spent: Spent


class Budget(schemas.Out):
    scope: BudgetScope
    subject: str
    """The id of the run, task or project, or the day."""
    name: str
    limit_usd: float
    """With what was granted."""
    granted_usd: float
    spent_usd: float
    """Of the runs whose cost is known, those that go on among them."""
    unknown: int
    """Runs whose cost is unknown; they are not in the sum."""
    left_usd: float
    """At most, where there are runs of unknown cost."""


class CostReport(schemas.Out):
    by: By
    since: datetime | None
    total: Spent
    shares: list[Share]
    """The dearest first; days, the latest first."""
    left_out: int
    """How many more there are."""
    budgets: list[Budget]
    """Those of the projects, of today and, by task, of the tasks listed."""


class Work(schemas.Out):
    completed: int
    failed: int
    """Timeouts among them."""
    cancelled: int
    live: int
    success_rate: float | None
    """Of the runs that ended by themselves, from 0 to 1."""
    mean_duration_s: float | None
    spent: Spent


class Merges(schemas.Out):
    tasks: int
    review_rounds: float | None
    """Reviews of a task by people and agents, on average."""
    unknown: int
    """Tasks with a run whose cost is unknown; they are not in the average."""
    cost_per_task_usd: float | None


class Performance(schemas.Out):
    agent: str | None
    work: Work
    merges: Merges
    """Of the tasks that the agent changed files for; the cost is that of its own runs."""


class StatsReport(schemas.Out):
    since: datetime | None
    work: Work
    merges: Merges
    agents: list[Performance]


class Spread(schemas.Out):
    number: int
    mean: float | None
    median: float | None
    """Null when there are none."""


class FirstPass(schemas.Out):
    reviewed: int
    """Tasks whose work people reviewed."""
    approved: int
    """Those that were approved at once."""
    rate: float | None


class Failure(schemas.Out):
    reason: str
    """The class of the error."""
    runs: int


class AgentShare(schemas.Out):
    agent: str | None
    model: str | None
    """Null: the agent's own default."""
    completed: int
    failed: int
    took_s: Spread
    first_pass: FirstPass
    failures: list[Failure]


class DayShare(schemas.Out):
    day: str
    finished: int
    """Tasks."""
    lead_s: Spread
    completed: int
    failed: int
    """Runs."""


class PerformanceReport(schemas.Out):
    since: datetime | None
    lead_s: Spread
    """Of finished tasks: from their creation to their end."""
    waiting_s: Spread
    """In statuses in which a person has to do something."""
    working_s: Spread
    """In which agents ran."""
    review_rounds: Spread
    """Reviews by people, of the finished tasks that they reviewed."""
    first_pass: FirstPass
    failures: list[Failure]
    agents: list[AgentShare]
    days: list[DayShare]
    """The latest first."""
