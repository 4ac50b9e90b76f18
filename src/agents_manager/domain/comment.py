"""Comments: what people say about a task or its change outside of a review. Those made here are in
the task's log; those made on a forge are asked for there."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from agents_manager.domain.context import indented
from agents_manager.domain.event import CommentAdded, Logged
from agents_manager.domain.names import visible
from agents_manager.domain.strict_json import check_text

CATEGORY = CommentAdded.category
MAX_HAPPENINGS = 5_000
"""As much of a task's log as is looked at."""
MAX_TEXT = 10_000
MAX_FILE = 1_000
AUTHOR = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    number: int | None
    """What it is called by within its task; None: it was made elsewhere, and is resolved there."""
    pull: int | None
    """The pull request it is about; None: the task."""
    author: str
    text: str
    file: str | None
    line: int | None
    resolved: bool
    time: datetime

    @property
    def place(self) -> str:
        return f"{self.file or ''}:{self.line}" if self.line else self.file or ""


def of_log(entries: Iterable[Logged]) -> list[Comment]:
    """The comments as they stand, the oldest first."""
    found: dict[int, Comment] = {}
    for entry in sorted(entries, key=lambda e: e.seq):
        match entry.type, entry.data.get("number"):
            case "comment.added", int(number):
                found[number] = _made(entry)
            case "comment.resolved", int(number) if number in found:
                found[number] = replace(found[number], resolved=entry.data["resolved"])
            case _:
                pass
    return list(found.values())


def _made(entry: Logged) -> Comment:
    names = ("number", "pull", "text", "file", "line")
    said = {name: entry.data[name] for name in names}
    return Comment(**said, author=entry.actor.name, resolved=False, time=entry.time)


def told(comment: Comment) -> str:
    """As an agent reads it."""
    state = "Resolved" if comment.resolved else "Open"
    place = f" {indented(comment.place)} -" if comment.place else ""
    where = f" on pull request #{comment.pull}" if comment.pull else ""
    return f"- [{state}]{place} {visible(comment.author, AUTHOR)}{where}: {indented(comment.text)}"


def faults(text: str, file: str | None, line: int | None) -> list[str]:
    """What keeps it from being a comment."""
    found = [*_fault("text", text, MAX_TEXT)]
    if not text.strip():
        found.append("text: it is empty")
    if file is not None:
        found += _fault("file", file, MAX_FILE)
        if file != visible(file, MAX_FILE + 1) or not file:
            found.append("file: it must be a path, on one line")
    elif line is not None:
        found.append("line: it needs a file")
    if line is not None and line < 1:
        found.append("line: it must be 1 or more")
    return found


def _fault(name: str, value: str, most: int) -> list[str]:
    try:
        check_text(value)
    except ValueError as error:
        return [f"{name}: {error}"]
    return [f"{name}: at most {most} characters"] if len(value) > most else []
