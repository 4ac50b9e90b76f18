"""What a case is, what the groups of cases are made from, and which of many are chosen."""

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from tests.faults.life import Plan
from tests.faults.scenario import TO_THE_END, Walk
from tests.postgres import fresh_database

SEED = 20
OURS = ("transaction", "step", "effect", "Durable", "DetachedRunners.wait")
"""What has to do with rows, and waiting for an agent."""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """What an undisturbed walk passes and tells."""

    told: Sequence[str]
    points: Sequence[str]
    runner_points: Sequence[str] = ()
    gits: Sequence[str] = ()
    """The name of each git, in order."""
    changes: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many system calls of a git change files, by its name."""
    cancelling_told: Sequence[str] = ()
    cancelling_points: Sequence[str] = ()
    timed_told: Sequence[str] = ()
    timed_points: Sequence[str] = ()
    crashing_told: Sequence[str] = ()
    crashing_points: Sequence[str] = ()
    walk: Walk = TO_THE_END
    """That of the first two."""
    postgres: str = ""
    """Where a new database may be made for each case, where the rows are to be on Postgres."""

    def ours(self, labels: Sequence[str]) -> list[str]:
        """On Postgres, what has to do with rows; the rest is the same on both."""
        return [label for label in labels if not self.postgres or label.startswith(OURS)]

    def placed(self, plan: Plan) -> Plan:
        return replace(plan, url=fresh_database(self.postgres)) if self.postgres else plan


@dataclass
class Result:
    faults: list[str] = field(default_factory=list)
    missed: bool = False


@dataclass(frozen=True)
class Case:
    name: str
    run: Callable[[Path], Result]


def changes(evidence: Path, gits: Sequence[str]) -> dict[str, int]:
    counts = ((git, evidence / f"gits-{git}") for git in gits)
    return {git: int(file.read_text()) if file.exists() else 0 for git, file in counts}


def sample(labels: Sequence[str], kind: Callable[[str], str], wanted: int) -> list[str]:
    """One label of every kind, or of some kinds where there are more than wanted, then evenly over
    all; always the same ones. None wanted: just one of every kind."""
    chance = random.Random(SEED)
    kinds: dict[str, list[str]] = defaultdict(list)
    for label in labels:
        kinds[kind(label)].append(label)
    some = list(kinds.values())
    if 0 < wanted < len(some):
        some = [some[i * len(some) // wanted] for i in range(wanted)]
    chosen = {chance.choice(found) for found in some}
    rest = [label for label in labels if label not in chosen]
    missing = wanted - len(chosen)
    if missing > 0:
        chosen.update(rest[i * len(rest) // missing] for i in range(min(missing, len(rest))))
    return [label for label in labels if label in chosen]


def drawn(cases: Sequence[Case], wanted: int, number: int) -> list[Case]:
    """So many, one of each stretch of the walk; which one is drawn by the number."""
    if wanted >= len(cases):
        return list(cases)
    chance = random.Random(number)
    edges = [i * len(cases) // wanted for i in range(wanted + 1)]
    return [cases[chance.randrange(a, b)] for a, b in pairwise(edges)]


def phase_of(label: str) -> str:
    return label.partition(" #")[0].rpartition(" ")[2]
