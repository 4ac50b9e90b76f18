"""Comments: what people and agents say about a task or its change, each with the answers to it.
Those made here are in the task's log; those made on a forge are asked for there."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from agents_manager.domain.context import indented
from agents_manager.domain.event import CommentAdded, Logged
from agents_manager.domain.lines import Became, moved
from agents_manager.domain.names import visible
from agents_manager.domain.payload import Severity
from agents_manager.domain.strict_json import check_text
from agents_manager.errors import closest

CATEGORY = CommentAdded.category
MAX_HAPPENINGS = 5_000
"""As much of a task's log as is looked at."""
MAX_TEXT = 10_000
MAX_FILE = 1_000
AUTHOR = 100
QUOTED = 3
"""Lines that are kept of what a comment is about: its own is the last of them."""
MAX_QUOTE = 300
"""Characters of each."""

_SEVERITY = {"must_fix": "Must Fix", "should_fix": "Should Fix", "suggestion": "Suggestion"}


class State(StrEnum):
    OPEN = "open"
    CHANGED = "changed"
    """Its lines were changed or removed since. Whether that settled it, nobody has said."""
    RESOLVED = "resolved"
    """A person said so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    author: str
    text: str
    time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    number: int | None
    """What it is called by within its task; None: it was made elsewhere, and is answered there."""
    pull: int | None
    """The pull request it is about; None: the task."""
    author: str
    text: str
    severity: str | None = None
    """None: nobody said."""
    file: str | None
    line: int | None
    """Where its code is now; for what is outdated, where it was."""
    original_file: str | None
    original_line: int | None
    """Where it was made."""
    head_sha: str | None = None
    """The commit that it was made on."""
    quote: str = ""
    """The lines it was made on, as they were."""
    outdated: bool = False
    """Its lines are not in the change any more, or it is not known where."""
    changed: bool = False
    """It is known that they were changed or removed."""
    resolved: bool
    answers: tuple[Answer, ...] = ()
    review: str | None = None
    """The prompt or the run whose review it is part of; None: it was made outside of one."""
    review_comment: str | None = None
    """What it is called in that review."""
    time: datetime

    @property
    def state(self) -> State:
        if self.resolved:
            return State.RESOLVED
        return State.CHANGED if self.changed else State.OPEN

    @property
    def outside(self) -> bool:
        """Whether it was made on a forge."""
        return self.number is None and self.review is None

    @property
    def place(self) -> str:
        return _place(self.file, self.line)

    @property
    def original_place(self) -> str:
        return _place(self.original_file, self.original_line)


def _place(file: str | None, line: int | None) -> str:
    return f"{file or ''}:{line}" if line else file or ""


# ------------------------------------------------------------------------------ read from a log


def of_log(entries: Iterable[Logged], taken_back: Collection[str] = ()) -> list[Comment]:
    """The comments as they stand, the oldest first, but those of reviews that were taken back."""
    found: list[Comment] = []
    at: dict[int, int] = {}
    for entry in sorted(entries, key=lambda e: e.seq):
        match entry.type:
            case "comment.added":
                made = [_made(entry)]
            case "review_submitted" if entry.data["prompt"] not in taken_back:
                made = list(_of_review(entry))
            case "comment.answered" | "comment.resolved":
                number = entry.data["number"]
                if number in at:
                    found[at[number]] = _after(found[at[number]], entry)
                continue
            case _:
                continue
        for said in made:
            if said.number is not None:
                at[said.number] = len(found)
            found.append(said)
    return found


def last_number(entries: Iterable[Logged]) -> int:
    """The highest that was given; what was taken back keeps its own."""
    return max((said.number or 0 for said in of_log(entries)), default=0)


def _made(entry: Logged) -> Comment:
    data = entry.data
    return Comment(
        number=data["number"],
        pull=data["pull"],
        author=entry.actor.name,
        text=data["text"],
        severity=data.get("severity"),
        file=data["file"],
        line=data["line"],
        original_file=data["file"],
        original_line=data["line"],
        head_sha=data.get("head_sha"),
        quote=data.get("quote", ""),
        resolved=False,
        time=entry.time,
    )


def _of_review(entry: Logged) -> Iterable[Comment]:
    """Of a review of work; those on a document have neither a number nor a commit."""
    data = entry.data
    for one in data["comments"]:
        if data["head_sha"] is None and "number" not in one:
            continue
        yield Comment(
            number=one.get("number"),
            pull=None,
            author=data["by"],
            text=one["comment"],
            severity=one.get("severity"),
            file=one.get("file"),
            line=one.get("line"),
            original_file=one.get("file"),
            original_line=one.get("line"),
            head_sha=data["head_sha"],
            quote=one.get("quote", ""),
            resolved=False,
            review=data["prompt"] or data.get("run"),
            review_comment=one.get("id"),
            time=entry.time,
        )


def _after(said: Comment, entry: Logged) -> Comment:
    if entry.type == "comment.resolved":
        return replace(said, resolved=entry.data["resolved"])
    answer = Answer(author=entry.actor.name, text=entry.data["text"], time=entry.time)
    return replace(said, answers=(*said.answers, answer))


# ---------------------------------------------------------------------------- where it is now


def lost(said: Comment) -> Comment:
    """Where its commit cannot be compared with the present one, nothing is known of its lines."""
    return replace(said, outdated=True) if said.original_file else said


def placed(said: Comment, since: Mapping[str, Became]) -> Comment:
    """By what became of files since its commit; those that are not named did not change."""
    file, line = said.original_file, said.original_line
    was = replace(said, file=file, line=line, outdated=False, changed=False)
    became = since.get(file) if file else None
    if became is None:
        return was
    if became.path is None:
        return replace(was, outdated=True, changed=True)
    if line is None:
        return replace(was, file=became.path)
    if became.hunks is None:
        return replace(was, outdated=True)
    now = moved(line, became.hunks)
    if now is None:
        return replace(was, outdated=True, changed=True)
    return replace(was, file=became.path, line=now)


def quote(text: str, line: int) -> str:
    """What is kept of the lines that a comment on this line is about."""
    return quoted(text.split("\n")[:line])


def quoted(lines: Sequence[str]) -> str:
    """The last of them, each on a line of its own whatever stands in it."""
    return "\n".join(one.replace("\r", " ").rstrip()[:MAX_QUOTE] for one in lines[-QUOTED:])


# ------------------------------------------------------------------------ as an agent reads it


def told(said: Comment) -> str:
    """With its state, its place, who said it, and the answers to it."""
    return f"-{_marks(said)}{_where(said)} {_who(said)}: {indented(said.text)}{_more(said)}"


def severity_word(severity: str) -> str:
    return _SEVERITY.get(severity, severity)


def _marks(said: Comment) -> str:
    state = {State.OPEN: "Open", State.CHANGED: "Lines changed", State.RESOLVED: "Resolved"}
    severity = f" [{severity_word(said.severity)}]" if said.severity else ""
    return f"{severity} [{state[said.state]}]"


def _where(said: Comment) -> str:
    if not said.place:
        return ""
    note = ""
    if said.outdated and not said.changed:
        note = " (as it was; what became of these lines is not known)"
    elif said.outdated:
        note = " (as it was)"
    elif said.file != said.original_file:
        note = f" (was {said.original_place})"
    elif said.line != said.original_line:
        note = f" (was line {said.original_line})"
    return f" {indented(f'{said.place}{note}')} -"


def _who(said: Comment) -> str:
    where = f" on pull request #{said.pull}" if said.pull else ""
    return f"{visible(said.author, AUTHOR)}{where}"


def _more(said: Comment) -> str:
    """The lines as they were, where they matter and cannot be looked up; and what was answered."""
    needed = said.quote and not said.resolved and (said.outdated or not said.line)
    lines = [f"> {one}" for one in said.quote.split("\n")] if needed else []
    for answer in said.answers:
        words = "\n  ".join(indented(answer.text).split("\n"))
        lines.append(f"- {visible(answer.author, AUTHOR)} answered: {words}")
    return "".join(f"\n  {one}" for one in lines)


# ------------------------------------------------------------------------------ what is refused


def faults(text: str, file: str | None, line: int | None, severity: str | None = None) -> list[str]:
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
    known = [one.value for one in Severity]
    if severity is not None and severity not in known:
        hint = closest(severity, known) or f" There is: {', '.join(known)}."
        found.append(f'severity: there is no "{visible(severity, AUTHOR)}".{hint}')
    return found


def _fault(name: str, value: str, most: int) -> list[str]:
    try:
        check_text(value)
    except ValueError as error:
        return [f"{name}: {error}"]
    return [f"{name}: at most {most} characters"] if len(value) > most else []
