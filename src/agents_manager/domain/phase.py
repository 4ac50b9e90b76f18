"""Phases: the ordered parts of a task that was split."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from agents_manager.domain.ids import TaskId


class PhaseStatus(StrEnum):
    PENDING = "pending"
    ACTIVE = "active"
    DONE = "done"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    id: str
    task_id: TaskId
    position: int
    """Where it stands among the phases; changes when they are put in another order."""
    number: int
    """What it was called by when it was made; its branch carries it."""
    name: str
    description: str
    complexity: str
    status: PhaseStatus
    created_at: datetime


def active(phases: Sequence[Phase]) -> Phase | None:
    return next((p for p in phases if p.status is PhaseStatus.ACTIVE), None)


def upcoming(phases: Sequence[Phase]) -> Phase | None:
    return next((p for p in phases if p.status is PhaseStatus.PENDING), None)
