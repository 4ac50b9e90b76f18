"""What a decision may look at, read in the transaction that decides."""

from collections.abc import Mapping, Sequence
from typing import Any

from agents_manager.domain import dependency, names, trail
from agents_manager.domain.guards import Facts, Fired
from agents_manager.domain.ids import TaskId
from agents_manager.domain.knowledge import ActiveBlocker
from agents_manager.domain.phase import active
from agents_manager.domain.pipeline import Pipeline, TriggerType
from agents_manager.domain.prompt import ResumePoint
from agents_manager.domain.question import REVIEWS
from agents_manager.domain.run import Run
from agents_manager.domain.task import Actor, ArtifactType, History, PullState, Task
from agents_manager.flow import agents, closing, races, stages
from agents_manager.flow.ports import Services, Tx

BLOCKER_SHOWN = 200


def gather(tx: Tx, s: Services, task: Task, fired: Fired, actor: Actor) -> Facts:
    runs = tx.runs.of_task(task.id)
    live = next((r for r in runs if r.status.live), None)
    artifacts = tx.tasks.artifacts(task.id)
    branches = [a.label for a in artifacts if a.type is ArtifactType.BRANCH]
    changes = [a.data for a in artifacts if a.type is ArtifactType.DIFF]
    change: Mapping[str, Any] = changes[-1] if changes else {}
    phases = tuple(tx.phases.of_task(task.id))
    current = active(phases)
    phase_branch = (
        names.phase_branch(branches[0], current.number, current.name)
        if branches and current
        else None
    )
    standing = [p for p in tx.pulls.all_of_task(task.id) if p.state is not PullState.CLOSED]
    pulls = {p.head_branch: p for p in standing} if phases else {}
    costs = [r.cost_usd for r in runs if r.started_at]
    known = [c for c in costs if c is not None]
    entries = past(tx, task.id)
    return Facts(
        fired=fired,
        plan=task.plan,
        branch=branches[0] if branches else None,
        pull=tx.pulls.of_task(task.id),
        phases=phases,
        phase_pull=pulls.get(phase_branch or ""),
        final_pull=pulls.get(branches[0]) if branches else None,
        head_sha=change.get("head_sha"),
        checks_passed=change.get("checks_passed"),
        documents=any(a.type is ArtifactType.DOCUMENT for a in artifacts),
        live_run=live.id if live else None,
        unresolved=tuple(f'"{other.title}"' for other in unresolved(tx, task)),
        blockers=tuple(blocked_by(tx, task)),
        rounds=trail.rounds(entries),
        review=_review(tx, task, entries, fired),
        agent_reviews=_agent_reviews(tx, s, task),
        spent_usd=sum(known) if len(known) == len(costs) else None,
        admin=actor.admin,
        files=int(change.get("files", 0)),
        confirms_spec=_confirms_spec(tx, s, task),
        stages=stages.facts(tx, task, fired),
    )


def origin_of(tx: Tx, task: Task, pipeline: Pipeline) -> str | None:
    """The last active status the task was in."""
    return trail.origin(pipeline, task.status, past(tx, task.id))


def past(tx: Tx, task_id: TaskId) -> list[History]:
    """The task's history under the names of the version it is on now."""
    return trail.as_named_now(tx.history.of_task(task_id))


def resume_point(
    tx: Tx, task: Task, fired: Fired, origin: str | None, run: str | None = None
) -> ResumePoint:
    """From the prompt that was answered, else from the run that speaks, or the task's last."""
    if fired.prompt_id is not None:
        for prompt in tx.prompts.of_task(task.id):
            if prompt.id == fired.prompt_id:
                return prompt.resume
    runs: list[Run] = tx.runs.of_task(task.id)
    last = next((r for r in runs if r.id == run), None) or races.author(tx, runs)
    return ResumePoint(
        status=origin or task.status,
        mode=last.mode if last else None,
        agent=last.agent if last else None,
        session=last.session if last else None,
        run=last.id if last else None,
    )


def unresolved(tx: Tx, task: Task) -> list[Task]:
    """The tasks it depends on that are not finished."""
    others = [tx.tasks.get(TaskId(other)) for other in task.dependencies]
    return [o for o in others if not _pipeline(tx, o).is_final(o.status)]


def readiness(tx: Tx, task: Task) -> dependency.Readiness:
    """What keeps the task from being started automatically."""
    others = [tx.tasks.get(TaskId(other)) for other in task.dependencies]
    return dependency.readiness(
        (dependency.of_task(other, _pipeline(tx, other)) for other in others), blocked_by(tx, task)
    )


def blocked_by(tx: Tx, task: Task) -> list[str]:
    """What is in its way, who told it, and the way out."""
    return [_blocked(tx, blocker) for blocker in tx.knowledge.blocking(task.id)]


def _blocked(tx: Tx, blocker: ActiveBlocker) -> str:
    title = tx.tasks.get(blocker.task_id).title
    text = names.visible(blocker.blocker, BLOCKER_SHOWN)
    resolve = f"am knowledge resolve {blocker.id[:8]}."
    if blocker.impact == closing.IMPACT:
        return f'It depends on "{title}". {text}. To start without that work: {resolve}'
    return (
        f'It is blocked: "{text}", as an agent told at "{title}". When that is out of the way,'
        f" resolve it: {resolve}"
    )


def _pipeline(tx: Tx, task: Task) -> Pipeline:
    return tx.pipelines.get(task.pipeline_id, task.pipeline_version)


def _agent_reviews(tx: Tx, s: Services, task: Task) -> bool:
    if not _guarded(tx, task, "agent_reviews"):
        return False
    return agents.reviewer(s, tx.projects.get(task.project_id)) is not None


def _confirms_spec(tx: Tx, s: Services, task: Task) -> bool:
    if not _guarded(tx, task, "confirms_spec"):
        return False
    return agents.confirms_spec(s, tx.projects.get(task.project_id))


def _guarded(tx: Tx, task: Task, name: str) -> bool:
    """Settings are looked up only where they are asked for, as it means reading files."""
    leaving = _pipeline(tx, task).leaving(task.status)
    return any(guard.type == name for t in leaving for guard in t.guards)


def _review(
    tx: Tx, task: Task, entries: Sequence[History], fired: Fired
) -> Mapping[str, Any] | None:
    """The review that is the trigger, else the one that brought the task to where it stands."""
    if fired.trigger.type is TriggerType.REVIEW_SUBMITTED and fired.payload is not None:
        return {**fired.payload, "head_sha": fired.head_sha}
    came = trail.arrival(entries, task.status)
    if came is None or not trail.by_review(came):
        return None
    answered = [p for p in tx.prompts.of_task(task.id) if p.type in REVIEWS and p.response]
    seen = answered[-1].payload.get("head_sha") if answered else None
    return {**(came.payload or {}), "head_sha": seen}
