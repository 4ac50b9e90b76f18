"""Projects, their settings, what may be cleared away and what was found."""

from datetime import datetime
from typing import Any

from agents_manager.api import schemas
from agents_manager.flow.ports import Layer
from agents_manager.flow.search import Kind


class RetentionTotal(schemas.Out):
    count: int
    bytes: int | None
    """Null: unknown."""


class RetentionItem(schemas.Out):
    kind: str
    what: str
    why: str
    count: int
    bytes: int | None
    task_id: str | None


class Retention(schemas.Out):
    at: datetime
    dry_run: bool
    totals: dict[str, RetentionTotal]
    items: list[RetentionItem]
    """At most 1,000 of them; all are in the totals."""
    left: list[str]
    """What could not be looked at or removed, and why."""
    last: str | None
    """When the pass before this one was."""
    used: dict[str, int]
    """Bytes in use on this machine: workspaces, transcripts, setup, backups and databases."""


class ForgeState(schemas.Out):
    type: str
    trouble: str | None
    """Why it cannot be used; null if it can."""


class Setting(schemas.Out):
    key: str
    """As in the file, with dots between the keys of nested objects."""
    value: Any
    layer: Layer
    file: str | None
    line: int | None


class Settings(schemas.Out):
    errors: list[str]
    """What is wrong with the files; the items are then what they said before."""
    items: list[Setting]
    next: str | None


class SettingsEdit(schemas.Out):
    file: str
    fingerprint: str
    """Of the old text; give it back as `expect` to write just what was shown."""
    old: str | None
    """Null: there was no file."""
    new: str
    diff: str
    written: bool
    changed_commands: list[str]
    """What has to be trusted before it is run."""


class RemovedProject(schemas.Out):
    project: schemas.ProjectRef
    tasks: int
    """How many were deleted with it."""
    left: list[str]
    """Why workspaces are still there."""


class Projects(schemas.Out):
    items: list[schemas.Project]
    next: str | None


class Hit(schemas.Out):
    kind: Kind
    id: str
    title: str
    detail: str
    task_id: str | None


class Hits(schemas.Out):
    items: list[Hit]
