"""What a task changes, and its reviews."""

from datetime import datetime

from agents_manager.api import schemas
from agents_manager.domain.change import FileStatus


class ChangedFile(schemas.Out):
    path: str
    old_path: str | None
    """Where it was before it was renamed or copied."""
    status: FileStatus
    additions: int | None
    deletions: int | None
    """Null: it is not text."""
    binary: bool
    generated: bool
    """By its name: written by a program, such as a lock file."""


class ReviewRound(schemas.Out):
    number: int
    at: datetime
    by: str
    agent: bool
    verdict: str
    summary: str | None
    head_sha: str | None
    """The commit that it was about."""
    prompt_id: str | None
    run_id: str | None


class Changes(schemas.Out):
    base_sha: str | None
    head_sha: str | None
    """Null: nothing was committed yet."""
    since: int | None
    rounds: list[ReviewRound]
    """The reviews of the work, oldest first."""
    files: list[ChangedFile]


class FileChange(schemas.Out):
    file: ChangedFile
    diff: str
    """In the unified form."""
    cut: bool
    """Whether there was more of it than is sent."""
    old_text: str | None
    new_text: str | None
    """Null: it was not there, is not text, or is larger than 1 MiB."""
