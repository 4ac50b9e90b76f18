"""Where the work is looked at and merged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from agents_manager.domain.comment import Comment
from agents_manager.domain.issue import Found, Note, Reference, Wanted
from agents_manager.domain.task import (
    MergeMethod,
    Project,
    PullRequest,
    PullState,
    Task,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    sha: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicted:
    files: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideReview:
    """The last word of a person on a forge."""

    id: str
    author: str
    decision: Literal["approved", "changes_requested"]
    summary: str
    head_sha: str | None
    """The commit that was looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """How a pull request stands where it lives."""

    state: PullState
    head_sha: str
    base_branch: str
    """Where it goes to there, which people can change."""
    url: str
    by: str | None
    """Who merged it."""
    checks: str | None
    reviews: tuple[OutsideReview, ...]
    """By people with access."""
    strangers: int
    """How many others reviewed, who are not heard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnReview:
    """A review that was made here."""

    key: str
    """Under the same key it is shown once."""
    author: str
    decision: str
    summary: str | None
    comments: Sequence[Mapping[str, Any]]
    head_sha: str


class Forge(Protocol):
    """Pull requests. Every call looks first, so that doing it again does nothing new."""

    async def publish(
        self, project: Project, task: Task, branch: str, base: str, title: str, body: str
    ) -> PullRequest:
        """Creates the pull request, or brings the existing one to the branch's head."""
        ...

    async def merge(
        self, project: Project, pull: PullRequest, head_sha: str, method: MergeMethod
    ) -> Merged | Conflicted: ...
    async def comments(self, project: Project, pull: PullRequest) -> Sequence[Comment]:
        """What people said on the pull request, the oldest first: on its lines and beside them."""
        ...


class OutsideForge(Forge, Protocol):
    """A forge where others can change a pull request, too."""

    async def look(self, project: Project, pull: PullRequest) -> Sighting: ...
    async def mirror(self, project: Project, pull: PullRequest, review: OwnReview) -> None:
        """Shows a review that was made here."""
        ...


class Forges(Forge, Protocol):
    """All of them: which one is meant, the project or the pull request says."""

    def needs_push(self, project: Project) -> bool:
        """Whether branches must be in the remote before there can be a pull request."""
        ...

    def outside(self, pull: PullRequest) -> OutsideForge | None:
        """None where it lives here."""
        ...

    async def trouble(self, project: Project) -> str | None:
        """What keeps its forge from working, with the way out, by looking alone."""
        ...

    async def issues(self, project: Project, wanted: Wanted) -> Found:
        """Read only, and from where issues are, wherever pull requests live."""
        ...

    async def note(self, project: Project, issue: Reference, note: Note, since: datetime) -> bool:
        """Puts a note on an issue, unless it is there since then; whether it closed the issue."""
        ...
