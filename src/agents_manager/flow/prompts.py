"""Answering: one function for every door. The first answer wins; prompt, event, transition and
effects are one transaction."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from agents_manager.domain import event, question
from agents_manager.domain.audit import Deed
from agents_manager.domain.effects import MirrorReview
from agents_manager.domain.guards import Fired
from agents_manager.domain.ids import EffectId, HistoryId, PromptId, TaskId
from agents_manager.domain.knowledge import Node
from agents_manager.domain.pipeline import PromptType, Trigger, TriggerType
from agents_manager.domain.prompt import (
    BudgetAnswer,
    ChoicePayload,
    Prompt,
    PromptStatus,
    Scope,
    in_words,
    recommended_answer,
    validate_answer,
)
from agents_manager.domain.task import LOCAL, SYSTEM, Actor, Project, Task
from agents_manager.domain.transition import Refused
from agents_manager.errors import (
    InvalidAnswer,
    PromptAlreadyAnswered,
    PromptClosed,
    PromptNotFound,
    TransitionRefused,
)
from agents_manager.flow import (
    asking,
    audit,
    branches,
    budgets,
    check_decisions,
    comments,
    edits,
    leaks,
    picking,
    planning,
    remedies,
    sharing,
    transitions,
    undoing,
    unmerged,
)
from agents_manager.flow.comments import Quotes
from agents_manager.flow.memory import care
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import handing_over, midway

BY_DEFAULT = SYSTEM.model_copy(update={"via": "default"})
"""Takes the answer that an agent suggested, after the time that it allowed for that."""
_PERMISSION = PromptType.PERMISSION


@dataclass(frozen=True, slots=True)
class Answered:
    prompt: Prompt
    task: Task
    repeated: bool
    """The same answer had been taken before under the same key."""
    decisions: tuple[Node, ...] = ()
    """As what the answer is kept, where that was wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beside:
    """What is known of an answer beside its words."""

    delay_s: float
    keep: bool
    lines: Quotes
    closing: Mapping[str, Any] | None
    """What the move says about unmerged commits."""


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
    delay_s: float = 0,
    keep: bool = False,
    consent: unmerged.Consent = unmerged.NONE,
) -> Answered:
    """Takes an answer, or says field by field what is wrong, or who was faster. For `delay_s`
    nothing that follows from it begins, and it can be taken back. With `keep` it is a decision that
    later agents are told, too."""
    undoing.check_delay(delay_s)
    beside = _Beside(
        delay_s=delay_s,
        keep=keep,
        lines=await _quotes(s, prompt_id, raw),
        closing=await unmerged.check_answer(s, prompt_id, raw, consent),
    )
    try:
        return await s.store.write(lambda tx: _answer(tx, s, prompt_id, raw, actor, key, beside))
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


async def accept(
    s: Services,
    prompt_id: str,
    actor: Actor,
    *,
    key: str | None = None,
    delay_s: float = 0,
    keep: bool = False,
) -> Answered:
    """Answers with what was recommended."""
    prompt = await s.store.read(lambda tx: tx.prompts.find(prompt_id))
    recommended = recommended_answer(prompt.type, prompt.payload)
    if recommended is None:
        raise InvalidAnswer(
            f"Prompt {prompt.id} has nothing recommended to accept; answer it in your own words."
        )
    return await answer(s, prompt.id, recommended, actor, key=key, delay_s=delay_s, keep=keep)


