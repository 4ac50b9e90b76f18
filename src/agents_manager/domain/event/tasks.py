"""A task, its statuses, phases and hooks."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from agents_manager.domain.event.happening import SENTENCE_LIMIT, Happening, Level, counted_as
from agents_manager.domain.names import visible


class TaskCreated(Happening):
    type: Literal["task.created"] = "task.created"
    title: str
    pipeline: str

    def says(self) -> str:
        return f'Task "{self.title}" was created in pipeline {self.pipeline}.'


class TaskEdited(Happening):
    category = "edit"
    type: Literal["task.edited"] = "task.edited"
    fields: tuple[str, ...]
    run: str | None = None
    """The run that was going on, and keeps the words it was given."""

    def says(self) -> str:
        changed = ", ".join(name.replace("_", " ") for name in self.fields)
        kept = " The agent that is at work was told the old words." if self.run else ""
        return f"Changed: {changed}.{kept}"


class ChecksDecided(Happening):
    category = "edit"
    type: Literal["task.checks_decided"] = "task.checks_decided"
    skipped: tuple[str, ...]
    """All checks that do not run for the task from now on."""
    left_to_agent: tuple[str, ...]
    """All checks that the agent fixes although they fail on the base commit too."""
    by: str

    def says(self) -> str:
        skipped = ", ".join(self.skipped) or "none"
        fixed = f" The agent fixes: {', '.join(self.left_to_agent)}." if self.left_to_agent else ""
        return f"Skipped checks of this task, as {self.by} decided: {skipped}.{fixed}"


class StartSet(Happening):
    type: Literal["task.start_set"] = "task.start_set"
    at: datetime | None

    def says(self) -> str:
        if self.at is None:
            return "The automatic start was cancelled."
        return f"The engine starts it at {self.at:%Y-%m-%d %H:%M} UTC."


class StartWaits(Happening):
    category = "dependency"
    type: Literal["task.start_waits"] = "task.start_waits"
    tasks: tuple[str, ...]
    """Titles of the dependencies that are not finished."""
    reason: str

    def says(self) -> str:
        return self.reason


class ClosedUnmerged(Happening):
    level = Level.WARNING
    type: Literal["task.closed_unmerged"] = "task.closed_unmerged"
    branch: str
    base: str
    commits: tuple[str, ...]
    """The first characters of the hash and the subject of each."""
    tasks: tuple[str, ...]
    """The tasks that depend on it and keep waiting."""

    def says(self) -> str:
        number = len(self.commits)
        commits = f"{counted_as(number, 'commit')} of {self.branch}"
        held = len(self.tasks)
        keep = "keeps" if held == 1 else "keep"
        waits = f" {counted_as(held, 'dependent task')} {keep} waiting." if held else ""
        return f"Closed with {commits} not merged into {self.base}.{waits}"


class NotStarted(Happening):
    category = "error"
    level = Level.WARNING
    type: Literal["task.not_started"] = "task.not_started"
    reason: str

    def says(self) -> str:
        return f"Could not be started: {self.reason}"


class ScheduleSkipped(Happening):
    level = Level.WARNING
    type: Literal["schedule.skipped"] = "schedule.skipped"
    schedule: str
    period: datetime

    def says(self) -> str:
        at = f"{self.period:%Y-%m-%d %H:%M} UTC"
        return f'Schedule "{self.schedule}" made no task for {at}, as this one is still open.'


class ScheduleHalted(Happening):
    category = "error"
    level = Level.ERROR
    type: Literal["schedule.halted"] = "schedule.halted"
    schedule: str
    reason: str

    def says(self) -> str:
        return f'Schedule "{self.schedule}" was halted: {self.reason}'


class TaskStranded(Happening):
    category = "error"
    level = Level.ERROR
    type: Literal["task.stranded"] = "task.stranded"
    status: str
    version: int
    reason: str

    def says(self) -> str:
        return f"Nobody will move this task on from {self.status}. {self.reason}"


class TaskRepaired(Happening):
    category = "error"
    level = Level.WARNING
    type: Literal["task.repaired"] = "task.repaired"
    version: int
    fault: str
    repair: str

    def says(self) -> str:
        return f"{self.fault} {self.repair}"


class StatusChanged(Happening):
    category = "transition"
    type: Literal["status.changed"] = "status.changed"
    source: str
    to: str
    trigger: str
    forced: bool = False

    def says(self) -> str:
        how = " by force" if self.forced else ""
        return f"Moved from {self.source} to {self.to}{how} ({self.trigger})."


class StatusBlocked(Happening):
    category = "transition"
    level = Level.WARNING
    type: Literal["status.blocked"] = "status.blocked"
    status: str
    trigger: str
    reasons: tuple[str, ...]

    def says(self) -> str:
        return f"Stayed in {self.status} ({self.trigger}): {' '.join(self.reasons)}"


class StatusRolledBack(Happening):
    category = "transition"
    level = Level.ERROR
    type: Literal["status.rolled_back"] = "status.rolled_back"
    source: str
    to: str
    hook: str
    error: str

    def says(self) -> str:
        return f"Went back from {self.source} to {self.to}: {self.hook} failed: {self.error}"


class TaskMigrated(Happening):
    category = "transition"
    type: Literal["task.migrated"] = "task.migrated"
    from_version: int
    to_version: int
    source: str
    to: str

    def says(self) -> str:
        where = f"stays in {self.to}" if self.to == self.source else f"{self.source} is {self.to}"
        return f"Migrated from version {self.from_version} to {self.to_version}: {where}."


class AutoStopped(Happening):
    category = "error"
    level = Level.ERROR
    type: Literal["auto.stopped"] = "auto.stopped"
    moves: int

    def says(self) -> str:
        return f"Stopped after {self.moves} automatic moves in a row; the pipeline loops."


class RoundsGranted(Happening):
    category = "guard"
    type: Literal["rounds.granted"] = "rounds.granted"
    by: str

    def says(self) -> str:
        return f"{self.by} granted more rounds."


class SplitApproved(Happening):
    category = "review"
    type: Literal["split_approved"] = "split_approved"
    prompt: str
    by: str
    phases: tuple[str, ...]

    def says(self) -> str:
        return f"{self.by} approved the split into {counted_as(len(self.phases), 'phase')}."


class SplitRejected(Happening):
    category = "review"
    type: Literal["split_rejected"] = "split_rejected"
    prompt: str
    by: str
    reason: str | None

    def says(self) -> str:
        return f"{self.by} rejected the split{f': {self.reason}' if self.reason else ''}."


class PhaseBegun(Happening):
    type: Literal["phase.begun"] = "phase.begun"
    number: int
    name: str

    def says(self) -> str:
        return f'Phase {self.number}, "{self.name}", has begun.'


class PhaseEnded(Happening):
    type: Literal["phase.ended"] = "phase.ended"
    number: int
    name: str
    status: str

    def says(self) -> str:
        return f'Phase {self.number}, "{self.name}", is {self.status}.'


class PhasesReordered(Happening):
    category = "edit"
    type: Literal["phases.reordered"] = "phases.reordered"
    names: tuple[str, ...]
    by: str

    def says(self) -> str:
        return f"{self.by} put the phases in this order: {', '.join(self.names)}."


class HookFailed(Happening):
    category = "hook"
    level = Level.ERROR
    type: Literal["hook.failed"] = "hook.failed"
    effect: str
    hook: str
    error: str

    def says(self) -> str:
        return f"{self.hook} failed: {self.error}"


class HookRetried(Happening):
    category = "hook"
    level = Level.WARNING
    type: Literal["hook.retried"] = "hook.retried"
    effect: str
    hook: str
    attempt: int
    error: str

    def says(self) -> str:
        return f"{self.hook} will be tried again (attempt {self.attempt}): {self.error}"


class Noted(Happening):
    category = "note"
    type: Literal["note"] = "note"
    text: str = Field(min_length=1)

    def says(self) -> str:
        return visible(self.text, SENTENCE_LIMIT) or "A note without words."
