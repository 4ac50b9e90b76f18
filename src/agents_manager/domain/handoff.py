"""The note one run leaves for the next: its fields, by the names that agents write."""

from enum import StrEnum

from agents_manager.domain.value import Lenient


class HandoffOutcome(StrEnum):
    COMPLETED = "completed"
    PARTIAL = "partial"
    FAILED = "failed"
    BLOCKED = "blocked"


class Level(StrEnum):
    """How severe a gotcha is, and how urgent a next step."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class ChangeType(StrEnum):
    ADD = "add"
    MODIFY = "modify"
    DELETE = "delete"
    REFACTOR = "refactor"


class FileCreated(Lenient):
    path: str
    purpose: str
    lines: str = "all"


class FileModified(Lenient):
    path: str
    lines: str = "all"
    change_type: ChangeType
    description: str


class Pattern(Lenient):
    id: str | None = None
    pattern: str
    location: str
    applies_to: tuple[str, ...] = ()


class Gotcha(Lenient):
    id: str | None = None
    issue: str
    discovered_in: str
    mitigation: str
    severity: Level


class DependencyForNext(Lenient):
    file: str
    reason: str


class OpenQuestion(Lenient):
    question: str
    context: str = ""
    recommendation: str = ""
    blocking: bool = False


class NextStep(Lenient):
    step: str
    priority: Level
    depends_on: tuple[str, ...] = ()


class Blocker(Lenient):
    blocker: str
    impact: str
    suggested_resolution: str = ""
    blocking_tasks: tuple[str, ...] = ()


class Handoff(Lenient):
    outcome: HandoffOutcome
    files_created: tuple[FileCreated, ...] = ()
    files_modified: tuple[FileModified, ...] = ()
    patterns_discovered: tuple[Pattern, ...] = ()
    gotchas: tuple[Gotcha, ...] = ()
    dependencies_for_next: tuple[DependencyForNext, ...] = ()
    open_questions: tuple[OpenQuestion, ...] = ()
    suggested_next_steps: tuple[NextStep, ...] = ()
    blockers: tuple[Blocker, ...] = ()
