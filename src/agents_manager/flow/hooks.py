"""Performing effects, after the commit that stored them. Each handler looks before it leaps, and
writes what came of it in the transaction that marks the effect done."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from agents_manager.domain import effects, event
from agents_manager.domain.guards import Fired
from agents_manager.domain.ids import EffectId, RunId
from agents_manager.domain.payload import MergeTrouble
from agents_manager.domain.pipeline import Policy, Trigger, TriggerType
from agents_manager.domain.run import AgentError, ErrorClass, RunStatus
from agents_manager.domain.task import (
    OPEN_EFFECTS,
    SYSTEM,
    Actor,
    ActorType,
    ArtifactType,
    EffectRow,
    Project,
    PullState,
    Task,
)
from agents_manager.errors import AgentsManagerError, HookFailed
from agents_manager.flow import artifacts, branches, remedies, transitions
from agents_manager.flow.ports import Conflicted, Services, Steps, Tx
from agents_manager.flow.runs import close, lifecycle

MAX_ATTEMPTS = 3
BACKOFF_S = 1.0


async def perform(effect_id: EffectId, attempt: int, s: Services, steps: Steps) -> None:
    """Performs one effect; a failure becomes a later attempt or a failed effect. A workflow that
    is recovered after its attempt was given up has nothing to do any more."""
    row = await s.store.read(lambda tx: tx.effects.get(effect_id))
    if row.status not in OPEN_EFFECTS or row.attempt != attempt:
        return
    try:
        await _perform(row, s, steps)
    except AgentsManagerError as error:
        await failed(s, effect_id, attempt, error.message, retryable=error.retryable)


async def failed(
    s: Services, effect_id: EffectId, attempt: int, error: str, *, retryable: bool
) -> None:
    """Takes note of a failed attempt: another one follows, or the hook's policy decides."""

    def write(tx: Tx) -> None:
        row = tx.effects.get(effect_id)
        if row.status not in OPEN_EFFECTS or row.attempt != attempt:
            return
        now = s.clock.now()
        if retryable and row.attempt < MAX_ATTEMPTS:
            wait = timedelta(seconds=BACKOFF_S * 2 ** (row.attempt - 1))
            tx.effects.update(
                effect_id, status="pending", attempt=row.attempt + 1, due_at=now + wait, error=error
            )
            again = event.HookRetried(
                effect=row.id, hook=row.kind, attempt=row.attempt + 1, error=error
            )
            tx.events.add(row.task_id, again, SYSTEM, now)
            return
        tx.effects.update(effect_id, status="failed", error=error, finished_at=now)
        gave_up = event.HookFailed(effect=row.id, hook=row.kind, error=error)
        tx.events.add(row.task_id, gave_up, SYSTEM, now)
        if row.kind == "start_agent":
            trouble = AgentError(error=error, error_class=ErrorClass.ENVIRONMENT)
            close.fail(tx, s, RunId(row.payload["run_id"]), trouble)
        elif row.policy == Policy.REQUIRED:
            remedies.roll_back(tx, s, row, error)
        else:
            transitions.recheck(tx, s, row.task_id)

    await s.store.write(write)


async def _perform(row: EffectRow, s: Services, steps: Steps) -> None:
    effect = effects.EFFECT.validate_python(row.payload)
    match effect:
        case effects.StartAgent():
            await lifecycle.run(RunId(effect.run_id), s, steps)
        case effects.StopAgent():
            await steps.run("stop_agent", lambda: _stop_agent(row, effect, s))
        case effects.CreateTaskBranch():
            await steps.run("create_task_branch", lambda: _create_branch(row, s))
        case effects.PushAndCreatePr():
            await steps.run("push_and_create_pr", lambda: _publish(row, s))
        case effects.MergePr():
            await steps.run("merge_pr", lambda: _merge(row, effect, s))
        case effects.DeleteWorktree():
            await steps.run("delete_worktree", lambda: _delete_worktree(row, s))
        case effects.Notify():
            await steps.run("notify", lambda: _notify(row, effect, s))


async def _finish(
    s: Services,
    row: EffectRow,
    then: Callable[[Tx], None] | None = None,
    result: dict[str, Any] | None = None,
) -> None:
    """Marks the effect done, once, together with what came of it."""

    def write(tx: Tx) -> None:
        if tx.effects.get(row.id).status not in OPEN_EFFECTS:
            return
        tx.effects.update(row.id, status="done", result=result, finished_at=s.clock.now())
        if then is not None:
            then(tx)
        transitions.recheck(tx, s, row.task_id)

    await s.store.write(write)


async def _task_and_project(s: Services, row: EffectRow) -> tuple[Task, Project]:
    def read(tx: Tx) -> tuple[Task, Project]:
        task = tx.tasks.get(row.task_id)
        return task, tx.projects.get(task.project_id)

    return await s.store.read(read)


