"""Opening and closing prompts, inside the transaction of the move that needs them."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from agents_manager.domain import event
from agents_manager.domain import question as questions
from agents_manager.domain.guards import Fired
from agents_manager.domain.ids import HistoryId, PromptId, RunId, TaskId
from agents_manager.domain.pipeline import Pipeline, PromptType
from agents_manager.domain.prompt import Choice, Prompt, PromptStatus, ResumePoint
from agents_manager.domain.question import Ask
from agents_manager.domain.task import SYSTEM, ArtifactType, Task
from agents_manager.flow import facts
from agents_manager.flow.ports import Services, Tx


def question(
    tx: Tx, s: Services, task: Task, pipeline: Pipeline, to: str, fired: Fired
) -> Ask | None:
    """What entering the status asks a person; None when there is nothing to ask."""
    return questions.question(
        pipeline,
        to,
        fired,
        s.registry,
        work=lambda: _work_to_review(tx, task),
        document=_document_to_review(tx, task),
    )


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
    here = {h.id for h in facts.past(tx, task.id) if h.to == task.status}
    waited = [
        p
        for p in tx.prompts.of_task(task.id)
        if p.type is not PromptType.CHOICE and p.history_id in here
    ]
    if not waited:
        return
    last = waited[-1]
    fresh = _work_to_review(tx, task) if last.type is PromptType.REVIEW else None
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
    payload = questions.choices(pipeline, task.status, reason, evidence, extra)
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
    return questions.summary(prompt.type, prompt.payload)


def _document_to_review(tx: Tx, task: Task) -> Mapping[str, Any] | None:
    documents = tx.tasks.artifacts(task.id, ArtifactType.DOCUMENT)
    if documents:
        last = documents[-1]
        return {"document": last.data["text"], "title": last.label, "artifact_id": last.id}
    return {"document": task.plan, "title": "Plan", "artifact_id": None} if task.plan else None


def _work_to_review(tx: Tx, task: Task) -> Mapping[str, Any] | None:
    changes = tx.tasks.artifacts(task.id, ArtifactType.DIFF)
    return changes[-1].data if changes else None
