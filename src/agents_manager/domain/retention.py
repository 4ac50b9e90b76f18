"""How long things are kept. What is None is kept for ever."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Days are counted from when a task was finished; what a task in work has is never old."""

    transcripts_days: int | None
    transcripts_mb: int | None
    worktrees_days: int | None
    snapshots_days: int | None
    engine_days: int | None
    backups_days: int | None
    setup_days: int | None
    setup_mb: int | None


def before(now: datetime, days: int | None) -> datetime | None:
    """What is older than this may go; None when nothing may."""
    return None if days is None else now - timedelta(days=days)
