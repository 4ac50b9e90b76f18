"""What runs cost: what the agent reported, else its tokens by a table of prices. Unknown is never
zero."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from agents_manager.domain.budget import Budget
from agents_manager.domain.names import visible
from agents_manager.domain.run import Cost, CostBasis, Usage
from agents_manager.domain.value import Lenient, Value

MILLION = 1_000_000
MAX_TOKENS = 10**12
MAX_USD = 1e6
"""More than a run can use or cost: whoever reports more is mistaken, or lies."""

Dollars = Annotated[float, Field(ge=0, le=MAX_USD, allow_inf_nan=False, strict=True)]

_DATED = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")


class Price(Lenient):
    """Dollars per million tokens."""

    input: Dollars
    """What the model reads, apart from what comes from a cache or goes into one."""
    output: Dollars
    """What it writes."""
    cache_read: Dollars | None = None
    """What it reads from a cache; where left out, runs that did so cost unknown."""
    cache_write: Dollars | None = None
    """What goes into a cache; where left out, runs that did so cost unknown."""


Prices = Mapping[str, Price]
"""By model."""


class PriceTable(Value):
    """The prices that come with the product."""

    date: date
    source: str
    models: Prices


def refusal(name: str, amount: object) -> str | None:
    """Why an amount that an agent reported is not believed; None if it may be."""
    money = name == "cost_usd"
    if isinstance(amount, int | float) and not isinstance(amount, bool):
        fits = money or isinstance(amount, int)
        if fits and 0 <= amount <= (MAX_USD if money else MAX_TOKENS):
            return None
    return f"{name} is {visible(repr(amount), 60)}."


def of_turn(usage: Usage | None, model: str | None, prices: Prices) -> Cost | None:
    """None: unknown. Tokens that an agent does not count as cached are in its input."""
    if usage is None:
        return None
    if usage.cost_usd is not None:
        return Cost(usd=usage.cost_usd, basis=CostBasis.REPORTED)
    price = _price(model or "", prices)
    if price is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    parts = (
        (usage.input_tokens, price.input),
        (usage.output_tokens, price.output),
        (usage.cache_read_tokens or 0, price.cache_read),
        (usage.cache_write_tokens or 0, price.cache_write),
    )
    dear = [None if each is None else count * each for count, each in parts if count]
    known = [part for part in dear if part is not None]
    if len(known) < len(dear):
        return None
    return Cost(usd=round(sum(known) / MILLION, 9), basis=CostBasis.COMPUTED)


def larger(told: Usage | None, counted: Usage | None) -> Usage | None:
    """Of two counts of the same requests; never their sum. What was told may know the cost."""
    if told is None or counted is None:
        return told or counted
    return told if _tokens(told) >= _tokens(counted) else counted


def _tokens(usage: Usage) -> int:
    parts = (usage.input_tokens, usage.output_tokens)
    return sum(n or 0 for n in (*parts, usage.cache_read_tokens, usage.cache_write_tokens))


def together(turns: Sequence[Cost | None]) -> Cost | None:
    """Unknown where one of them is; computed where one of them was."""
    known = [cost for cost in turns if cost is not None]
    if not known or len(known) < len(turns):
        return None
    reported = all(cost.basis is CostBasis.REPORTED for cost in known)
    basis = CostBasis.REPORTED if reported else CostBasis.COMPUTED
    return Cost(usd=sum(cost.usd for cost in known), basis=basis)


def _price(model: str, prices: Prices) -> Price | None:
    """That of the model, else of the same without the day of its release."""
    return prices.get(model) or prices.get(_DATED.sub("", model))


# ------------------------------------------------------------------------------------------ figures


class By(StrEnum):
    PROJECT = "project"
    TASK = "task"
    AGENT = "agent"
    MODEL = "model"
    DAY = "day"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What some runs cost together."""

    runs: int
    unknown: int
    """Those whose cost is unknown; they are not in the sum."""
    cost_usd: float | None
    """Of the others; None when there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What the runs of one project, task, agent, model or day cost."""

    key: str | None
    """None: the runs say no agent or model."""
    name: str | None
    """That of the project, the title of the task; else the key."""
    spent: Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class CostReport:
    by: By
    since: datetime | None
    total: Spent
    shares: Sequence[Share]
    """The dearest first; days, the latest first."""
    left_out: int
    """How many more there are."""
    budgets: Sequence[Budget] = ()
    """Those of the projects, of today and, by task, of the tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How runs went."""

    completed: int
    failed: int
    """Timeouts among them."""
    cancelled: int
    live: int
    success_rate: float | None
    """Of those that ended by themselves, from 0 to 1."""
    mean_duration_s: float | None
    """Of those that ended."""
    spent: Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Merges:
    """What it took until tasks were merged."""

    tasks: int
    review_rounds: float | None
    """Reviews of a task by people and agents, on average."""
    unknown: int
    """Tasks with a run whose cost is unknown; they are not in the average."""
    cost_per_task_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Performance:
    agent: str | None
    work: Work
    merges: Merges
    """Of the tasks that the agent changed files for; the cost is that of its own runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsReport:
    since: datetime | None
    work: Work
    merges: Merges
    agents: Sequence[Performance]
