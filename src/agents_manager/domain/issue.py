"""An issue on a forge, as a task is made of it. Anybody may have written one, so its words are
bounded, and go into a prompt as those of somebody outside."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agents_manager.domain.fields import MAX_DESCRIPTION, MAX_TAG, MAX_TAGS, MAX_TITLE
from agents_manager.domain.names import visible
from agents_manager.domain.task import Artifact, ArtifactType
from agents_manager.domain.task_list import Entry, Link, Listed
from agents_manager.errors import InvalidInput

REPOSITORY = re.compile(r"[A-Za-z0-9_-]+/(?!\.{1,2}$)[A-Za-z0-9._-]+")
State = Literal["open", "closed", "all"]
MAX_NUMBERS = 100
MAX_LABEL = 100
CUT = "\n\n[The text of the issue was cut here.]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    repository: str
    """`owner/name`."""
    number: int
    id: str
    """What stays the same when the repository is renamed."""
    title: str
    body: str
    labels: tuple[str, ...]
    author: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which issues are meant."""

    repository: str | None = None
    """`owner/name`; None: that of the project."""
    numbers: tuple[int, ...] = ()
    """These alone, whatever their state; all others where there are none."""
    labels: tuple[str, ...] = ()
    """Only those that have all of them."""
    state: State = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    repository: str
    issues: tuple[Issue, ...]
    pulls: int = 0
    """Pull requests among them, which are left out."""
    missing: tuple[str, ...] = ()
    """What was asked for by number and is no issue, and why."""
    complete: bool = True
    """False where there are more than were read."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The issue that a task comes from."""

    repository: str
    number: int
    url: str

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What is put on an issue."""

    key: str
    """Under the same key it is put there once."""
    text: str | None
    """None: nothing is written."""
    close: bool


def wanted(
    repository: str | None, numbers: Sequence[int], labels: Sequence[str], state: State | None
) -> Wanted:
    """What somebody asks for, or InvalidInput."""
    faults: list[str] = []
    if repository is not None and not REPOSITORY.fullmatch(repository):
        shown = visible(repository, MAX_TAG)
        faults.append(f'repository: "{shown}" is no repository; write it as owner/name')
    if numbers and (labels or state):
        faults.append("issues: say which by number, or by label and state, not both")
    if len(numbers) > MAX_NUMBERS:
        faults.append(f"issues: at most {MAX_NUMBERS} by number at once")
    faults += [
        f'labels: "{visible(one, MAX_TAG)}" is no label' for one in labels if not _is_label(one)
    ]
    if faults:
        raise InvalidInput("Nothing was imported.", faults)
    return Wanted(
        repository=repository,
        numbers=tuple(numbers),
        labels=tuple(labels),
        state=state or "open",
    )


def _is_label(text: str) -> bool:
    """A comma would make two of it."""
    return bool(text.strip()) and "," not in text and len(text) <= MAX_LABEL


def listed(found: Found) -> Listed:
    # A list that grows while it is read page by page may tell one twice.
    entries = [_entry(issue) for issue in {one.id: one for one in found.issues}.values()]
    return Listed(entries=entries, faults=found.missing, skipped=found.pulls)


def reference(artifacts: Sequence[Artifact]) -> Reference | None:
    """None where the task was not made of an issue."""
    for one in artifacts:
        match one.type, one.data:
            case ArtifactType.LINK, {"repository": str(name), "number": int(n), "url": str(url)}:
                return Reference(name, n, url)
            case _:
                pass
    return None


def _entry(issue: Issue) -> Entry:
    name = f"{issue.repository}#{issue.number}"
    title = visible(issue.title, MAX_TITLE) or f"Issue {name}"
    return Entry(
        place=f"#{issue.number}",
        words={"title": title, "description": _bounded(issue.body), "tags": _tags(issue.labels)},
        link=Link(
            key=f"issue {issue.id}",
            label=f"{name}: {title}",
            data={
                "repository": issue.repository,
                "number": issue.number,
                "url": issue.url,
                "author": visible(issue.author, MAX_TAG),
                "digest": _digest(issue),
            },
        ),
    )


def _digest(issue: Issue) -> str:
    """By which a later look sees that somebody wrote something else."""
    words = f"{issue.title}\0{issue.body}".encode(errors="replace")
    return hashlib.sha256(words).hexdigest()[:16]


def _bounded(body: str) -> str:
    """What a database can hold; half a letter becomes a question mark."""
    text = body.replace("\r\n", "\n").replace("\x00", "").encode(errors="replace").decode()
    return text if len(text) <= MAX_DESCRIPTION else text[: MAX_DESCRIPTION - len(CUT)] + CUT


def _tags(labels: Sequence[str]) -> tuple[str, ...]:
    """A label may be longer than a tag, or nothing that one can be."""
    plain = (unicodedata.normalize("NFC", label).lower() for label in labels)
    short = (visible(label, MAX_TAG).lstrip("#").strip() for label in plain)
    return tuple(label for label in short if label)[:MAX_TAGS]


def is_new(link: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    """Whether an issue says something else than when its task was made."""
    return "digest" in link and link["digest"] != known.get("digest")
