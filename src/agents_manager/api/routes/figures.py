"""What runs cost, and how they went."""

from typing import Annotated

from fastapi import APIRouter, Query

from agents_manager.api import forms, pages
from agents_manager.api.context import Services
from agents_manager.domain.cost import By
from agents_manager.flow import figures, performance

router = APIRouter(tags=["figures"])


@router.get("/cost")
async def get_cost(s: Services, query: Annotated[forms.CostQuery, Query()]) -> pages.CostReport:
    """What runs cost, in all and by project, task, agent, model or day. Those whose cost is unknown
    are counted beside the sum."""
    since = figures.since(query.since, s.clock.now()) if query.since else None
    return pages.CostReport.of(
        await s.store.read(
            lambda tx: figures.cost(
                tx, s, By(query.by), project=query.project, since=since, limit=query.limit
            )
        )
    )


@router.get("/stats")
async def get_stats(s: Services, query: Annotated[forms.StatsQuery, Query()]) -> pages.StatsReport:
    """How runs went and what merged tasks took, in all and by agent."""
    since = figures.since(query.since, s.clock.now()) if query.since else None
    return pages.StatsReport.of(
        await s.store.read(lambda tx: figures.stats(tx, project=query.project, since=since))
    )


@router.get("/performance")
async def get_performance(
    s: Services, query: Annotated[forms.StatsQuery, Query()]
) -> pages.PerformanceReport:
    """How long finished tasks took and waited, how often work was approved at once, and why runs
    failed; by agent and model, and by day."""
    since = figures.since(query.since, s.clock.now()) if query.since else None
    return pages.PerformanceReport.of(
        await s.store.read(lambda tx: performance.of(tx, project=query.project, since=since))
    )