async def _create_branch(row: EffectRow, s: Services) -> None:
    task, project = await _task_and_project(s, row)
    branch = await branches.name(s, task, project)
    await s.workspaces.ensure_branch(Path(project.path), branch, project.base_branch)

    def then(tx: Tx) -> None:
        branches.keep(tx, s, task, project, branch)

    await _finish(s, row, then, {"branch": branch})


async def _publish(row: EffectRow, s: Services) -> None:
    task, project = await _task_and_project(s, row)
    branch = await branches.name(s, task, project)
    before = await s.store.read(lambda tx: tx.pulls.of_task(task.id))
    pull = await s.forge.publish(project, task, branch, task.description)

    def then(tx: Tx) -> None:
        now = s.clock.now()
        happened: event.Event
        if before is not None and before.id == pull.id and before.state is PullState.OPEN:
            happened = event.PullUpdated(number=pull.number, head_sha=pull.head_sha)
        else:
            happened = event.PullCreated(
                number=pull.number,
                head=pull.head_branch,
                base=pull.base_branch,
                head_sha=pull.head_sha,
            )
        tx.events.add(task.id, happened, SYSTEM, now)
        label = f"Pull request #{pull.number}"
        data = {"number": pull.number, "head_sha": pull.head_sha, "id": pull.id}
        kind, key = ArtifactType.PULL_REQUEST, str(pull.number)
        artifacts.keep(tx, s, task, kind, key, label, data)

    await _finish(s, row, then, {"number": pull.number})


async def _merge(row: EffectRow, effect: effects.MergePr, s: Services) -> None:
    task, project = await _task_and_project(s, row)
    pull = await s.store.read(lambda tx: tx.pulls.of_task(task.id))
    if pull is None:
        raise HookFailed(f'Task "{task.title}" has no pull request to merge.')
    try:
        result = await s.forge.merge(project, pull, effect.head_sha or pull.head_sha)
    except HookFailed:
        # The next review must look at the branch as it is now.
        await artifacts.refresh_change(s, task, project, pull.head_branch)
        await s.forge.publish(project, task, pull.head_branch, pull.body)
        raise

    def then(tx: Tx) -> None:
        now = s.clock.now()
        if isinstance(result, Conflicted):
            conflict = event.MergeConflicted(number=pull.number, files=result.files)
            tx.events.add(task.id, conflict, SYSTEM, now)
            trouble = MergeTrouble(message=result.message, files=result.files)
            outcome = Trigger(type=TriggerType.AGENT_OUTCOME, outcome="conflicts_detected")
            fired = Fired(trigger=outcome, payload=trouble.model_dump(mode="json"))
            transitions.report(tx, s, task.id, fired, SYSTEM)
            return
        tx.pulls.update(pull.id, now, state=PullState.MERGED, merge_sha=result.sha)
        merged = event.PullMerged(number=pull.number, merge_sha=result.sha)
        tx.events.add(task.id, merged, SYSTEM, now)

    await _finish(s, row, then)


async def _delete_worktree(row: EffectRow, s: Services) -> None:
    task, project = await _task_and_project(s, row)
    await s.workspaces.remove(Path(project.path), task.id)
    await _finish(s, row)


async def _notify(row: EffectRow, effect: effects.Notify, s: Services) -> None:
    task, _ = await _task_and_project(s, row)
    for channel in s.channels:
        await channel.send(effect.title, effect.body, task, row.id)
    await _finish(s, row, result={"channels": [c.name for c in s.channels]})


async def _stop_agent(row: EffectRow, effect: effects.StopAgent, s: Services) -> None:
    """Proves the run's processes gone, then ends the run and makes the move that waited."""
    run_id = RunId(effect.run_id)
    for turn in lifecycle.TURNS:
        await s.runners.stop(lifecycle.job_dir(s, run_id, turn))

    def then(tx: Tx) -> None:
        now = s.clock.now()
        run = tx.runs.get(run_id)
        if tx.effects.get(run.effect_id).status == "pending":
            tx.effects.update(run.effect_id, status="cancelled", finished_at=now)
        if run.status.live:
            tx.runs.update(run_id, status=RunStatus.CANCELLED, ended_at=now)
            tx.events.add(row.task_id, event.AgentCancelled(run=run_id), SYSTEM, now)
        # Read again: a move may have been ordered while the run was being stopped.
        order = effects.StopAgent.model_validate(tx.effects.get(row.id).payload)
        if order.then is None:
            remedies.after_stop(tx, s, row.task_id, f"{order.by} stopped the agent.")
            return
        manual = Trigger(type=TriggerType.MANUAL)
        fired = Fired(trigger=manual, transition_id=order.then)
        mover = Actor(type=ActorType.USER, name=order.by)
        transitions.report(tx, s, row.task_id, fired, mover, force=order.force, reason=order.reason)

    await _finish(s, row, then)
