"""Snapshots: the work that runs of a task left uncommitted."""

from typing import Annotated

from fastapi import APIRouter, Path

from agents_manager.api import forms, pages, schemas
from agents_manager.api.context import Caller, Services
from agents_manager.flow import snapshots

router = APIRouter(prefix="/tasks/{task_id}/snapshots", tags=["snapshots"])


@router.get("")
async def list_snapshots(s: Services, task_id: str) -> pages.Snapshots:
    """The snapshots of a task, oldest first."""
    found = await snapshots.of_task(s, task_id)
    return pages.Snapshots(items=[schemas.Snapshot.of(one) for one in found])


@router.post("/{number}/restore")
async def restore_snapshot(
    s: Services,
    actor: Caller,
    task_id: str,
    number: Annotated[int, Path(ge=0, le=1_000_000)],
    form: forms.Restore,
) -> pages.Restored:
    """Puts the work of a snapshot back: into the task's workspace, uncommitted, with what lies
    there now saved first; or as a new branch."""
    done = await snapshots.restore(s, task_id, number, form.to, actor)
    return pages.Restored(
        task=schemas.Task.of(done.task),
        snapshot=schemas.Snapshot.of(done.snapshot),
        branch=done.branch,
        workspace=done.workspace,
    )
