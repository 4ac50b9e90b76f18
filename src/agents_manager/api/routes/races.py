"""Agents side by side: having several work at a task, comparing them, picking one."""

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse

from agents_manager.api import forms, pages, schemas
from agents_manager.api.context import Caller, Services
from agents_manager.domain.race import Contender
from agents_manager.flow import comparing, racing

router = APIRouter(prefix="/tasks/{task_id}/race", tags=["races"])


def contender(form: forms.ContenderForm) -> Contender:
    return Contender(agent=form.agent, model=form.model)


@router.get("")
async def get_race(s: Services, task_id: str) -> pages.Race:
    """The last race of a task, contender by contender."""
    return pages.Race.of(await comparing.of_task(s, task_id))


@router.get("/{run_id}/diff", response_class=PlainTextResponse)
async def get_contenders_diff(s: Services, task_id: str, run_id: str) -> PlainTextResponse:
    """What a contender changed, as a unified diff."""
    return PlainTextResponse(await comparing.diff(s, task_id, run_id))


@router.post("", status_code=201)
async def start_race(
    s: Services, actor: Caller, task_id: str, form: forms.RaceForm
) -> schemas.Task:
    """Has several agents implement the task, each in a workspace of its own; starts it where it
    waits for that. Where something comes before, such as a plan, they begin after it."""
    several = [contender(one) for one in form.contenders]
    judge = contender(form.judge) if form.judge else None
    return schemas.Task.of(await racing.order(s, task_id, several, judge, actor))


@router.post("/pick")
async def pick_contender(
    s: Services, actor: Caller, task_id: str, form: forms.PickForm
) -> schemas.Task:
    """Takes the work of a contender: in answer to the question, or in place of the one that was
    picked, while its review is waited for."""
    return schemas.Task.of(await racing.pick(s, task_id, form.run, actor))
