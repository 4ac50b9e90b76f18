"""What a decision may look at, read in the transaction that decides."""

from collections.abc import Mapping
from typing import Any

from agents_manager.domain.guards import Facts, Fired
from agents_manager.domain.ids import TaskId
from agents_manager.domain.pipeline import Pipeline, PromptType, TriggerType
from agents_manager.domain.prompt import ResumePoint
from agents_manager.domain.run import Run
from agents_manager.domain.task import Actor, ArtifactType, History, Result, Task
from agents_manager.flow.ports import Tx

RETRY = "retry"
"""The trigger of a run that was started again where it stood."""
_UNCOUNTED = frozenset({TriggerType.PROMPT_RESPONSE, TriggerType.AGENT_ERROR, RETRY})


def gather(tx: Tx, task: Task, fired: Fired, actor: Actor) -> Facts:
    runs = tx.runs.of_task(task.id)
    live = next((r for r in runs if r.status.live), None)
    branches = tx.tasks.artifacts(task.id, ArtifactType.BRANCH)
    changes = tx.tasks.artifacts(task.id, ArtifactType.DIFF)
    costs = [r.usage.cost_usd if r.usage else None for r in runs if r.started_at]
    known = [c for c in costs if c is not None]
    return Facts(
        fired=fired,
        plan=task.plan,
        branch=branches[-1].label if branches else None,
        pull=tx.pulls.of_task(task.id),
        head_sha=changes[-1].data["head_sha"] if changes else None,
        live_run=live.id if live else None,
        unresolved=tuple(f'"{other.title}"' for other in unresolved(tx, task)),
        rounds=_rounds(tx.history.of_task(task.id)),
        review=_review(tx, task, fired),
        spent_usd=sum(known) if len(known) == len(costs) else None,
        admin=actor.admin,
    )


def origin_of(tx: Tx, task: Task, pipeline: Pipeline) -> str | None:
    """The last active status the task was in."""
    if pipeline.is_active(task.status):
        return task.status
    for entry in reversed(tx.history.of_task(task.id)):
        if entry.result is not Result.REFUSED and pipeline.is_active(entry.source):
            return entry.source
    return None


def resume_point(tx: Tx, task: Task, fired: Fired, origin: str | None) -> ResumePoint:
    """From the prompt that was answered, else from the task's last run."""
    if fired.prompt_id is not None:
        for prompt in tx.prompts.of_task(task.id):
            if prompt.id == fired.prompt_id:
                return prompt.resume
    runs: list[Run] = tx.runs.of_task(task.id)
    last = runs[-1] if runs else None
    return ResumePoint(
        status=origin or task.status,
        mode=last.mode if last else None,
        agent=last.agent if last else None,
        session=last.session if last else None,
        run=last.id if last else None,
    )


def _rounds(entries: list[History]) -> Mapping[str, int]:
    """Counted moves into each status since the last grant; the very first is no repetition. A
    move that was taken back does not count, nor does the way out of a failure."""
    counts: dict[str, int] = {}
    granted = False
    failed = False
    for entry in entries:
        if entry.result is Result.GRANTED:
            counts, granted = {}, True
        elif entry.result is Result.ROLLED_BACK:
            counts[entry.source] = counts.get(entry.source, 0) - 1
        elif entry.result is Result.DONE:
            if entry.trigger not in _UNCOUNTED and not failed:
                counts[entry.to] = counts.get(entry.to, 0) + 1
            failed = entry.trigger == TriggerType.AGENT_ERROR
    return counts if granted else {status: n - 1 for status, n in counts.items()}


def unresolved(tx: Tx, task: Task) -> list[Task]:
    """The tasks it depends on that are not finished."""
    others = [tx.tasks.get(TaskId(other)) for other in task.dependencies]
    return [o for o in others if not _pipeline(tx, o).is_final(o.status)]


def _pipeline(tx: Tx, task: Task) -> Pipeline:
    return tx.pipelines.get(task.pipeline_id, task.pipeline_version)


def _review(tx: Tx, task: Task, fired: Fired) -> Mapping[str, Any] | None:
    if fired.trigger.type is TriggerType.REVIEW_SUBMITTED and fired.payload is not None:
        return {**fired.payload, "head_sha": fired.head_sha}
    moves = [h for h in tx.history.of_task(task.id) if h.result is not Result.REFUSED]
    entered = next((h.id for h in reversed(moves) if h.to == task.status), None)
    for prompt in reversed(tx.prompts.of_task(task.id)):
        reviewed = prompt.type in (PromptType.REVIEW, PromptType.DOCUMENT_REVIEW)
        if reviewed and prompt.response and prompt.history_id == entered:
            return {**prompt.response, "head_sha": prompt.payload.get("head_sha")}
    return None
