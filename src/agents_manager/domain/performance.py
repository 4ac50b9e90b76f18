"""How work went: how long tasks took and what they waited for, and how agents did. What nobody
knows is None, never 0."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean, median

from agents_manager.domain.ids import TaskId
from agents_manager.domain.run import RunStatus

# ------------------------------------------------------------------------------ what is stored


@dataclass(frozen=True, slots=True)
class Ran:
    """A run that began."""

    agent: str | None
    model: str | None
    status: RunStatus
    started_at: datetime
    ended_at: datetime | None
    reason: str | None
    """The class of its error."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A person's review of work, with the run that the work is from."""

    task_id: TaskId
    approved: bool
    at: datetime
    agent: str | None
    model: str | None


@dataclass(frozen=True, slots=True)
class Done:
    """A task that was finished."""

    id: TaskId
    at: datetime
    lead_s: float
    """Since it was created."""
    waiting_s: float
    """In statuses in which a person has to do something."""
    working_s: float
    """In which agents ran."""


# -------------------------------------------------------------------------------- what is told


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    number: int
    mean: float | None
    median: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstPass:
    """Of tasks whose work people reviewed: those that were approved at once."""

    reviewed: int
    approved: int
    rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    reason: str
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentShare:
    agent: str | None
    model: str | None
    """None: the agent's own default."""
    completed: int
    failed: int
    took_s: Spread
    first_pass: FirstPass
    failures: Sequence[Failure]


@dataclass(frozen=True, slots=True, kw_only=True)
class DayShare:
    day: str
    finished: int
    """Tasks."""
    lead_s: Spread
    completed: int
    failed: int
    """Runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PerformanceReport:
    since: datetime | None
    lead_s: Spread
    waiting_s: Spread
    working_s: Spread
    """Of tasks that were finished."""
    review_rounds: Spread
    """Reviews by people, of those of them that were reviewed."""
    first_pass: FirstPass
    failures: Sequence[Failure]
    agents: Sequence[AgentShare]
    days: Sequence[DayShare]
    """The latest first."""


Who = tuple[str | None, str | None]
FAILED = (RunStatus.FAILED, RunStatus.TIMEOUT)


@dataclass(slots=True)
class _Day:
    done: list[Done] = field(default_factory=list[Done])
    runs: list[Ran] = field(default_factory=list[Ran])


def report(
    since: datetime | None, done: Sequence[Done], runs: Sequence[Ran], reviews: Sequence[Reviewed]
) -> PerformanceReport:
    rounds = Counter(review.task_id for review in reviews)
    return PerformanceReport(
        since=since,
        lead_s=spread(task.lead_s for task in done),
        waiting_s=spread(task.waiting_s for task in done),
        working_s=spread(task.working_s for task in done),
        review_rounds=spread(rounds[task.id] for task in done if task.id in rounds),
        first_pass=_first_pass(reviews),
        failures=_failures(runs),
        agents=_agents(runs, reviews),
        days=_days(done, runs),
    )


def spread(values: Iterable[float]) -> Spread:
    known = list(values)
    if not known:
        return Spread(number=0, mean=None, median=None)
    return Spread(number=len(known), mean=round(fmean(known), 3), median=round(median(known), 3))


def _first_pass(reviews: Sequence[Reviewed]) -> FirstPass:
    first: dict[TaskId, Reviewed] = {}
    for review in sorted(reviews, key=lambda one: one.at):
        first.setdefault(review.task_id, review)
    approved = sum(review.approved for review in first.values())
    rate = round(approved / len(first), 4) if first else None
    return FirstPass(reviewed=len(first), approved=approved, rate=rate)


def _failures(runs: Sequence[Ran]) -> list[Failure]:
    counted = Counter(run.reason or "unknown" for run in runs if run.status in FAILED)
    return [Failure(reason=reason, runs=number) for reason, number in counted.most_common()]


def _agents(runs: Sequence[Ran], reviews: Sequence[Reviewed]) -> list[AgentShare]:
    ran: Mapping[Who, list[Ran]] = defaultdict(list)
    for run in runs:
        ran[run.agent, run.model].append(run)
    seen: Mapping[Who, list[Reviewed]] = defaultdict(list)
    for review in reviews:
        seen[review.agent, review.model].append(review)
    shares = [
        AgentShare(
            agent=agent,
            model=model,
            completed=_number(own, RunStatus.COMPLETED),
            failed=_number(own, *FAILED),
            took_s=spread(_seconds(own)),
            first_pass=_first_pass(seen[agent, model]),
            failures=_failures(own),
        )
        for (agent, model), own in ran.items()
    ]
    return sorted(shares, key=lambda one: -(one.completed + one.failed))


def _days(done: Sequence[Done], runs: Sequence[Ran]) -> list[DayShare]:
    days: Mapping[str, _Day] = defaultdict(_Day)
    for task in done:
        days[f"{task.at:%Y-%m-%d}"].done.append(task)
    for run in runs:
        days[f"{run.started_at:%Y-%m-%d}"].runs.append(run)
    return [
        DayShare(
            day=day,
            finished=len(held.done),
            lead_s=spread(task.lead_s for task in held.done),
            completed=_number(held.runs, RunStatus.COMPLETED),
            failed=_number(held.runs, *FAILED),
        )
        for day, held in sorted(days.items(), reverse=True)
    ]


def _number(runs: Sequence[Ran], *statuses: RunStatus) -> int:
    return sum(run.status in statuses for run in runs)


def _seconds(runs: Sequence[Ran]) -> Iterable[float]:
    return ((run.ended_at - run.started_at).total_seconds() for run in runs if run.ended_at)
