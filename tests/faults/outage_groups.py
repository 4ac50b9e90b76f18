"""Groups of cases in which the server lives, and something becomes of its database."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

from tests.faults import outages
from tests.faults.cases import OURS, Case, Reference, Result, phase_of, sample
from tests.faults.life import Plan, live
from tests.faults.outages import Outage
from tests.postgres import fresh_database


def unanswered(reference: Reference, full: bool) -> tuple[int, list[Case]]:
    """The server lives, and is not told that what it wrote is kept."""
    commits = [label for label in _at_work(reference) if label.startswith("transaction")]
    labels = [label for label in commits if phase_of(label) == "done"]
    chosen = labels if full else sample(labels, lambda _: "", 3)
    outage = Outage(how="unanswered")
    return len(labels), [Case(label, _without(label, reference, outage)) for label in chosen]


def cuts(reference: Reference, full: bool) -> tuple[int, list[Case]]:
    """The server lives, and all its connections to Postgres are cut at once."""
    labels = _at_work(reference)
    chosen = labels if full else sample(labels, phase_of, 2)
    outage = Outage(how="cut")
    return len(labels), [Case(label, _without(label, reference, outage)) for label in chosen]


def restarts(reference: Reference, full: bool) -> tuple[int, list[Case]]:
    """The server lives, and Postgres goes and comes back after a while."""
    labels = [f"{label}, {how}" for label in _at_work(reference) for how in outages.SIGNALS]
    chosen = labels if full else sample(labels, lambda label: label.rpartition(" ")[2], 2)
    return len(labels), [Case(label, _gone(label, reference)) for label in chosen]


def _at_work(reference: Reference) -> list[str]:
    """From when there is a task: before that, a person is told, and begins again."""
    first = reference.points.index("transaction tasks.create done #1")
    return [label for label in reference.points[first:] if label.startswith(OURS)]


def _without(label: str, reference: Reference, outage: Outage) -> Callable[[Path], Result]:
    def run(folder: Path) -> Result:
        plan = reference.placed(Plan(server=label, undisturbed=reference.told))
        return _struck(folder, label, replace(plan, outage=replace(outage, url=plan.url or "")))

    return run


def _gone(label: str, reference: Reference) -> Callable[[Path], Result]:
    point, _, how = label.rpartition(", ")

    def run(folder: Path) -> Result:
        with outages.cluster() as cluster:
            outage = Outage(how=cast("outages.How", how), cluster=str(cluster))
            plan = Plan(server=point, undisturbed=reference.told, outage=outage)
            return _struck(folder, point, replace(plan, url=fresh_database(outages.url(cluster))))

    return run


def _struck(folder: Path, label: str, plan: Plan) -> Result:
    ending = live(folder, 1, plan)
    faults = list(ending.violations)
    return Result(faults=faults, missed=not faults and label not in ending.points)
