"""Schedules: which task is made again and again, when, and what came of it each time."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from agents_manager.domain import recurrence
from agents_manager.domain.ids import ProjectId, TaskId

DATE = "{date}"
"""In the title of the template, the day of the period."""


class ScheduleState(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    HALTED = "halted"
    """It cannot go on as it is, and says why."""
    ENDED = "ended"


class WhenOpen(StrEnum):
    """What happens when the task of the last time is not finished."""

    SKIP = "skip"
    QUEUE = "queue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    id: str
    project_id: ProjectId
    project: str
    """Its name as it was last known: the schedule outlives it."""
    name: str
    rule: str
    zone: str
    template: Mapping[str, Any]
    """The words of its tasks, and their pipeline where one is named."""
    start: bool
    """Whether tasks are started, not only created."""
    when_open: WhenOpen
    state: ScheduleState
    reason: str | None
    """Why it is halted."""
    next_at: datetime | None
    """The period that comes next; None unless it is active."""
    until: datetime | None
    most: int | None
    """How many tasks it makes in all."""
    fired: int
    """Tasks that it made."""
    last_task_id: TaskId | None
    created_by: str
    created_at: datetime
    updated_at: datetime

    @property
    def begun(self) -> date:
        return self.created_at.astimezone(recurrence.zone_of(self.zone)).date()

    def periods(self, after: datetime) -> Iterator[datetime]:
        """All that its rule and its end leave, after an instant."""
        zone = recurrence.zone_of(self.zone)
        found = recurrence.fires(recurrence.parse(self.rule), zone, self.begun, after)
        left = None if self.most is None else self.most - self.fired
        for number, period in enumerate(found):
            if (left is not None and number >= left) or (self.until and period > self.until):
                return
            yield period

    def following(self, after: datetime, had: Collection[datetime]) -> datetime | None:
        """The next period that it did not have yet, whatever the clock said meanwhile."""
        return next((period for period in self.periods(after) if period not in had), None)

    def due(self, now: datetime) -> datetime | None:
        """The period that is due: of several that were missed the last, so that they make one
        task."""
        if self.state is not ScheduleState.ACTIVE or self.next_at is None or self.next_at > now:
            return None
        rule, zone = recurrence.parse(self.rule), recurrence.zone_of(self.zone)
        end = min(now, self.until) if self.until else now
        return recurrence.latest(rule, zone, self.begun, self.next_at, end) or self.next_at

    def title(self, period: datetime) -> str:
        day = period.astimezone(recurrence.zone_of(self.zone)).date()
        return str(self.template["title"]).replace(DATE, day.isoformat())


class Came(StrEnum):
    """What came of a period."""

    CREATED = "created"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    schedule_id: str
    period: datetime
    came: Came
    task_id: TaskId | None
    """The task it made, or the open one it was skipped for."""
    by: str | None
    """Who asked for it out of turn."""
    time: datetime
