"""This machine, where several share a database, and its right to work."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from agents_manager.domain.host import Term


def boot_time() -> float:
    """Seconds that nobody sets, and that go on while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


@dataclass(slots=True)
class Tenure:
    """The right of this process to work for its machine. Others rely on its end: what it would
    still do then, they do already."""

    term: Term | None = None
    """None while it does not work: it only reads and writes what people ask for."""
    since: float = 0.0
    """When it joined, by `clock`."""
    until: float = 0.0
    clock: Callable[[], float] = boot_time

    @property
    def held(self) -> bool:
        return self.term is not None and self.clock() < self.until

    @property
    def over(self) -> bool:
        """Whether it had the right, and others may have it by now."""
        return self.term is not None and not self.held


@dataclass(frozen=True, slots=True)
class Here:
    """The machine that asks, where several share a database."""

    host: str
    projects: Path
    """The folder of clones of projects that lie nowhere else on it."""
    capacity: int | None = None
    """How many agents may work at a time on it, where that was said at its start."""
    tenure: Tenure = field(default_factory=Tenure, compare=False)


ACTING: ContextVar[Term | None] = ContextVar("acting", default=None)
"""For which time at work something is done: the store refuses what is written for one that is over.
None for what is done for people."""


@contextmanager
def acting(here: Here | None) -> Generator[None]:
    """What is written inside, by whatever it starts too, counts only while the machine has not been
    given up by others."""
    token = ACTING.set(here and here.tenure.term)
    try:
        yield
    finally:
        ACTING.reset(token)
