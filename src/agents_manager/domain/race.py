"""A race: the same work by several agents side by side, of which one is picked. Its runs are parts
of one group, each on a branch of its own; nothing of them is put together."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import Field

from agents_manager.domain import parts
from agents_manager.domain.ids import RunId
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.value import Lenient, Value
from agents_manager.errors import InvalidInput

MODE = "implement"
"""What is raced at; every other work has one result by nature, or is split into parts."""
JUDGE = "judge"
"""The mode of an agent that compares what the others made and picks one."""
JUDGED = "race_judged"
"""What a judge ends with."""
FEWEST, MOST = 2, 5
LETTERS = "ABCDE"
"""What a judge knows the contenders by."""


class Contender(Value):
    agent: str
    model: str | None = None

    def __str__(self) -> str:
        return f"{self.agent}:{self.model}" if self.model else self.agent


class Judgement(Lenient):
    """What a judge ends with."""

    pick: str = Field(min_length=1, max_length=1)
    """The letter of the contender."""
    reasons: str = Field(min_length=1, max_length=10_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    group: int
    contenders: Sequence[Contender]
    judge: Contender | None
    picked: RunId | None = None
    """Whose work became the task's; None: nobody's yet."""
    picked_at: datetime | None = None

    def has(self, run: Run) -> bool:
        part = parts.of(run)
        return part is not None and part.group == self.group

    def members(self, runs: Sequence[Run]) -> list[Run]:
        """The newest run of each contender, in their order."""
        return parts.of_group(runs, self.group)

    def contender(self, run: Run) -> Contender:
        return self.contenders[self.place(run)]

    def letter(self, run: Run) -> str:
        return LETTERS[self.place(run)]

    def place(self, run: Run) -> int:
        """Among the contenders."""
        part = parts.of(run)
        assert part is not None
        return part.place - 1


def named(text: str) -> Contender:
    """An agent, and after a colon its model."""
    agent, colon, model = text.strip().partition(":")
    if not agent.strip() or (colon and not model.strip()):
        raise InvalidInput(f'"{text}" names no contender: write an agent, or agent:model.')
    return Contender(agent=agent.strip(), model=model.strip() or None)


def faults(contenders: Sequence[Contender], judge: Contender | None) -> list[str]:
    """Why these cannot race, or the judge not judge; each of them with the model it would use."""
    wrong: list[str] = []
    if not FEWEST <= len(contenders) <= MOST:
        wrong.append(f"A race has {FEWEST} to {MOST} contenders; there are {len(contenders)}.")
    twice = [str(one) for one in dict.fromkeys(contenders) if contenders.count(one) > 1]
    wrong += [f"{one} is there twice; give each its own model, as in AGENT:MODEL." for one in twice]
    if judge is not None and judge in contenders:
        wrong.append(f"{judge} is a contender, and an author never judges; name another judge.")
    return wrong


def unfit(run: Run, asking: Collection[str]) -> str | None:
    """Why a contender cannot be picked; None where it can."""
    if parts.finished(run, asking):
        return None
    if run.status.live:
        return "It is not done yet."
    if run.status is RunStatus.CANCELLED:
        return "It was stopped."
    if run.error is not None:
        return f"It failed ({run.error.error_class}): {run.error.error}"
    return f"It asks a question ({run.outcome}) and has not finished."


def judged_fault(race: Race, runs: Sequence[Run], pick: str, asking: Collection[str]) -> str | None:
    """Why what a judge picked cannot be taken."""
    fit = [race.letter(run) for run in race.members(runs) if unfit(run, asking) is None]
    if pick in fit:
        return None
    return f'"{pick}" cannot be picked; one of these can: {", ".join(fit)}.'
