"""Schedules, what comes next and what came of it."""

from datetime import datetime

from agents_manager.api import schemas
from agents_manager.domain.schedule import Came, ScheduleState, WhenOpen


class ScheduledTask(schemas.Out):
    title: str
    description: str
    objective: str
    type: str
    priority: str
    size: str
    complexity: str
    tags: list[str]
    acceptance_criteria: list[str]
    pipeline: str | None
    """Null: that of the type, or the project's default."""
    agent: str | None
    """Null: the project's default."""
    model: str | None
    """Null: the agent's own choice."""


class Schedule(schemas.Out):
    id: str
    project_id: str
    project: str
    """Its name as it was last known."""
    name: str
    rule: str
    zone: str
    template: ScheduledTask
    start: bool
    """Whether tasks are started, not only created."""
    when_open: WhenOpen
    state: ScheduleState
    reason: str | None
    """Why it is halted."""
    next_at: datetime | None
    """Null unless it is active."""
    until: datetime | None
    most: int | None
    """How many tasks it makes in all; null: no end."""
    fired: int
    """Tasks that it made."""
    last_task_id: str | None
    created_by: str
    created_at: datetime
    updated_at: datetime


class Schedules(schemas.Out):
    items: list[Schedule]


class Firing(schemas.Out):
    period: datetime
    came: Came
    task_id: str | None
    """The task it made, or the open one it was skipped for."""
    by: str | None
    """Who asked for it out of turn."""
    time: datetime


class ScheduleView(schemas.Out):
    schedule: Schedule
    next: list[datetime]
    """Up to five."""
    firings: list[Firing]
    """The last 20, the newest first."""


class Preview(schemas.Out):
    next: list[datetime]
    """Five times at which such a rule fires."""
