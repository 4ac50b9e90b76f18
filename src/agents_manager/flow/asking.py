"""Opening and closing prompts, inside the transaction of the move that needs them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from agents_manager.domain import event
from agents_manager.domain.guards import Fired
from agents_manager.domain.ids import HistoryId, PromptId, RunId, TaskId
from agents_manager.domain.payload import NeedsInfo
from agents_manager.domain.pipeline import Pipeline, PromptType, TriggerType
from agents_manager.domain.prompt import Choice, ChoicePayload, Prompt, PromptStatus, ResumePoint
from agents_manager.domain.task import SYSTEM, ArtifactType, Task
from agents_manager.domain.transition import Moved
from agents_manager.flow.ports import Services, Tx


@dataclass(frozen=True, slots=True)
class Ask:
    """What is going to be asked."""

    type: PromptType
    payload: Mapping[str, Any]
    expires_after_s: int | None


def question(
    tx: Tx, s: Services, task: Task, pipeline: Pipeline, decision: Moved, fired: Fired
) -> Ask | None:
    """What entering the status asks a person; None when there is nothing to ask."""
    status = pipeline.status(decision.to)
    outcome = s.registry.outcomes.get(fired.trigger.outcome or "")
    kind = status.prompt.type if status.prompt else outcome.prompt if outcome else None
    expires = status.prompt.expires_after if status.prompt else None
    match kind:
        case None:
            return None
        case PromptType.INFO_REQUEST:
            payload = fired.payload if outcome and outcome.prompt is kind else None
        case PromptType.REVIEW:
            payload = _work_to_review(tx, task, fired)
        case PromptType.DOCUMENT_REVIEW:
            payload = {"document": task.plan, "title": "Plan"} if task.plan else None
        case PromptType.CHOICE:
            reason = _why(fired)
            payload = _choices(pipeline, decision.to, reason, _evidence(fired), []).model_dump()
    return Ask(kind, payload, expires) if payload is not None else None


def open_prompt(
    tx: Tx,
    s: Services,
    task: Task,
    ask: Ask,
    history_id: HistoryId,
    resume: ResumePoint,
    *,
    revision: int = 1,
    note: str | None = None,
) -> Prompt:
    now = s.clock.now()
    expires = now + timedelta(seconds=ask.expires_after_s) if ask.expires_after_s else None
    prompt = Prompt(
        id=PromptId(s.ids.new()),
        task_id=task.id,
        run_id=RunId(resume.run) if resume.run else None,
        history_id=history_id,
        type=ask.type,
        payload=ask.payload,
        note=note,
        revision=revision,
        status=PromptStatus.PENDING,
        resume=resume,
        created_at=now,
        expires_at=expires,
        response=None,
        responded_by=None,
        responded_via=None,
        responded_at=None,
        answer_key=None,
    )
    tx.prompts.add(prompt)
    created = event.PromptCreated(
        prompt=prompt.id,
        prompt_type=prompt.type,
        revision=revision,
        summary=summary(prompt),
    )
    tx.events.add(task.id, created, SYSTEM, now)
    return prompt


def reopen(tx: Tx, s: Services, task: Task, history_id: HistoryId, note: str) -> None:
    """Asks again what was asked when the task last waited here, and says what failed."""
    waited = [p for p in tx.prompts.of_task(task.id) if _asked_in(tx, p, task.status)]
    if not waited:
        return
    last = waited[-1]
    fresh = _work_to_review(tx, task, None) if last.type is PromptType.REVIEW else None
    open_prompt(
        tx,
        s,
        task,
        Ask(last.type, fresh or last.payload, None),
        history_id,
        last.resume,
        revision=last.revision + 1,
        note=note,
    )


def open_choice(
    tx: Tx,
    s: Services,
    task: Task,
    pipeline: Pipeline,
    history_id: HistoryId,
    reason: str,
    *,
    evidence: str = "",
    extra: Sequence[Choice] = (),
) -> None:
    """Puts the moves that are possible to a person; replaces an older choice."""
    for prompt in tx.prompts.pending(task.id):
        if prompt.type is PromptType.CHOICE:
            close(tx, s, prompt, PromptStatus.SUPERSEDED)
    payload = _choices(pipeline, task.status, reason, evidence, extra)
    runs = tx.runs.of_task(task.id)
    last = runs[-1] if runs else None
    resume = ResumePoint(
        status=task.status,
        mode=last.mode if last else None,
        agent=last.agent if last else None,
        session=last.session if last else None,
        run=last.id if last else None,
    )
    ask = Ask(PromptType.CHOICE, payload.model_dump(mode="json"), None)
    open_prompt(tx, s, task, ask, history_id, resume)


def close_flow_prompts(tx: Tx, s: Services, task_id: TaskId) -> None:
    """Whatever was asked in the status that is left needs no answer any more."""
    for prompt in tx.prompts.pending(task_id):
        close(tx, s, prompt, PromptStatus.CANCELLED)


def close(tx: Tx, s: Services, prompt: Prompt, status: PromptStatus) -> None:
    if tx.prompts.close(prompt.id, status=status):
        ended = event.PromptEnded(prompt=prompt.id, status=status)
        tx.events.add(prompt.task_id, ended, SYSTEM, s.clock.now())


def summary(prompt: Prompt) -> str:
    """The question in one line."""
    payload = prompt.payload
    match prompt.type:
        case PromptType.INFO_REQUEST if "questions" in payload:
            first, *others = NeedsInfo.model_validate(payload).questions
            more = f" (+{len(others)} more)" if others else ""
            return f"{first.question}{more}"
        case PromptType.INFO_REQUEST:
            return str(payload["summary"])
        case PromptType.REVIEW:
            files = event.counted_as(payload["files"], "file")
            return f"Review the work (+{payload['additions']} -{payload['deletions']} in {files})."
        case PromptType.DOCUMENT_REVIEW:
            return f"Review the document: {payload['title']}."
        case PromptType.CHOICE:
            return str(payload["reason"])


def _asked_in(tx: Tx, prompt: Prompt, status: str) -> bool:
    return prompt.type is not PromptType.CHOICE and tx.history.get(prompt.history_id).to == status


def _work_to_review(tx: Tx, task: Task, fired: Fired | None) -> Mapping[str, Any] | None:
    changes = tx.tasks.artifacts(task.id, ArtifactType.DIFF)
    if not changes:
        return None
    work = dict(changes[-1].data)
    if fired is not None and fired.payload is not None:
        work["review"] = dict(fired.payload)
    return work


def _choices(
    pipeline: Pipeline, status: str, reason: str, evidence: str, extra: Sequence[Choice]
) -> ChoicePayload:
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


def _why(fired: Fired) -> str:
    payload = fired.payload or {}
    said = payload.get("error") or payload.get("reason") or payload.get("message")
    match fired.trigger.type:
        case TriggerType.AGENT_ERROR:
            return f"The agent failed: {said}"
        case TriggerType.AGENT_OUTCOME:
            return f"The agent ended with {fired.trigger.outcome}{f': {said}' if said else ''}"
        case _:
            return "Moved here by hand."


def _evidence(fired: Fired) -> str:
    payload = fired.payload or {}
    return str(payload.get("output") or payload.get("error_class") or "")
