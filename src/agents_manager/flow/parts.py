"""The end of what was done side by side: when the last of a group has ended, its work is put
together in order, and the task goes on once, with what the group came to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_manager.domain import effects, event, names, parts
from agents_manager.domain.effects import JoinParts, SettleRace
from agents_manager.domain.event import Event
from agents_manager.domain.event.workspaces import WorkspaceEvent, WorkspaceRemoved
from agents_manager.domain.guards import Fired
from agents_manager.domain.ids import EffectId, RunId
from agents_manager.domain.pipeline import Policy, Trigger, TriggerType
from agents_manager.domain.run import ErrorClass, Run, RunStatus
from agents_manager.domain.stages.table import BY_OUTCOME
from agents_manager.domain.task import SYSTEM, Actor, ActorType, EffectRow, Project, Task
from agents_manager.domain.trail import went_on
from agents_manager.errors import HookFailed
from agents_manager.flow import (
    artifacts,
    branches,
    budgets,
    loop_backs,
    planning,
    races,
    remedies,
    sharing,
    snapshots,
    stages,
    starting,
    teardown,
    transitions,
)
from agents_manager.flow.branches import Ground
from agents_manager.flow.ports import Conflicted, Services, Tx
from agents_manager.flow.settling import finish, task_and_project

STOPPED = "An agent of several that worked side by side was stopped."
UNMERGED = "What was done side by side cannot be put together."


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmerged:
    """What could not be put together with the rest."""

    run: Run
    files: tuple[str, ...]
    reason: str


def ended(tx: Tx, s: Services, run: Run) -> None:
    """A run of a group has ended; nothing follows until all have."""
    effect_id = EffectId(f"{run.id}-join")
    if tx.runs.live(run.task_id) or planning.was_told(tx, effect_id):
        return
    task, entry = tx.tasks.get(run.task_id), tx.history.of_task(run.task_id)[-1]
    race, position = races.last(tx, run.task_id), len(entry.hooks)
    effect = SettleRace(run_id=run.id) if race and race.has(run) else JoinParts(run_id=run.id)
    planning.add(tx, s, task, effect, effect_id, entry.id, position, Policy.REQUIRED)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    members: Sequence[Run]
    done: Sequence[Run]
    """Those whose work is put together."""
    whole: Ground
    """Where it is put together."""
    over: bool
    """Whether the task has ended in the meantime."""


def _group(tx: Tx, s: Services, effect: JoinParts, task: Task, project: Project) -> _Group:
    run = tx.runs.get(RunId(effect.run_id))
    members = parts.beside(tx.runs.of_task(task.id), run)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    return _Group(
        members=members,
        done=[one for one in members if one.branch and parts.finished(one, starting.asking(s))],
        whole=branches.whole_of(tx, s, run, task, project),
        over=pipeline.is_final(task.status),
    )


async def join(row: EffectRow, effect: JoinParts, s: Services) -> None:
    task, project = await task_and_project(s, row)
    group = await s.store.read(lambda tx: _group(tx, s, effect, task, project))
    made = [Ground(run.branch, group.whole.branch, "") for run in group.done if run.branch]
    fetched = await sharing.ready(s, task, project, [group.whole, *made])
    if group.over:
        left = tuple(run.branch for run in group.members if run.branch)
        await finish(s, row, lambda tx: _add(tx, s, task, [event.PartsLeft(branches=left)]))
        return
    happened: list[Event] = [*fetched]
    unmerged: list[Unmerged] = []
    for run in group.done:
        result = await _merged(s, task, project, group.whole.branch, run)
        happened.append(_told(group, run, result))
        if isinstance(result, Conflicted):
            unmerged.append(Unmerged(run=run, files=result.files, reason=result.message))
    for run in group.done:
        happened += await cleared(s, task, project, run)
    happened = await snapshots.with_untold(s, task, project, happened)
    await artifacts.refresh_change(s, task, project, group.whole.branch, group.whole.base)
    await sharing.share(s, task, project, [group.whole])
    await finish(s, row, lambda tx: _go_on(tx, s, row, effect, happened, unmerged))


async def _merged(
    s: Services, task: Task, project: Project, branch: str, run: Run
) -> str | Conflicted:
    """What lies in the way in the task's own workspace, where nobody works now, is saved."""
    assert run.branch is not None
    repo, message = Path(project.path), names.one_line(f"Put {run.branch} into {branch}")
    try:
        return await s.workspaces.join(repo, branch, run.branch, message)
    except HookFailed:
        await s.workspaces.remove(repo, task.id)
        return await s.workspaces.join(repo, branch, run.branch, message)


