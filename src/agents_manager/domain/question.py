"""What a person is asked when a task comes to wait, which ways out a choice offers, and what an
answer sets going. Pure; opening and closing prompts is the flow's."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agents_manager.domain import form
from agents_manager.domain.event.happening import counted_as
from agents_manager.domain.guards import Fired
from agents_manager.domain.payload import NeedsInfo
from agents_manager.domain.pipeline import (
    Pipeline,
    PromptType,
    Status,
    Trigger,
    TriggerType,
)
from agents_manager.domain.prompt import (
    ADMIN,
    BudgetPayload,
    Choice,
    ChoicePayload,
    Decision,
    PermissionPayload,
)
from agents_manager.domain.registry import Registry
from agents_manager.domain.transition import Refused

REVIEWS = (PromptType.REVIEW, PromptType.DOCUMENT_REVIEW)
CAPS = frozenset({"max_iterations", "loop_backs_within"})
"""Guards that a grant lets begin anew."""
_SAYS_WHY = ("error", "reason", "message", "justification")
"""Fields of what agents end with."""
_FOR_ADMINS = (PromptType.CHOICE, PromptType.BUDGET)


@dataclass(frozen=True, slots=True)
class Ask:
    """What is going to be asked."""

    type: PromptType
    payload: Mapping[str, Any]
    expires_after_s: int | None
    roles: tuple[str, ...] = ()
    """Who may answer, besides admins."""


def question(
    pipeline: Pipeline,
    status_id: str,
    fired: Fired,
    registry: Registry,
    *,
    work: Callable[[], Mapping[str, Any] | None],
    document: Mapping[str, Any] | None,
    extra: Callable[[], Sequence[Choice]] = tuple,
) -> Ask | None:
    """What entering the status asks a person; None when there is nothing to ask."""
    status = pipeline.status(status_id)
    outcome = registry.outcomes.get(fired.trigger.outcome or "")
    kind = status.prompt.type if status.prompt else outcome.prompt if outcome else None
    match kind:
        case None:
            return None
        case PromptType.INFO_REQUEST if outcome and outcome.answer is not None:
            filled = form.asked(outcome.name, outcome.title, outcome.answer, fired.payload)
            payload = asdict(filled)
        case PromptType.INFO_REQUEST | PromptType.SPLIT_PROPOSAL:
            payload = fired.payload if outcome and outcome.prompt is kind else None
        case PromptType.REVIEW:
            payload = _with_review(work(), fired)
        case PromptType.DOCUMENT_REVIEW:
            payload = document
        case PromptType.CHOICE:
            offered = choices(pipeline, status_id, _why(fired), _evidence(fired))
            first, *others = offered.choices
            every = (first, *extra(), *others)
            payload = offered.model_copy(update={"choices": every}).model_dump()
        case PromptType.PERMISSION | PromptType.BUDGET:
            payload = None
    return asked(status, kind, payload) if payload is not None else None


def asked(status: Status, kind: PromptType, payload: Mapping[str, Any]) -> Ask:
    """The question as the status wants it asked: for how long, and whom."""
    wanted = status.prompt if status.prompt and status.prompt.type is kind else None
    roles = (wanted.roles if wanted else ()) or ((ADMIN,) if kind in _FOR_ADMINS else ())
    return Ask(kind, payload, wanted.expires_after if wanted else None, roles)


def choices(
    pipeline: Pipeline, status: str, reason: str, evidence: str, extra: Sequence[Choice] = ()
) -> ChoicePayload:
    """The moves by hand that the graph has here; never fewer than two ways."""
    moves = [
        Choice(id=t.id, label=t.title, action=f"transition:{t.id}")
        for t in pipeline.leaving(status)
        if t.trigger.type is TriggerType.MANUAL
    ]
    offered = [*extra, *moves]
    if len(offered) < 2:
        offered.append(Choice(id="stay", label="Leave it as it is", action="stay"))
    if len(offered) < 2:
        offered.insert(0, Choice(id="rerun", label="Run the agent again", action="rerun"))
    return ChoicePayload(reason=reason, evidence=evidence, choices=tuple(offered))


def ways_out(refused: Refused, *, rerun: bool) -> list[Choice]:
    """What a person may do about a refused move besides the moves of the graph."""
    ways: list[Choice] = []
    failed = [g.name for c in refused.candidates for g in c.checks if not g.passed]
    if not CAPS.isdisjoint(failed):
        ways.append(Choice(id="grant", label="Grant more rounds", action="grant"))
    if rerun:
        ways.append(Choice(id="rerun", label="Run the agent again", action="rerun"))
    return ways


def fired_by(
    type: PromptType,
    payload: Mapping[str, Any],
    response: Mapping[str, Any],
    prompt_id: str | None = None,
) -> Fired:
    """What the answer to a question sets going."""
    kind = TriggerType.REVIEW_SUBMITTED if type in REVIEWS else TriggerType.PROMPT_RESPONSE
    return Fired(
        trigger=Trigger(type=kind),
        payload=response,
        prompt_type=type,
        prompt_id=prompt_id,
        head_sha=payload.get("head_sha"),
    )


def summary(type: PromptType, payload: Mapping[str, Any]) -> str:
    """The question in one line."""
    match type:
        case PromptType.INFO_REQUEST if "questions" in payload:
            first, *others = NeedsInfo.model_validate(payload).questions
            more = f" (+{len(others)} more)" if others else ""
            return f"{first.question}{more}"
        case PromptType.INFO_REQUEST if form.is_form(payload):
            return form.Form(**payload).summary
        case PromptType.INFO_REQUEST:
            return str(payload["summary"])
        case PromptType.REVIEW:
            files = counted_as(payload["files"], "file")
            return f"Review the work (+{payload['additions']} -{payload['deletions']} in {files})."
        case PromptType.DOCUMENT_REVIEW:
            version = f" (version {payload['version']})" if payload.get("version") else ""
            return f"Review the document: {payload['title']}{version}."
        case PromptType.SPLIT_PROPOSAL:
            parts = counted_as(len(payload["proposed_phases"]), "phase")
            return f"Split the task into {parts}: {payload['reason']}"
        case PromptType.CHOICE:
            return str(payload["reason"])
        case PromptType.PERMISSION:
            wanted = PermissionPayload.model_validate(payload)
            return f"May the agent use {wanted.tool}? {wanted.action}"
        case PromptType.BUDGET:
            return f"{BudgetPayload.model_validate(payload).budget.sentence} Grant more, or stop?"


def _with_review(work: Mapping[str, Any] | None, fired: Fired) -> Mapping[str, Any] | None:
    """The work, and what the agent that reviewed it said."""
    review = agent_review(fired.trigger.outcome, fired.payload)
    return work if work is None or review is None else {**work, "review": review}


def agent_review(
    outcome: str | None, payload: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """A review by an agent in the form that one by a person has; None where it is none."""
    said = payload or {}
    match outcome:
        case Decision.APPROVED:
            return {"decision": outcome, "summary": said.get("comments"), "comments": []}
        case Decision.CHANGES_REQUESTED:
            return {"decision": outcome, **said}
        case _:
            return None


def _why(fired: Fired) -> str:
    payload = fired.payload or {}
    said = next((payload[name] for name in _SAYS_WHY if payload.get(name)), None)
    match fired.trigger.type:
        case TriggerType.AGENT_ERROR:
            return f"The agent failed: {said}"
        case TriggerType.AGENT_OUTCOME:
            return f"The agent ended with {fired.trigger.outcome}{f': {said}' if said else ''}"
        case _:
            return "Moved here by hand."


def _evidence(fired: Fired) -> str:
    payload = fired.payload or {}
    return str(payload.get("output") or "")
