"""Opening and closing prompts, inside the transaction of the move that needs them."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from agents_manager.domain import event
from agents_manager.domain import question as questions
from agents_manager.domain.document import documents
from agents_manager.domain.guards import Fired
from agents_manager.domain.ids import HistoryId, PromptId, RunId, TaskId
from agents_manager.domain.pipeline import Pipeline, PromptType
from agents_manager.domain.prompt import (
    ADMIN,
    Choice,
    Prompt,
    PromptStatus,
    ResumePoint,
    default_after_s,
)
from agents_manager.domain.question import Ask
from agents_manager.domain.registry import Registry
from agents_manager.domain.task import SYSTEM, ArtifactType, Task
from agents_manager.errors import InvalidConfig
from agents_manager.flow import facts, unreviewed
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.registries import registry_of


def question(
    tx: Tx, s: Services, task: Task, pipeline: Pipeline, to: str, fired: Fired
) -> Ask | None:
    """What entering the status asks a person; None when there is nothing to ask."""
    return questions.question(
        pipeline,
        to,
        fired,
        _registry(tx, s, task, fired),
        work=lambda: _work_to_review(tx, task),
        document=_document_to_review(tx, task),
        extra=lambda: unreviewed.choices(tx, task, pipeline),
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
    midway: bool = False,
) -> Prompt:
    """Opens the question in place of an older one of its kind. What is asked again, or of some
    people only, is never answered by itself: somebody is to look at it."""
    if not midway:
        close_replaced(tx, s, task.id, ask.type)
    now = s.clock.now()
    for_a_person = revision > 1 or ask.roles
    default_s = None if for_a_person else default_after_s(ask.type, ask.payload)
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
        roles=ask.roles,
        created_at=now,
        expires_at=_after(now, ask.expires_after_s),
        default_at=_after(now, default_s),
        reminders=0,
        reminded_at=None,
        response=None,
        responded_by=None,
        responded_via=None,
        responded_at=None,
        answer_key=None,
        undo=None,
        midway=midway,
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
    status = tx.pipelines.get(task.pipeline_id, task.pipeline_version).status(task.status)
    own = status.prompt.type if status.prompt else None
    asked = [p for p in tx.prompts.of_task(task.id) if p.history_id in here]
    waited = [p for p in asked if p.type is own or not p.beside]
    if waited:
        ask_again(tx, s, task, waited[-1], history_id, note)


def ask_again(
    tx: Tx, s: Services, task: Task, last: Prompt, history_id: HistoryId, note: str | None = None
) -> Prompt:
    """The same question as a new revision, about the work as it is now."""
    fresh = _work_to_review(tx, task) if last.type is PromptType.REVIEW else None
    if fresh and fresh["head_sha"] == last.payload["head_sha"] and "review" in last.payload:
        fresh = {**fresh, "review": last.payload["review"]}
    status = tx.pipelines.get(task.pipeline_id, task.pipeline_version).status(task.status)
    ask = questions.asked(status, last.type, fresh or last.payload)
    return open_prompt(
        tx,
        s,
        task,
        ask,
        history_id,
        last.resume,
        revision=last.revision + 1,
        note=note,
        midway=last.midway,
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
    """Puts the moves that are possible to an admin; replaces an older choice."""
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
    ask = Ask(PromptType.CHOICE, payload.model_dump(mode="json"), None, (ADMIN,))
    open_prompt(tx, s, task, ask, history_id, resume)


def close_flow_prompts(tx: Tx, s: Services, task_id: TaskId) -> None:
    """Whatever was asked in the status that is left needs no answer any more."""
    for prompt in tx.prompts.pending(task_id):
        close(tx, s, prompt, PromptStatus.CANCELLED)


def close_replaced(tx: Tx, s: Services, task_id: TaskId, kind: PromptType) -> None:
    """A newer question of its kind takes the place of an older one; permissions, and what agents
    ask in the middle of their runs, are asked one by one and stand beside each other."""
    for prompt in tx.prompts.pending(task_id):
        if prompt.type is kind and kind is not PromptType.PERMISSION and not prompt.midway:
            close(tx, s, prompt, PromptStatus.SUPERSEDED)


def close(tx: Tx, s: Services, prompt: Prompt, status: PromptStatus) -> None:
    if tx.prompts.close(prompt.id, status=status):
        ended = event.PromptEnded(prompt=prompt.id, status=status)
        tx.events.add(prompt.task_id, ended, SYSTEM, s.clock.now())


def summary(prompt: Prompt) -> str:
    """The question in one line."""
    return questions.summary(prompt.type, prompt.payload)


def _registry(tx: Tx, s: Services, task: Task, fired: Fired) -> Registry:
    """With the project's own outcomes if it is one of them; the files are read only then."""
    outcome = fired.trigger.outcome
    if outcome is None or outcome in s.registry.outcomes:
        return s.registry
    try:
        return registry_of(s, tx.projects.get(task.project_id))
    except InvalidConfig:  # Nothing can be asked now, and a person is told that.
        return s.registry


def _after(now: datetime, seconds: int | None) -> datetime | None:
    return now + timedelta(seconds=seconds) if seconds is not None else None


def _document_to_review(tx: Tx, task: Task) -> Mapping[str, Any] | None:
    written = documents(tx.tasks.artifacts(task.id, ArtifactType.DOCUMENT))
    if written:
        last = written[-1]
        return {
            "document": last.text,
            "title": last.name.capitalize(),
            "version": last.version,
            "artifact_id": last.artifact_id,
        }
    return {"document": task.plan, "title": "Plan", "artifact_id": None} if task.plan else None


def _work_to_review(tx: Tx, task: Task) -> Mapping[str, Any] | None:
    changes = tx.tasks.artifacts(task.id, ArtifactType.DIFF)
    return changes[-1].data if changes else None
