"""Answering: one function for every door. The first answer wins; prompt, event, transition and
effects are one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents_manager.domain import event, question
from agents_manager.domain.guards import Fired
from agents_manager.domain.ids import HistoryId
from agents_manager.domain.pipeline import PromptType, Trigger, TriggerType
from agents_manager.domain.prompt import (
    ChoicePayload,
    Prompt,
    PromptStatus,
    recommended_answer,
    validate_answer,
)
from agents_manager.domain.task import Actor, Task
from agents_manager.domain.transition import Refused
from agents_manager.errors import (
    InvalidAnswer,
    PromptAlreadyAnswered,
    PromptClosed,
    PromptNotFound,
    TransitionRefused,
)
from agents_manager.flow import remedies, transitions
from agents_manager.flow.ports import Services, Tx


@dataclass(frozen=True, slots=True)
class Answered:
    prompt: Prompt
    task: Task
    repeated: bool
    """The same answer had been taken before under the same key."""


class _Refused(Exception):
    """Leaves the transaction, so that nothing of a refused answer stays."""

    def __init__(self, refused: Refused, prompt: Prompt, fired: Fired) -> None:
        super().__init__()
        self.refused = refused
        self.prompt = prompt
        self.fired = fired


async def answer(
    s: Services,
    prompt_id: str,
    raw: Mapping[str, Any],
    actor: Actor,
    *,
    key: str | None = None,
) -> Answered:
    """Takes an answer, or says field by field what is wrong, or who was faster."""
    try:
        return await s.store.write(lambda tx: _answer(tx, s, prompt_id, raw, actor, key))
    except _Refused as error:
        prompt, refused, fired = error.prompt, error.refused, error.fired
        await s.store.write(
            lambda tx: transitions.refuse(
                tx, s, tx.tasks.get(prompt.task_id), refused, fired, actor
            )
        )
        raise TransitionRefused(
            "The answer fits, but the pipeline refuses the move now; the question stays open.",
            refused.reasons,
        ) from None


async def accept(s: Services, prompt_id: str, actor: Actor, *, key: str | None = None) -> Answered:
    """Answers with what was recommended."""
    prompt = await s.store.read(lambda tx: tx.prompts.find(prompt_id))
    recommended = recommended_answer(prompt.type, prompt.payload)
    if recommended is None:
        raise InvalidAnswer(
            f"Prompt {prompt.id} has nothing recommended to accept; answer it in your own words."
        )
    return await answer(s, prompt.id, recommended, actor, key=key)


async def review(
    s: Services, task_id: str, raw: Mapping[str, Any], actor: Actor, *, key: str | None = None
) -> Answered:
    """Answers the review that a task waits for."""

    def find(tx: Tx) -> Prompt:
        task = tx.tasks.find(task_id)
        for prompt in tx.prompts.of_task(task.id):
            if key is not None and prompt.answer_key == key:
                return prompt
        for prompt in tx.prompts.pending(task.id):
            if prompt.type in (PromptType.REVIEW, PromptType.DOCUMENT_REVIEW):
                return prompt
        raise PromptNotFound(f'Task "{task.title}" ({task.status}) does not wait for a review now.')

    prompt = await s.store.read(find)
    return await answer(s, prompt.id, raw, actor, key=key)


def _answer(
    tx: Tx,
    s: Services,
    prompt_id: str,
    raw: Mapping[str, Any],
    actor: Actor,
    key: str | None,
) -> Answered:
    prompt = tx.prompts.find(prompt_id)
    if prompt.status is not PromptStatus.PENDING:
        if key is not None and prompt.answer_key == key:
            return Answered(prompt, tx.tasks.get(prompt.task_id), repeated=True)
        raise _too_late(prompt)
    now = s.clock.now()
    if prompt.expires_at is not None and prompt.expires_at <= now:
        raise PromptClosed(f"Prompt {prompt.id} expired at {prompt.expires_at:%Y-%m-%d %H:%M} UTC.")
    response = validate_answer(prompt.type, prompt.payload, raw)
    won = tx.prompts.close(
        prompt.id,
        status=PromptStatus.RESPONDED,
        response=response,
        responded_by=actor.name,
        responded_via=actor.via or "api",
        responded_at=now,
        answer_key=key,
    )
    if not won:
        raise _too_late(tx.prompts.get(prompt.id))
    tx.events.add(prompt.task_id, _answered(prompt, response, actor), actor, now)
    if prompt.type is PromptType.CHOICE:
        _choose(tx, s, prompt, response, actor)
    else:
        fired = question.fired_by(prompt.type, prompt.payload, response, prompt.id)
        _fire(tx, s, prompt, fired, actor)
    return Answered(tx.prompts.get(prompt.id), tx.tasks.get(prompt.task_id), repeated=False)


def _fire(tx: Tx, s: Services, prompt: Prompt, fired: Fired, actor: Actor) -> None:
    result = transitions.apply(tx, s, prompt.task_id, fired, actor)
    if isinstance(result, Refused):
        raise _Refused(result, prompt, fired)


def _choose(tx: Tx, s: Services, prompt: Prompt, response: Mapping[str, Any], actor: Actor) -> None:
    choices = ChoicePayload.model_validate(prompt.payload).choices
    chosen = next(c for c in choices if c.id == response["choice_id"])
    what, _, which = chosen.action.partition(":")
    match what:
        case "transition":
            manual = Trigger(type=TriggerType.MANUAL)
            _fire(tx, s, prompt, Fired(trigger=manual, transition_id=which), actor)
        case "redo":
            result = remedies.redo(tx, s, HistoryId(which), actor)
            if isinstance(result, Refused):
                raise _Refused(result, prompt, transitions.AUTO)
        case "grant":
            remedies.grant(tx, s, prompt.task_id, actor)
        case "rerun":
            remedies.rerun(tx, s, prompt.task_id, actor)
        case _:
            assert what == "stay", what


def _answered(prompt: Prompt, response: Mapping[str, Any], actor: Actor) -> event.Event:
    via = actor.via or "api"
    if prompt.type in (PromptType.REVIEW, PromptType.DOCUMENT_REVIEW):
        return event.ReviewSubmitted(
            prompt=prompt.id,
            decision=response["decision"],
            by=actor.name,
            via=via,
            summary=response["summary"],
            comments=tuple(response["comments"]),
            head_sha=prompt.payload.get("head_sha"),
        )
    if prompt.type is PromptType.SPLIT_PROPOSAL:
        return _split_decided(prompt, response, actor)
    return event.PromptAnswered(prompt=prompt.id, by=actor.name, via=via, response=response)


def _split_decided(prompt: Prompt, response: Mapping[str, Any], actor: Actor) -> event.Event:
    if response["decision"] == "rejected":
        return event.SplitRejected(prompt=prompt.id, by=actor.name, reason=response["reason"])
    names = tuple(p["name"] for p in response["phases"])
    return event.SplitApproved(prompt=prompt.id, by=actor.name, phases=names)


def _too_late(prompt: Prompt) -> PromptAlreadyAnswered | PromptClosed:
    if prompt.status is PromptStatus.RESPONDED:
        assert prompt.responded_at is not None
        return PromptAlreadyAnswered(
            f"{prompt.responded_by} answered this via {prompt.responded_via}"
            f" at {prompt.responded_at:%Y-%m-%d %H:%M:%S} UTC: {_said(prompt.response or {})}."
        )
    return PromptClosed(f"Prompt {prompt.id} was {prompt.status}; the task went on another way.")


def _said(response: Mapping[str, Any]) -> str:
    if "decision" in response:
        return str(response["decision"])
    if "answers" in response:
        return "; ".join(str(a["option"] or a["text"]) for a in response["answers"])
    return str(response.get("option_id") or response.get("choice_id") or response.get("text"))
