"""The inbox, and answering."""

from typing import Annotated

from fastapi import APIRouter, Body

from agents_manager.api import forms, pages
from agents_manager.api.context import AnswerKey, Caller, Services
from agents_manager.flow import prompts, views

router = APIRouter(prefix="/prompts", tags=["prompts"])


@router.get("")
async def list_prompts(s: Services) -> pages.Inbox:
    """Every open question, those with tasks waiting behind them first, then by age."""
    found = await s.store.read(views.inbox)
    return pages.Inbox(items=[pages.InboxItem.of(i) for i in found], next=None)


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
    """Answers a question. The first answer wins; the form depends on the prompt's type."""
    return pages.Answered.of(await prompts.answer(s, prompt_id, form, actor, key=key))


@router.post("/{prompt_id}/accept")
async def accept_prompt(
    s: Services, actor: Caller, key: AnswerKey, prompt_id: str
) -> pages.Answered:
    """Answers a question with what was recommended."""
    return pages.Answered.of(await prompts.accept(s, prompt_id, actor, key=key))
