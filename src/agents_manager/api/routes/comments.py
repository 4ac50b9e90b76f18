"""What is said about a task and its change, and the answers to it."""

from typing import Annotated

from fastapi import APIRouter, Path

from agents_manager.api import forms, pages, schemas
from agents_manager.api.context import Caller, Services
from agents_manager.flow import comments

Number = Annotated[int, Path(ge=0, le=1_000_000)]
router = APIRouter(prefix="/tasks/{task_id}/comments", tags=["comments"])


@router.get("")
async def list_comments(s: Services, task_id: str) -> pages.Comments:
    """Comments on the task, on its pull requests and in reviews of its work, oldest first; each
    with the answers to it, and where its code is in the change as it is now."""
    found = await comments.of_task(s, task_id)
    return pages.Comments(items=[schemas.Comment.of(c) for c in found])


@router.post("", status_code=201)
async def add_comment(
    s: Services, actor: Caller, task_id: str, form: forms.NewComment
) -> schemas.Comment:
    """Comments on the open pull request of the task, else on the task itself. Nothing is moved or
    started by it; the agent of the next run is told."""
    said = await comments.add(s, task_id, form.text, form.file, form.line, actor, form.severity)
    return schemas.Comment.of(said)


@router.post("/{number}/answers", status_code=201)
async def answer_comment(
    s: Services, actor: Caller, task_id: str, number: Number, form: forms.NewAnswer
) -> schemas.Comment:
    """Adds an answer under a comment. The agent of the next run is told."""
    return schemas.Comment.of(await comments.answer(s, task_id, number, form.text, actor))


@router.patch("/{number}")
async def resolve_comment(
    s: Services, actor: Caller, task_id: str, number: Number, form: forms.CommentState
) -> schemas.Comment:
    """Says that a comment is dealt with, or that it is not after all."""
    said = await comments.resolve(s, task_id, number, actor, resolved=form.resolved)
    return schemas.Comment.of(said)
