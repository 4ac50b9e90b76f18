"""The machines that perform effects, where several share a database."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

BEAT_S = 5.0
LEASE = timedelta(seconds=30)
"""For how long a machine that was not heard of may still be at work. One that cannot tell of itself
for so long has ended its agents before it is over."""
DEAD_AFTER = timedelta(seconds=60)
"""From then on others take over what it had."""


class HostState(StrEnum):
    UP = "up"
    DRAINING = "draining"
    """Finishes what it has and takes nothing new."""
    LEFT = "left"
    """Was ended by its user; what it had is taken over once its lease is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    id: str
    name: str
    version: str
    """Of the program."""
    labels: Sequence[str] = ()
    capacity: int | None = None
    """How many agents it works with at once; None: it has not said."""
    state: HostState = HostState.UP
    epoch: int = 0
    """Counts its starts: a machine whose epoch is another by now was replaced."""
    started_at: datetime | None = None
    seen_at: datetime
    """By the clock of the database."""
    free_disk_mb: int | None = None

    def alive(self, now: datetime) -> bool:
        return now - self.seen_at < DEAD_AFTER

    def suits(self, wanted: Collection[str]) -> bool:
        return set(wanted) <= set(self.labels)
