"""Budgets: what runs may cost, and how far that is used up. What is unknown cannot be counted, and
is told beside the sum instead of being taken for nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

WARN_AT = 0.8
"""How much of a budget is used up when people are told."""
_NOISE = 1e-9
"""What adding fractions can be off by."""


class BudgetScope(StrEnum):
    """What a budget is for."""

    RUN = "run"
    TASK = "task"
    PROJECT = "project"
    DAY = "day"


Budgets = Mapping[BudgetScope, float]
"""Dollars; what is missing has no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """More than a budget allows, given by a person."""

    id: str
    task_id: str
    """The task whose question was answered; the grant goes with it."""
    prompt_id: str
    scope: BudgetScope
    subject: str
    """The run that goes on, the task, the project, or the day as in 2026-03-01 (UTC)."""
    usd: float
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """One budget as it stands."""

    scope: BudgetScope
    subject: str
    name: str
    """What people call the subject."""
    limit_usd: float
    """With what was granted."""
    granted_usd: float
    spent_usd: float
    """Of the runs whose cost is known, those that go on among them."""
    unknown: int
    """Runs whose cost is unknown."""

    @property
    def reached(self) -> bool:
        return self.spent_usd >= self.limit_usd - _NOISE

    @property
    def near(self) -> bool:
        return self.spent_usd >= WARN_AT * self.limit_usd - _NOISE

    @property
    def left_usd(self) -> float:
        """At most: runs of unknown cost may have used some of it."""
        return round(max(0.0, self.limit_usd - self.spent_usd), 6)

    @property
    def over_usd(self) -> float:
        return round(max(0.0, self.spent_usd - self.limit_usd), 6)

    @property
    def sentence(self) -> str:
        over = "is used up" if self.reached else f"is used to {self.spent_usd / self.limit_usd:.0%}"
        return f"The budget of {self.what} {over}: {self.said}."

    @property
    def what(self) -> str:
        return {
            BudgetScope.RUN: "this run",
            BudgetScope.TASK: "this task",
            BudgetScope.PROJECT: f'project "{self.name}"',
            BudgetScope.DAY: f"the day {self.name}",
        }[self.scope]

    @property
    def said(self) -> str:
        return f"{spent(self.spent_usd, self.unknown)}, of {dollars(self.limit_usd)}"


def spent(usd: float, unknown: int) -> str:
    """A sum, and what is not in it."""
    if not unknown:
        return f"{dollars(usd)} spent"
    return f"at least {dollars(usd)} spent, {unknown} {'run' if unknown == 1 else 'runs'} unknown"


def dollars(usd: float) -> str:
    """Fractions of a cent are shown: they are not nothing."""
    return f"${usd:.4f}" if 0 < usd < 0.01 else f"${usd:.2f}"