async def review(
    s: Services,
    task_id: str,
    raw: Mapping[str, Any],
    actor: Actor,
    *,
    key: str | None = None,
    delay_s: float = 0,
    keep: bool = False,
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
    return await answer(s, prompt.id, raw, actor, key=key, delay_s=delay_s, keep=keep)


async def _quotes(s: Services, prompt_id: str, raw: Mapping[str, Any]) -> Quotes:
    """Of a review of work: the lines that its comments are about."""
    if not raw.get("comments"):
        return {}

    def read(tx: Tx) -> tuple[Prompt, Project]:
        prompt = tx.prompts.find(prompt_id)
        return prompt, tx.projects.get(tx.tasks.get(prompt.task_id).project_id)

    prompt, project = await s.store.read(read)
    if prompt.type is not PromptType.REVIEW:
        return {}
    try:
        said = validate_answer(prompt.type, prompt.payload, raw)["comments"]
    except InvalidAnswer:  # Told where it would be taken.
        return {}
    return await comments.quotes(s, project, prompt.payload.get("head_sha"), said)


def _answer(
    tx: Tx,
    s: Services,
    prompt_id: str,
    raw: Mapping[str, Any],
    actor: Actor,
    key: str | None,
    beside: _Beside,
) -> Answered:
    prompt = tx.prompts.find(prompt_id)
    if actor != BY_DEFAULT:
        undoing.check_may_answer(prompt, actor)
    if prompt.status is not PromptStatus.PENDING:
        if key is not None and prompt.answer_key == key:
            return Answered(prompt, tx.tasks.get(prompt.task_id), repeated=True)
        raise _too_late(tx, prompt)
    now = s.clock.now()
    if prompt.expires_at is not None and prompt.expires_at <= now:
        raise _expired(prompt)
    response = validate_answer(prompt.type, prompt.payload, raw)
    at_once = prompt.type is _PERMISSION or prompt.resume.holds or prompt.midway
    held = undoing.before(tx, prompt) if beside.delay_s and not at_once else None
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
        raise _too_late(tx, tx.prompts.get(prompt.id))
    tx.events.add(prompt.task_id, _answered(tx, prompt, response, actor, beside.lines), actor, now)
    _follow(tx, s, prompt, response, actor, beside.closing)
    kept = tuple(care.decide(tx, s, tx.prompts.get(prompt.id), actor)) if beside.keep else ()
    if held is not None:
        new = [node.id for node in kept if _of_this_answer(node, prompt, now)]
        undoing.hold(tx, prompt, held, now + timedelta(seconds=beside.delay_s), new)
    task = tx.tasks.get(prompt.task_id)
    return Answered(tx.prompts.get(prompt.id), task, repeated=False, decisions=kept)


def _of_this_answer(decision: Node, prompt: Prompt, now: datetime) -> bool:
    """Whether nobody had decided it before."""
    tasks = {source.task_id for source in decision.sources}
    return decision.updated_at >= now and tasks == {prompt.task_id}


def _follow(
    tx: Tx,
    s: Services,
    prompt: Prompt,
    response: Mapping[str, Any],
    actor: Actor,
    closing: Mapping[str, Any] | None,
) -> None:
    """What the answer leads to."""
    if prompt.type is PromptType.BUDGET:
        budgets.answer(tx, s, prompt, BudgetAnswer.model_validate(response), actor)
    elif prompt.type is PromptType.CHOICE:
        _choose(tx, s, prompt, response, actor, closing)
    elif prompt.type is _PERMISSION:  # The run that asked for it is waiting, and goes on.
        _told_permission(tx, prompt, response, actor, s.clock.now())
    elif prompt.midway:
        midway.answered(tx, s, prompt, actor)
    elif not prompt.resume.holds:  # Else a run waits to begin, and is handed out after the commit.
        fired = question.fired_by(prompt.type, prompt.payload, response, prompt.id)
        _fire(tx, s, prompt, fired, actor)


def _told_permission(
    tx: Tx, prompt: Prompt, response: Mapping[str, Any], actor: Actor, now: datetime
) -> None:
    """One that holds for the project reaches beyond its task."""
    if response["scope"] != Scope.PROJECT:
        return
    deed = Deed.PERMISSION_GIVEN if response["allow"] else Deed.PERMISSION_REFUSED
    project = tx.projects.get(tx.tasks.get(prompt.task_id).project_id).name
    may = "may" if response["allow"] else "may not"
    tool, action = prompt.payload["tool"], prompt.payload["action"]
    summary = f'said that agents of project "{project}" {may} use {tool}: {action}'
    said = {"project": project, "tool": tool, "prompt": prompt.id}
    audit.note(tx, now, actor, deed, summary, **said)


def _mirror(tx: Tx, s: Services, prompt: Prompt, actor: Actor) -> None:
    """Has a review of a pull request that lives elsewhere shown there, where that is wanted."""
    task = tx.tasks.get(prompt.task_id)
    pull = branches.pull_from(tx, task, str(prompt.payload.get("branch")))
    if pull is None or pull.forge in (LOCAL, actor.via):
        return
    if s.configs.of(tx.projects.get(task.project_id)).forge.mirror_reviews:
        shown = MirrorReview(prompt_id=prompt.id)
        planning.beside(tx, s, task, shown, EffectId(f"{prompt.id}-mirror"))


def _fire(tx: Tx, s: Services, prompt: Prompt, fired: Fired, actor: Actor) -> None:
    result = transitions.apply(tx, s, prompt.task_id, fired, actor)
    if isinstance(result, Refused):
        raise _Refused(result, prompt, fired)
    if prompt.type is PromptType.REVIEW:
        _mirror(tx, s, prompt, actor)


_WAYS: Mapping[str, Callable[[Tx, Services, TaskId, Actor], object]] = {
    "grant": remedies.grant,
    "rerun": remedies.rerun,
    "afresh": sharing.afresh,
    "send_back": leaks.send_back,
}


def _choose(
    tx: Tx,
    s: Services,
    prompt: Prompt,
    response: Mapping[str, Any],
    actor: Actor,
    closing: Mapping[str, Any] | None,
) -> None:
    choices = ChoicePayload.model_validate(prompt.payload).choices
    chosen = next(c for c in choices if c.id == response["choice_id"])
    what, _, which = chosen.action.partition(":")
    match what:
        case "transition":
            manual = Trigger(type=TriggerType.MANUAL)
            fired = Fired(trigger=manual, transition_id=which, payload=closing)
            _fire(tx, s, prompt, fired, actor)
        case "redo" | "release":
            released = what == "release"
            entry = leaks.release(tx, s, prompt.task_id, which, actor) if released else which
            result = remedies.redo(tx, s, HistoryId(entry), actor)
            if isinstance(result, Refused):
                raise _Refused(result, prompt, transitions.AUTO)
        case "retry":
            effect = leaks.release(tx, s, prompt.task_id, which, actor)
            edits.retry(tx, s, tx.effects.get(EffectId(effect)), actor)
        case way if way in _WAYS:
            _WAYS[way](tx, s, prompt.task_id, actor)
        case "pick" | "race":
            picking.choose(tx, s, prompt, which, actor)
        case "recheck" | "skip_check" | "edit_check" | "fix_check":
            check_decisions.choose(tx, s, prompt, chosen.action, actor)
        case "hand_over":
            handing_over.order(tx, s, prompt, which)
        case "ask":
            last, task = tx.prompts.get(PromptId(which)), tx.tasks.get(prompt.task_id)
            asking.ask_again(tx, s, task, last, last.history_id)
        case _:
            assert what == "stay", what


def _answered(
    tx: Tx, prompt: Prompt, response: Mapping[str, Any], actor: Actor, lines: Quotes
) -> event.Event:
    via = actor.via or "api"
    if prompt.type in (PromptType.REVIEW, PromptType.DOCUMENT_REVIEW):
        said = tuple(response["comments"])
        if prompt.type is PromptType.REVIEW:
            said = comments.kept(tx, prompt.task_id, said, lines)
        return event.ReviewSubmitted(
            prompt=prompt.id,
            decision=response["decision"],
            by=actor.name,
            via=via,
            summary=response["summary"],
            comments=said,
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


def _too_late(tx: Tx, prompt: Prompt) -> PromptAlreadyAnswered | PromptClosed:
    match prompt.status:
        case PromptStatus.RESPONDED:
            return PromptAlreadyAnswered(_who_said_what(prompt))
        case PromptStatus.EXPIRED:
            return _expired(prompt)
        case PromptStatus.SUPERSEDED:
            return PromptClosed(f"Prompt {prompt.id} was superseded. {_newer(tx, prompt)}")
        case _:
            why = "the task went on another way"
            return PromptClosed(f"Prompt {prompt.id} was {prompt.status}; {why}.")


def _expired(prompt: Prompt) -> PromptClosed:
    assert prompt.expires_at is not None
    at = f"{prompt.expires_at:%Y-%m-%d %H:%M:%S} UTC"
    return PromptClosed(f"Prompt {prompt.id} expired at {at}, before anybody answered.")


def _newer(tx: Tx, prompt: Prompt) -> str:
    """What took its place, and what became of that."""
    newest = [p for p in tx.prompts.of_task(prompt.task_id) if p.type is prompt.type][-1]
    if newest.status is PromptStatus.PENDING:
        return f"Answer the newer question, {newest.id}, instead."
    if newest.status is PromptStatus.RESPONDED:
        return f"The newer one is {newest.id}: {_who_said_what(newest)}"
    return f"The newer one, {newest.id}, is {newest.status}."


def _who_said_what(prompt: Prompt) -> str:
    assert prompt.responded_at is not None
    return (
        f"{prompt.responded_by} answered this via {prompt.responded_via}"
        f" at {prompt.responded_at:%Y-%m-%d %H:%M:%S} UTC: {in_words(prompt.response or {})}."
    )
