"""The note one run leaves for the next: its fields, by the names that agents write, and what each
may hold. What they must hold together is in `handoff_rules`."""

import re
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from agents_manager.domain.document import path_fault
from agents_manager.domain.value import Lenient

MAX_TEXT = 2_000
MAX_ITEMS = 50
MAX_FILES = 200
MAX_NAMES = 20
MAX_NAME = 200
_LINES = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")


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


def _refused(wrong: str, right: str) -> PydanticCustomError:
    return PydanticCustomError("rule", "{wrong}", {"wrong": wrong, "right": right})


def _path(path: str) -> str:
    fault = path_fault(path)
    if fault:
        raise _refused(
            f"is no path of a file: {fault}",
            "a path from the top of the repository, such as src/auth/jwt.py",
        )
    return path


def _location(location: str) -> str:
    """Words are taken as they are; what is a path by its looks is held to the rules of one."""
    looks = not any(c.isspace() for c in location) and (
        location.startswith(("/", "~")) or ".." in re.split(r"[/\\]", location)
    )
    return _path(location) if looks else location


def _lines(lines: str) -> str:
    found = _LINES.fullmatch(lines)
    if lines != "all" and (found is None or int(found[1]) > int(found[2])):
        raise _refused("is no range of lines", '"N-M" with N up to M, or "all"')
    return lines


Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
Words = Annotated[str, Field(max_length=MAX_TEXT)]
"""May be missing."""
Path = Annotated[str, AfterValidator(_path)]
Lines = Annotated[str, AfterValidator(_lines)]
Location = Annotated[Text, AfterValidator(_location)]
Id = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
Tag = Annotated[str, Field(max_length=50, pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Tags = Annotated[tuple[Tag, ...], Field(max_length=MAX_NAMES)]
Names = Annotated[tuple[Name, ...], Field(max_length=MAX_NAMES)]


class FileCreated(Lenient):
    path: Path
    purpose: Text
    lines: Lines = "all"


class FileModified(Lenient):
    path: Path
    lines: Lines = "all"
    change_type: ChangeType
    description: Text


class Pattern(Lenient):
    id: Id | None = None
    pattern: Text
    location: Location
    applies_to: Tags = ()


class Gotcha(Lenient):
    id: Id | None = None
    issue: Text
    discovered_in: Text
    mitigation: Text
    severity: Level


class DependencyForNext(Lenient):
    file: Path
    reason: Text


class OpenQuestion(Lenient):
    question: Text
    context: Words = ""
    recommendation: Words = ""
    blocking: bool = False


class NextStep(Lenient):
    step: Text
    priority: Level
    depends_on: Names = ()


class Blocker(Lenient):
    blocker: Text
    impact: Text
    suggested_resolution: Words = ""
    blocking_tasks: Names = ()
    """As the agent wrote them; in a handoff that holds, whole ids."""


class Handoff(Lenient):
    outcome: HandoffOutcome
    files_created: tuple[FileCreated, ...] = Field(default=(), max_length=MAX_FILES)
    files_modified: tuple[FileModified, ...] = Field(default=(), max_length=MAX_FILES)
    patterns_discovered: tuple[Pattern, ...] = Field(default=(), max_length=MAX_ITEMS)
    gotchas: tuple[Gotcha, ...] = Field(default=(), max_length=MAX_ITEMS)
    dependencies_for_next: tuple[DependencyForNext, ...] = Field(default=(), max_length=MAX_ITEMS)
    open_questions: tuple[OpenQuestion, ...] = Field(default=(), max_length=MAX_ITEMS)
    suggested_next_steps: tuple[NextStep, ...] = Field(default=(), max_length=MAX_ITEMS)
    blockers: tuple[Blocker, ...] = Field(default=(), max_length=MAX_ITEMS)