def _told(group: _Group, run: Run, result: str | Conflicted) -> Event:
    branch, into = run.branch or "", group.whole.branch
    if isinstance(result, str):
        return event.PartJoined(run=run.id, branch=branch, into=into, sha=result)
    return event.PartConflicted(
        run=run.id,
        branch=branch,
        into=into,
        head_sha=run.head_sha or "",
        files=result.files,
        reason=result.message,
    )


async def cleared(s: Services, task: Task, project: Project, run: Run) -> list[Event]:
    """Takes its workspace away: the branch holds the work, and what it does not is saved."""
    key = names.workspace_key(task.id, run.part)
    events = [*await teardown.before_removal(s, task, project, key)]
    events += (await s.workspaces.remove(Path(project.path), key)).events
    if not any(isinstance(e, WorkspaceRemoved) for e in events):
        events.append(WorkspaceRemoved())  # Before a crash that kept it from the log.
    mine = {"run": run.id}
    return [e.model_copy(update=mine) if isinstance(e, WorkspaceEvent) else e for e in events]


def gave_up(tx: Tx, s: Services, row: EffectRow, error: str) -> None:
    """It cannot be put together for another reason than the work itself."""
    effect = effects.JoinParts.model_validate(row.payload)
    task = tx.tasks.get(row.task_id)
    group = _group(tx, s, effect, task, tx.projects.get(task.project_id))
    left = [Unmerged(run=run, files=(), reason=error) for run in group.done]
    _go_on(tx, s, row, effect, (), left)


def _go_on(
    tx: Tx,
    s: Services,
    row: EffectRow,
    effect: JoinParts,
    happened: Sequence[Event],
    unmerged: Sequence[Unmerged],
) -> None:
    """Once, and only where the task still stands where the group worked."""
    task = tx.tasks.get(row.task_id)
    _add(tx, s, task, happened)
    stages.unmerged(tx, s, task, [one.run for one in unmerged])
    entries = tx.history.of_task(task.id)
    if went_on(entries, tx.history.get(row.history_id)) or tx.runs.live(task.id):
        return
    members = parts.beside(tx.runs.of_task(task.id), tx.runs.get(RunId(effect.run_id)))
    run = parts.speaker(members, starting.asking(s))
    if any(p.midway and p.run_id == run.id for p in tx.prompts.pending(task.id)):
        return  # It paused, and goes on with the answer.
    if run.status is RunStatus.CANCELLED:
        remedies.after_stop(tx, s, task.id, STOPPED)
    elif over_budget(tx, s, run):
        budgets.hold(tx, s, run, run.error.error if run.error else "")
    else:
        _fire(tx, s, task, run, unmerged)


def _add(tx: Tx, s: Services, task: Task, events: Sequence[Event]) -> None:
    for happened in events:
        tx.events.add(task.id, happened, SYSTEM, s.clock.now())


def over_budget(tx: Tx, s: Services, run: Run) -> bool:
    stopped_by = run.error is not None and run.error.error_class is ErrorClass.BUDGET
    return stopped_by and budgets.over(tx, s, run.id) is not None


def _fire(tx: Tx, s: Services, task: Task, run: Run, unmerged: Sequence[Unmerged]) -> None:
    actor = Actor(type=ActorType.AGENT, name=run.agent or "agent", run=run.id)
    if run.error is not None:
        failed = Trigger(type=TriggerType.AGENT_ERROR)
        fired = Fired(trigger=failed, payload=run.error.model_dump(mode="json"))
    elif unmerged and parts.finished(run, starting.asking(s)):
        actor, fired = SYSTEM, _outcome(parts.CONFLICT, _trouble(unmerged))
    else:
        fired = _outcome(run.outcome, run.payload)
    requests = fired.trigger.outcome in BY_OUTCOME
    if not (requests and loop_backs.dispatched(tx, s, task.id, fired, actor)):
        transitions.report(tx, s, task.id, fired, actor)


def _outcome(name: str | None, payload: Mapping[str, Any] | None) -> Fired:
    return Fired(trigger=Trigger(type=TriggerType.AGENT_OUTCOME, outcome=name), payload=payload)


def _trouble(unmerged: Sequence[Unmerged]) -> dict[str, Any]:
    files = dict.fromkeys(file for one in unmerged for file in one.files)
    return {
        "message": UNMERGED,
        "files": [*files],
        "parts": [
            {
                "run": one.run.id,
                "branch": one.run.branch,
                "head_sha": one.run.head_sha,
                "files": [*one.files],
                "reason": one.reason,
            }
            for one in unmerged
        ],
    }
