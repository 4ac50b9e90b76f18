"""What happens to a race of agents."""

from typing import Literal

from agents_manager.domain.event.happening import Happening
from agents_manager.domain.race import Contender
from agents_manager.domain.value import Value


class RaceOrdered(Happening):
    category = "agent"
    type: Literal["race.ordered"] = "race.ordered"
    contenders: tuple[Contender, ...]
    judge: Contender | None
    by: str

    def says(self) -> str:
        judge = f", judged by {self.judge}" if self.judge else ""
        return f"{self.by} has {_listed(self.contenders)} work at it side by side{judge}."


class RaceBegun(Happening):
    category = "agent"
    type: Literal["race.begun"] = "race.begun"
    group: int
    contenders: tuple[Contender, ...]
    judge: Contender | None

    def says(self) -> str:
        return f"{_listed(self.contenders)} begin, each in a workspace of its own."


class Figures(Value):
    """What a contender made. What nobody knows stays unknown."""

    run: str
    files: int | None = None
    additions: int | None = None
    deletions: int | None = None
    commits: tuple[str, ...] = ()
    """The first lines of what it committed last."""


class RaceCompared(Happening):
    category = "agent"
    type: Literal["race.compared"] = "race.compared"
    group: int
    figures: tuple[Figures, ...]

    def says(self) -> str:
        return f"All {len(self.figures)} have ended and can be compared."


class RaceJudged(Happening):
    category = "agent"
    type: Literal["race.judged"] = "race.judged"
    group: int
    judge: str
    """The judge's run."""
    run: str
    reasons: str

    def says(self) -> str:
        return f"The judge picked run {self.run}: {self.reasons}"


class RacePicked(Happening):
    """Stands once the work of the picked one is the task's."""

    category = "agent"
    type: Literal["race.picked"] = "race.picked"
    group: int
    run: str
    contender: Contender
    by: str
    branch: str
    sha: str

    def says(self) -> str:
        return f"{self.by} picked {self.contender}; {self.branch} holds its work ({self.sha[:8]})."


def _listed(contenders: tuple[Contender, ...]) -> str:
    *most, last = map(str, contenders)
    return f"{', '.join(most)} and {last}"
