"""What people say about a task outside of a review."""

from typing import Annotated

from fastapi import APIRouter, Path

from agents_manager.api import forms, pages, schemas
from agents_manager.api.context import Caller, Services
from agents_manager.flow import comments

router = APIRouter(prefix="/tasks/{task_id}/comments", tags=["comments"])


@router.get("")
async def list_comments(s: Services, task_id: str) -> pages.Comments:
    """Comments on the task and on its pull requests, oldest first."""
    found = await comments.of_task(s, task_id)
    return pages.Comments(items=[schemas.Comment.of(c) for c in found])


@router.post("", status_code=201)
async def add_comment(
    s: Services, actor: Caller, task_id: str, form: forms.NewComment
) -> schemas.Comment:
    """Comments on the open pull request of the task, else on the task itself. Nothing is moved or
    started by it; the agent of the next run is told."""
    said = await comments.add(s, task_id, form.text, form.file, form.line, actor)
    return schemas.Comment.of(said)


@router.patch("/{number}")
async def resolve_comment(
    s: Services,
    actor: Caller,
    task_id: str,
    number: Annotated[int, Path(ge=0, le=1_000_000)],
    form: forms.CommentState,
) -> schemas.Comment:
    """Says that a comment is dealt with, or that it is not after all."""
    said = await comments.resolve(s, task_id, number, actor, resolved=form.resolved)
    return schemas.Comment.of(said)
