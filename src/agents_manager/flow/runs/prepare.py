"""Step 1: the task's own workspace on its own branch, up to date and set up."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agents_manager.domain import event, names
from agents_manager.domain.event import Event, SnapshotRestored, SnapshotSaved
from agents_manager.domain.event.workspaces import WorkspaceEvent
from agents_manager.domain.ids import RunId
from agents_manager.domain.pipeline import Pipeline
from agents_manager.domain.run import ErrorClass, Run, RunStatus
from agents_manager.domain.task import SYSTEM, Actor, ActorType, Project, Task
from agents_manager.errors import ExternalError, InvalidInput, WorkElsewhere
from agents_manager.flow import (
    agents,
    branches,
    budgets,
    machines,
    pipelines,
    setup_plans,
    sharing,
    snapshots,
    surroundings,
)
from agents_manager.flow.branches import Ground
from agents_manager.flow.ports import Services, Surroundings, Tx, Workspace
from agents_manager.flow.runs.places import SETUP_LOG
from agents_manager.flow.runs.verdict import Verdict, trouble


async def prepare(run_id: RunId, s: Services) -> Verdict | None:
    """None when the run can go on; else the verdict it ends with."""
    run, task, project = await s.store.read(lambda tx: of(tx, run_id))
    if not run.status.live:
        return trouble("The run was ended before it began.", ErrorClass.CANCELLED)
    if run.status is RunStatus.RUNNING:
        return None  # A later attempt: the agent may have been at work, and that work must stay.
    try:
        over = await s.store.read(lambda tx: budgets.over(tx, s, run_id))
        if over is not None:
            return {**trouble(over, ErrorClass.BUDGET), "over_budget": True}
        agent = run.agent or s.configs.of(project).default_agent
        settings = run.overrides.together
        chosen, kept = await asyncio.to_thread(agents.allowed, s, agent, project, settings)
        run = replace(run, agent=agent, sandbox=kept and kept.level)
        known = await s.store.read(lambda tx, run=run: _known(tx, s, run, task, project))
        pipelines.check_outcomes(s, project, known.pipeline, task.status)
        config = s.configs.of(project, run)
        around = await surroundings.of_task(s, project, config, task, known.ground.branch)
        await _fetch(s, run, project, task, known)
        workspace = await _workspace(s, run, project, task, known)
        await _tell(s, run, task, await _happened(s, run, task, project, workspace, known))
        if not known.first:
            await _take_up(s, run, task, project, workspace)
        await _tell(s, run, task, await surroundings.include_files(s, project, config, workspace))
        refused = await _set_up(s, run, task, project, workspace, around)
    except ExternalError:
        raise
    except WorkElsewhere as error:
        return {**trouble(error.message, ErrorClass.ENVIRONMENT), "elsewhere": True}
    except InvalidInput as error:
        why = " ".join([error.message, *error.details])
        return trouble(why, ErrorClass.ENVIRONMENT)
    if refused is not None:
        await s.workspaces.release(workspace.path)
        return refused
    begun = replace(run, model=run.model or chosen.model, settings=s.configs.of_run(project, run))
    await s.store.write(lambda tx: _begin(tx, s, begun, task, known.whole, workspace))
    return None


@dataclass(frozen=True, slots=True)
class Known:
    """What the database says of where a run is to work."""

    pipeline: Pipeline
    ground: Ground
    whole: Ground
    """The ground itself, or what it is a part of."""
    base: str
    first: bool
    """Whether the task had no run before."""


def _known(tx: Tx, s: Services, run: Run, task: Task, project: Project) -> Known:
    return Known(
        pipeline=tx.pipelines.get(task.pipeline_id, task.pipeline_version),
        ground=branches.of_run(tx, s, run, task, project),
        whole=branches.whole_of(tx, s, run, task, project),
        base=branches.base_of(tx, s, task, project),
        first=[r.id for r in tx.runs.of_task(task.id)] == [run.id],
    )


async def _fetch(s: Services, run: Run, project: Project, task: Task, known: Known) -> None:
    """What another machine made last; a run must not begin as if there were nothing."""
    wanted = (Ground(known.whole.base, known.base, ""), known.whole, known.ground)
    key = names.workspace_key(task.id, run.part)
    await sharing.tell(s, task, await sharing.ready(s, task, project, wanted, key), run)


async def _workspace(
    s: Services, run: Run, project: Project, task: Task, known: Known
) -> Workspace:
    """The workspace, clean and locked."""
    repo, ground, whole = Path(project.path), known.ground, known.whole
    if whole.base != known.base:
        await s.workspaces.ensure_branch(repo, whole.base, known.base)
    if run.part:
        await s.workspaces.ensure_branch(repo, whole.branch, whole.base)
    rules = replace(s.configs.of(project, run).workspace, kept=run.kept)
    key = names.workspace_key(task.id, run.part)
    return await s.workspaces.prepare(repo, key, ground.branch, ground.base, rules)


async def _happened(
    s: Services, run: Run, task: Task, project: Project, workspace: Workspace, known: Known
) -> Sequence[Event]:
    """Before its first run a task has no work that could have been saved; what runs beside it
    save, they tell themselves."""
    if known.first or run.part:
        return workspace.events
    return await snapshots.with_untold(s, task, project, workspace.events)


async def _take_up(
    s: Services, run: Run, task: Task, project: Project, workspace: Workspace
) -> None:
    """Puts back what a run had not committed that a budget stopped, so that its session finds it
    where it was. What was saved just now is told to the agent instead."""
    number = await s.store.read(lambda tx: _left(tx, run))
    if number is None or any(isinstance(e, SnapshotSaved) for e in workspace.events):
        return
    known = await s.workspaces.snapshots(Path(project.path), task.id, number - 1)
    left = next((one for one in known if one.number == number), None)
    if left is None or left.head != workspace.head_sha:
        return
    await s.workspaces.restore(Path(project.path), left, workspace)
    to = str(workspace.path)
    await _tell(s, run, task, (SnapshotRestored(number=number, to=to, by=SYSTEM.name),))


def _left(tx: Tx, run: Run) -> int | None:
    """The snapshot of the run before this one, if its budget ended that."""
    runs = [r for r in tx.runs.of_task(run.task_id) if r.part == run.part]
    begun = [r for r in runs if r.started_at and r.id != run.id]
    last = begun[-1] if begun else None
    if last is None or last.error is None or last.error.error_class is not ErrorClass.BUDGET:
        return None
    kind = SnapshotSaved.model_fields["type"].default
    told = tx.events.newest(run.task_id, SnapshotSaved.category, snapshots.EVENTS)
    saved = next((e for e in told if e.type == kind and e.data["run"] == last.id), None)
    assert last.started_at is not None
    mine = saved is not None and saved.time >= last.started_at
    return saved.data["number"] if saved is not None and mine else None


async def _tell(s: Services, run: Run, task: Task, events: Sequence[Event]) -> None:
    def write(tx: Tx) -> None:
        for happened in events:
            mine = isinstance(happened, WorkspaceEvent)
            told = happened.model_copy(update={"run": run.id}) if mine else happened
            tx.events.add(task.id, told, SYSTEM, s.clock.now())

    if events:
        await s.store.write(write)


async def release(run: Run, s: Services) -> None:
    if run.workspace is not None:
        await s.workspaces.release(Path(run.workspace))


def of(tx: Tx, run_id: RunId) -> tuple[Run, Task, Project]:
    run = tx.runs.get(run_id)
    return run, tx.tasks.get(run.task_id), tx.projects.get(run.project_id)


def agent_actor(run: Run) -> Actor:
    return Actor(type=ActorType.AGENT, name=run.agent or "agent", run=run.id)


async def _set_up(
    s: Services,
    run: Run,
    task: Task,
    project: Project,
    workspace: Workspace,
    around: Surroundings,
) -> Verdict | None:
    """Runs the project's set-up commands where that is due; the verdict if one of them failed."""
    config = s.configs.of(project, run)
    if not config.setup.commands:
        return None
    if not agents.trusted(project, config, "setup.", "env."):
        return trouble(agents.untrusted(project, config), ErrorClass.ENVIRONMENT)
    repo, log = Path(project.path), s.jobs_dir / run.id / SETUP_LOG
    plan = await setup_plans.for_run(s, run, project, workspace.branch, workspace.head_sha)
    assert plan is not None
    reach = await s.workspaces.reach(workspace.path, workspace.branch) if run.kept else None
    done = await s.setup.run(workspace, plan, repo, log, reach=reach, surroundings=around)
    if done is None:
        return None
    if done.failed is not None:
        told = f"{done.failed} It ended with:\n{done.output}" if done.output else done.failed
        return trouble(told, ErrorClass.ENVIRONMENT)
    await _tell(s, run, task, (event.WorkspaceSetUp(commands=config.setup.commands),))
    return None


