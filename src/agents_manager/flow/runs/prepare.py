"""Step 1: the task's own workspace on its own branch."""

from dataclasses import replace
from pathlib import Path

from agents_manager.domain import event
from agents_manager.domain.ids import RunId
from agents_manager.domain.run import ErrorClass, Run, RunStatus
from agents_manager.domain.task import Actor, ActorType, Project, Task
from agents_manager.errors import ExternalError, InvalidInput, NotTrusted
from agents_manager.flow import branches, pipelines
from agents_manager.flow.branches import Ground
from agents_manager.flow.ports import Agent, Services, Tx, Workspace
from agents_manager.flow.runs.verdict import Verdict, trouble


async def prepare(run_id: RunId, s: Services) -> Verdict | None:
    """None when the run can go on; else the verdict it ends with."""
    run, task, project = await s.store.read(lambda tx: of(tx, run_id))
    if not run.status.live:
        return trouble("The run was ended before it began.", ErrorClass.CANCELLED)
    if run.status is RunStatus.RUNNING:
        return None  # A later attempt: the agent may have been at work, and that work must stay.
    try:
        agent = run.agent or s.configs.of(project).default_agent
        model = run.model or trusted_agent(s, agent, project).model
        pipeline = await s.store.read(
            lambda tx: tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        )
        pipelines.check_outcomes(s, project, pipeline, task.status)
        ground = await s.store.read(lambda tx: branches.of_run(tx, s, run, task, project))
        if run.phase_id is not None:
            await s.workspaces.ensure_branch(Path(project.path), ground.base, project.base_branch)
        workspace = await s.workspaces.prepare(
            Path(project.path), task.id, ground.branch, ground.base
        )
    except ExternalError:
        raise
    except InvalidInput as error:
        why = " ".join([error.message, *error.details])
        return trouble(why, ErrorClass.ENVIRONMENT)
    begun = replace(run, agent=agent, model=model)
    await s.store.write(lambda tx: _begin(tx, s, begun, task, ground, workspace))
    return None


def trusted_agent(s: Services, name: str, project: Project) -> Agent:
    """The agent; refused while nobody has trusted what the project's own file says of it."""
    config = s.configs.of(project)
    if name in config.own_agents and project.trusted_commands != config.commands_fingerprint:
        raise NotTrusted(untrusted(project))
    return s.agents.get(name, project)


def untrusted(project: Project) -> str:
    return (
        f'The commands of project "{project.name}" changed since they were trusted. '
        f"Look at them, then run: am project trust {project.name}"
    )


def of(tx: Tx, run_id: RunId) -> tuple[Run, Task, Project]:
    run = tx.runs.get(run_id)
    return run, tx.tasks.get(run.task_id), tx.projects.get(run.project_id)


def agent_actor(run: Run) -> Actor:
    return Actor(type=ActorType.AGENT, name=run.agent or "agent", run=run.id)


def _begin(tx: Tx, s: Services, run: Run, task: Task, ground: Ground, workspace: Workspace) -> None:
    if tx.runs.get(run.id).status is not RunStatus.QUEUED:
        return
    now = s.clock.now()
    branches.keep(tx, s, task, ground)
    tx.runs.update(
        run.id,
        status=RunStatus.RUNNING,
        agent=run.agent,
        model=run.model,
        branch=workspace.branch,
        base_sha=workspace.head_sha,
        workspace=str(workspace.path),
        started_at=now,
    )
    actor = agent_actor(run)
    started = event.AgentStarted(run=run.id, agent=actor.name, mode=run.mode, attempt=run.attempt)
    tx.events.add(task.id, started, actor, now)
