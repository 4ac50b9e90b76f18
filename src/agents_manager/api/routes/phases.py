"""The phases of a task that was split."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Path

from agents_manager.api import forms, pages, schemas
from agents_manager.api.context import Caller, Services
from agents_manager.domain.phase import Phase
from agents_manager.flow import phases

router = APIRouter(prefix="/tasks/{task_id}/phases", tags=["phases"])


@router.get("")
async def list_phases(s: Services, task_id: str) -> pages.Phases:
    """The phases in their order; none when the task was not split."""
    return _page(await s.store.read(lambda tx: tx.phases.of_task(tx.tasks.find(task_id).id)))


@router.post("/{number}/skip")
async def skip_phase(
    s: Services, actor: Caller, task_id: str, number: Annotated[int, Path(ge=0, le=1000)]
) -> pages.Phases:
    """Leaves out a phase that has not been begun."""
    return _page(await phases.skip(s, task_id, number, actor))


@router.post("/order")
async def reorder_phases(
    s: Services, actor: Caller, task_id: str, form: forms.PhaseOrder
) -> pages.Phases:
    """Puts the phases that have not been begun into another order."""
    return _page(await phases.reorder(s, task_id, form.numbers, actor))


def _page(found: Sequence[Phase]) -> pages.Phases:
    return pages.Phases(items=[schemas.Phase.of(p) for p in found])
