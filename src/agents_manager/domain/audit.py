"""What people and programs decided that is no event of a task: who let whom in, what is trusted,
what was changed for all, and what is gone."""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

LONGEST = 500
"""Characters of a summary."""


class Deed(StrEnum):
    LOGIN = "login.accepted"
    LOGIN_REFUSED = "login.refused"
    LOGOUT = "login.ended"
    LOGIN_LINK = "login.link_made"
    TOKEN_MADE = "token.made"  # noqa: S105 - a word
    TOKEN_REVOKED = "token.revoked"  # noqa: S105 - a word
    PROJECT_ADDED = "project.added"
    PROJECT_PLACED = "project.placed"
    PROJECT_REMOVED = "project.removed"
    PROJECT_TRUSTED = "project.trusted"
    REMOTE_SET = "project.remote_set"
    CONSENT_GIVEN = "consent.given"
    CONSENT_WITHDRAWN = "consent.withdrawn"
    SETTINGS_CHANGED = "settings.changed"
    PIPELINE_SAVED = "pipeline.saved"
    PIPELINE_MIGRATED = "pipeline.migrated"
    PERMISSION_GIVEN = "permission.given"
    PERMISSION_REFUSED = "permission.refused"
    BUDGET_GRANTED = "budget.granted"
    BUDGET_TAKEN_BACK = "budget.taken_back"
    KNOWLEDGE_CONFIRMED = "knowledge.confirmed"
    KNOWLEDGE_EDITED = "knowledge.edited"
    KNOWLEDGE_RETIRED = "knowledge.retired"
    KNOWLEDGE_CONTRADICTED = "knowledge.contradicted"
    KNOWLEDGE_DECIDED = "knowledge.decided"
    BLOCKER_RESOLVED = "blocker.resolved"
    KNOWLEDGE_IMPORTED = "knowledge.imported"
    SCHEDULE_ADDED = "schedule.added"
    SCHEDULE_EDITED = "schedule.edited"
    SCHEDULE_PAUSED = "schedule.paused"
    SCHEDULE_RESUMED = "schedule.resumed"
    SCHEDULE_RUN = "schedule.run"
    SCHEDULE_HALTED = "schedule.halted"
    SCHEDULE_REMOVED = "schedule.removed"
    TASK_DELETED = "task.deleted"
    WORKSPACES_REMOVED = "workspace.removed"
    RETENTION_APPLIED = "retention.applied"
    DATA_RESTORED = "data.restored"
    HOST_DRAINED = "host.drained"
    HOST_RESUMED = "host.resumed"
    HOST_REMOVED = "host.removed"
    DATA_MOVED = "data.moved"
    DATA_UPGRADED = "data.upgraded"


DEEDS = frozenset(Deed)
AREAS = frozenset(deed.partition(".")[0] for deed in Deed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    id: int
    time: datetime
    who: str
    via: str | None
    """The door: cli, http, web; None for the program itself."""
    address: str | None
    """Of the machine that asked over HTTP, as the server sees it."""
    what: str
    summary: str
    data: Mapping[str, Any]


COLUMNS = ("time", "who", "via", "address", "what", "summary")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_csv(entries: Iterable[Entry]) -> str:
    """For a spreadsheet, which would take a text that begins like a formula for one."""
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(COLUMNS)
    for entry in entries:
        rows.writerow([_cell(getattr(entry, name)) for name in COLUMNS])
    return out.getvalue()


def _cell(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
