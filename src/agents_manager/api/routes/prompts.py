"""The inbox, and answering."""

from typing import Annotated

from fastapi import APIRouter, Body, Query

from agents_manager.api import forms, pages
from agents_manager.api.context import AnswerKey, Caller, Services
from agents_manager.flow import prompts, undoing, views

router = APIRouter(prefix="/prompts", tags=["prompts"])


@router.get("")
async def list_prompts(s: Services, query: Annotated[forms.InboxQuery, Query()]) -> pages.Inbox:
    """Open questions, those with tasks waiting behind them first, then by age; `next` is the cursor
    of the page that follows."""
    project, after, limit = query.project, query.cursor, query.limit
    return pages.Inbox.of(
        await s.store.read(lambda tx: views.inbox(tx, project=project, after=after, limit=limit))
    )


@router.get("/{prompt_id}")
async def get_prompt(s: Services, prompt_id: str) -> pages.InboxItem:
    """A question, open or closed, with the task it belongs to."""
    return pages.InboxItem.of(await s.store.read(lambda tx: views.item(tx, prompt_id)))


@router.post("/{prompt_id}/answer")
async def answer_prompt(
    s: Services,
    actor: Caller,
    key: AnswerKey,
    prompt_id: str,
    form: Annotated[forms.Answer, Body(openapi_examples=forms.ANSWERS)],
) -> pages.Answered:
    """Answers a question. The first answer wins; the form depends on the prompt's type. With
    `delay_s` nothing follows for so many seconds, and it can be undone. With `keep` the answer is
    kept as a decision, too, which agents of later tasks are told. A choice that closes a task with
    unmerged commits is answered with 409 and the list of them, unless `leave_unmerged` is true; the
    tasks that depend on it then keep waiting, unless `release_dependents` is true too."""
    answer, delay_s, keep, consent = forms.how(form)
    done = await prompts.answer(
        s, prompt_id, answer, actor, key=key, delay_s=delay_s, keep=keep, consent=consent
    )
    return pages.Answered.of(done)


@router.post("/{prompt_id}/accept")
async def accept_prompt(
    s: Services,
    actor: Caller,
    key: AnswerKey,
    prompt_id: str,
    form: forms.AcceptForm | None = None,
) -> pages.Answered:
    """Answers a question with what was recommended."""
    how = (form or forms.AcceptForm()).model_dump()
    return pages.Answered.of(await prompts.accept(s, prompt_id, actor, key=key, **how))


@router.post("/{prompt_id}/undo")
async def undo_answer(s: Services, actor: Caller, prompt_id: str) -> pages.Undone:
    """Takes an answer back that was given with a delay, while nothing has followed from it."""
    return pages.Undone.of(await undoing.undo(s, prompt_id, actor))
