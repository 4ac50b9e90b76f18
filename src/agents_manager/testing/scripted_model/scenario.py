"""Which step answers a request. It follows from the conversation that the request carries, so side
requests, retries and parallel sessions of an agent cannot shift the script."""

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agents_manager.testing.scripted_model.steps import (
    Answer,
    Condition,
    Once,
    Say,
    Step,
    Trouble,
    When,
)
from agents_manager.testing.scripted_model.talk import Talk


@dataclass(frozen=True, slots=True)
class Branch:
    """Steps under one condition; the script itself has none."""

    condition: Condition | None
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    step: Answer | Trouble | None
    number: int | None
    """Which of its branch's steps it is, from 0; None is a side request."""


def branches(steps: Sequence[Step | When]) -> tuple[Branch, ...]:
    plain = tuple(step for step in steps if not isinstance(step, When))
    conditional = [step for step in steps if isinstance(step, When)]
    return (
        *(Branch(when.condition, tuple(when.steps)) for when in conditional),
        Branch(None, plain),
    )


def place(among: Sequence[Branch], talk: Talk) -> tuple[int, int]:
    """The branch that answers, and which of its steps. What answered each earlier request of the
    conversation is worked out again, so a branch begins with its first step whenever it begins."""
    before = Counter(_branch(among, earlier) for earlier in talk.earlier())
    branch = _branch(among, talk)
    return branch, before[branch]


def _branch(among: Sequence[Branch], talk: Talk) -> int:
    return next(
        i for i, branch in enumerate(among) if branch.condition is None or branch.condition(talk)
    )


class Scenario:
    def __init__(self, steps: Sequence[Step | When], side: Say | None) -> None:
        self._branches = branches(steps)
        self._side = side
        self._tries: Counter[tuple[int, int]] = Counter()
        self._lock = threading.Lock()
        self.released = threading.Event()

    def choose(self, talk: Talk) -> Chosen:
        if self._side is not None and not talk.tools:
            return Chosen(self._side, None)
        branch, number = place(self._branches, talk)
        steps = self._branches[branch].steps
        if number >= len(steps):
            return Chosen(None, number)
        step = steps[number]
        if isinstance(step, Once):
            tries = self._count(branch, number)
            return Chosen(step.trouble if tries <= step.times else step.then, number)
        return Chosen(step, number)

    def _count(self, branch: int, number: int) -> int:
        with self._lock:
            self._tries[branch, number] += 1
            return self._tries[branch, number]
