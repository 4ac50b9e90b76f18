"""The machines that perform effects, where several share a database."""

import re
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
    """Was sent away by somebody: it ends, and others take over what it had."""


NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"
LABEL = r"[A-Za-z0-9][A-Za-z0-9._/-]{0,62}(=[A-Za-z0-9._/-]{0,63})?"


def is_name(text: str) -> bool:
    return re.fullmatch(NAME, text) is not None


def is_label(text: str) -> bool:
    """Such as `gpu` or `os=linux`."""
    return re.fullmatch(LABEL, text) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """What a machine says of itself as it starts."""

    id: str
    name: str
    version: str
    """Of the program."""
    labels: Sequence[str]
    capacity: int
    """How many agents it works with at once."""


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
    """Counts its starts, and how often it was given up: what an earlier one of them writes is
    refused."""
    started_at: datetime | None = None
    seen_at: datetime
    """By the clock of the database."""
    free_disk_mb: int | None = None

    def alive(self, now: datetime) -> bool:
        """Whether it keeps what it has."""
        return self.state is not HostState.LEFT and now - self.seen_at < DEAD_AFTER

    def suits(self, wanted: Collection[str]) -> bool:
        return set(wanted) <= set(self.labels)


@dataclass(frozen=True, slots=True)
class Term:
    """One time at work of a machine: from its start until it ends, or is given up by others."""

    host: str
    epoch: int
