"""What work changes, file by file, and the reviews of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from fnmatch import fnmatchcase


class FileStatus(StrEnum):
    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    COPIED = "copied"
    RETYPED = "retyped"
    """It became a link, say, or a submodule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    path: str
    old_path: str | None
    """Where it was before it was renamed or copied."""
    status: FileStatus
    additions: int | None
    deletions: int | None
    """None: it is not text."""
    generated: bool
    """By its name: written by a program, such as a lock file."""
    old_blob: str | None
    new_blob: str | None
    """What it holds, by the names that git has for it; None where there is no file."""
    names: tuple[bytes, ...]
    """Its paths as git knows them: they need not be text."""

    @property
    def binary(self) -> bool:
        return self.additions is None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    file: ChangedFile
    diff: str
    cut: bool
    """Whether there was more of it than is kept."""
    old_text: str | None
    new_text: str | None
    """None: it is not there, no text, or too large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRound:
    """A review of the work by a person or an agent."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    base_sha: str | None
    head_sha: str | None
    """None: nothing was committed yet."""
    since: int | None
    """The review after which it changed; None: in all."""
    rounds: Sequence[ReviewRound]
    """Oldest first."""
    files: Sequence[ChangedFile]


_WRITTEN_BY_PROGRAMS = (
    *("*.lock", "*-lock.json", "*-lock.yaml", "go.sum", "npm-shrinkwrap.json", "*.lockb"),
    *("*.min.js", "*.min.css", "*.map", "*.snap", "*_pb2.py", "*_pb2.pyi", "*.pb.go"),
    *("*.generated.*", "*.g.dart", "*.designer.cs"),
)
_FOLDERS = frozenset({"node_modules", "vendor", "dist", "__snapshots__", "__generated__"})


def looks_generated(path: str) -> bool:
    """A guess by the name, for what is folded at first."""
    *folders, name = path.split("/")
    if not _FOLDERS.isdisjoint(folders):
        return True
    return any(fnmatchcase(name.lower(), pattern) for pattern in _WRITTEN_BY_PROGRAMS)
