"""The notes that runs leave for the next."""

from collections.abc import Mapping
from typing import Literal

from agents_manager.domain.event.happening import Happening, Level, counted_as


class HandoffSaved(Happening):
    category = "handoff"
    type: Literal["handoff.saved"] = "handoff.saved"
    run: str
    source: str
    """`message`, `file` or `tool`."""
    outcome: str
    completeness: float
    """From 0 to 1: the share of the sections asked for that it has."""

    def says(self) -> str:
        return f"The agent left a handoff ({self.outcome}, {self.completeness:.0%} complete)."


class HandoffReturned(Happening):
    category = "handoff"
    type: Literal["handoff.returned"] = "handoff.returned"
    run: str
    violations: tuple[Mapping[str, str], ...]
    """Each with `field`, `wrong` and `right`."""

    def says(self) -> str:
        return f"The agent was asked to correct its handoff: {_told(self.violations)}."


class HandoffRefused(Happening):
    category = "handoff"
    level = Level.WARNING
    type: Literal["handoff.refused"] = "handoff.refused"
    run: str
    violations: tuple[Mapping[str, str], ...]

    def says(self) -> str:
        return f"The handoff of the run is not kept: {_told(self.violations)}."


class HandoffDisagrees(Happening):
    category = "handoff"
    level = Level.WARNING
    type: Literal["handoff.disagrees"] = "handoff.disagrees"
    run: str
    handoff: str
    outcome: str
    """Empty: the run failed."""

    def says(self) -> str:
        ended = f"ended with {self.outcome}" if self.outcome else "failed"
        return f"The handoff says {self.handoff}, but the run {ended}, which counts."


def _told(violations: tuple[Mapping[str, str], ...]) -> str:
    fields = ", ".join(dict.fromkeys(one["field"] for one in violations))
    return f"{counted_as(len(violations), 'violation')} ({fields})"
