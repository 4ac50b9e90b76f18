"""What runs cost and how they went, as people ask for it."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

from agents_manager.domain.cost import By, CostReport, StatsReport
from agents_manager.domain.ids import ProjectId
from agents_manager.errors import InvalidInput
from agents_manager.flow import budgets
from agents_manager.flow.ports import Services, Tx

_SPAN = re.compile(r"(\d{1,5})([dh])", re.ASCII)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def since(said: str, now: datetime) -> datetime:
    """A day, which begins at midnight UTC, or a time before now."""
    try:
        if span := _SPAN.fullmatch(said):
            number = int(span[1])
            return now - (timedelta(days=number) if span[2] == "d" else timedelta(hours=number))
        if _DAY.fullmatch(said):
            return datetime.combine(date.fromisoformat(said), time(), UTC)
    except (ValueError, OverflowError):
        pass
    raise InvalidInput(
        f'"{said}" is no time to count from; write a day such as 2026-03-01, or 30d or 12h.',
        ["since"],
    )


def cost(
    tx: Tx, s: Services, by: By, *, project: str | None, since: datetime | None, limit: int
) -> CostReport:
    of = _project(tx, project)
    report = tx.figures.cost(by, project=of, since=since, limit=limit)
    if not report.total.runs:
        report = replace(report, total=replace(report.total, cost_usd=0.0))
    return replace(report, budgets=budgets.overview(tx, s, report, of))


def stats(tx: Tx, *, project: str | None, since: datetime | None) -> StatsReport:
    return tx.figures.stats(project=_project(tx, project), since=since)


def _project(tx: Tx, name: str | None) -> ProjectId | None:
    return None if name is None else tx.projects.find(name).id