def _left_behind(tx: Tx, s: Services, run: Run) -> bool:
    """Whether the session that the run was to go on with is on another machine."""
    others = [r for r in tx.runs.of_task(run.task_id) if r.id != run.id and r.started_at]
    had = [r for r in others if r.session is not None and r.session == run.session]
    return bool(had) and machines.elsewhere(s, had[-1])


def _begin(tx: Tx, s: Services, run: Run, task: Task, ground: Ground, workspace: Workspace) -> None:
    if tx.runs.get(run.id).status is not RunStatus.QUEUED:
        return
    now = s.clock.now()
    branches.keep(tx, s, task, ground)
    if _left_behind(tx, s, run):
        tx.events.add(task.id, event.SessionLost(run=run.id), SYSTEM, now)
        run = replace(run, session=None)
    tx.runs.update(
        run.id,
        status=RunStatus.RUNNING,
        session=run.session,
        host=s.here.host if s.here else None,
        agent=run.agent,
        model=run.model,
        sandbox=run.sandbox,
        settings=run.settings,
        branch=workspace.branch,
        base_sha=workspace.head_sha,
        workspace=str(workspace.path),
        started_at=now,
    )
    actor = agent_actor(run)
    started = event.AgentStarted(
        run=run.id, agent=actor.name, mode=run.mode, attempt=run.attempt, sandbox=run.sandbox
    )
    tx.events.add(task.id, started, actor, now)
