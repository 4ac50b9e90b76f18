"""Projects and tasks: registering, creating, moving, stopping."""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from agents_manager.domain import event, fields, recurrence
from agents_manager.domain.audit import Deed
from agents_manager.domain.effects import StopAgent
from agents_manager.domain.guards import Fired
from agents_manager.domain.ids import EffectId, ProjectId, TaskId
from agents_manager.domain.names import visible
from agents_manager.domain.pipeline import NAMELESS, Policy, Trigger, TriggerType
from agents_manager.domain.run import Run
from agents_manager.domain.task import SYSTEM, Actor, Project, Task
from agents_manager.domain.transition import Moved, Refused, decide, onward
from agents_manager.errors import (
    Conflict,
    InvalidConfig,
    PipelineNotFound,
    ProjectExists,
    TaskNotFound,
    TransitionRefused,
)
from agents_manager.flow import (
    agents,
    audit,
    edits,
    facts,
    pipelines,
    places,
    planning,
    transitions,
    unmerged,
)
from agents_manager.flow.ports import Services, Tx

MANUAL = Trigger(type=TriggerType.MANUAL)
LISTED = 100
"""Commands that the record of decisions names, and characters of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTask:
    title: str
    description: str = ""
    objective: str = ""
    type: str = "feature"
    priority: str = "medium"
    size: str = "medium"
    complexity: str = "medium"
    tags: Sequence[str] = ()
    acceptance_criteria: Sequence[str] = ()
    dependencies: Sequence[str] = ()
    pipeline: str | None = None
    starts_at: datetime | None = None
    """When the engine starts it; None: somebody does."""
    agent: str | None = None
    """The agent of its runs; None: the project's default."""
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Stopping:
    """Runs are being stopped; the move follows when all of them are proven gone."""

    task: Task
    run: Run
    beside: Sequence[Run] = ()
    """Those that work side by side with it, and are stopped too."""


async def add_project(
    s: Services,
    path: Path,
    name: str | None,
    base_branch: str | None,
    *,
    by: Actor = SYSTEM,
) -> Project:
    """Registers a repository. Registering it is its user's word that its commands may run. Where
    another machine registered it, it is the same project."""
    top, current = await s.workspaces.validate(path)
    now = s.clock.now()
    remote = await s.copies.remote(top) if s.here else None
    project = Project(
        id=ProjectId(s.ids.new()),
        name=name or top.name,
        path=str(top),
        base_branch=base_branch or current,
        trusted_commands=None,
        consented_at=None,
        created_at=now,
        remote=remote,
    )
    config = s.configs.of(project)
    project = replace(
        project, trusted_commands=config.commands_fingerprint, trusted=config.commands
    )

    same = await registered(s, top)
    if same is not None:
        raise ProjectExists(_already(project.path, same))

    def write(tx: Tx) -> Project:
        known = tx.projects.by_path(project.path)
        if known is not None:
            raise ProjectExists(_already(project.path, known))
        elsewhere = places.known_elsewhere(tx, s, project, named=name is not None)
        if elsewhere is not None:
            return places.put(tx, s, elsewhere, project, by)
        if any(p.name == project.name for p in tx.projects.all()):
            raise ProjectExists(
                f'There is already a project "{project.name}"; choose another with --name.'
            )
        tx.projects.add(project)
        summary = f'added project "{project.name}" at {project.path} and trusted its commands'
        said = {"project": project.name, "path": project.path, "commands": _few(config.commands)}
        audit.note(tx, now, by, Deed.PROJECT_ADDED, summary, **said)
        return project

    return await s.store.write(write)


async def registered(s: Services, top: Path) -> Project | None:
    """Returns the project of a repository, also if it was registered by another of its
    worktrees."""
    projects = await s.store.read(lambda tx: tx.projects.all())
    for project in projects:
        if project.path == str(top):
            return project
    for project in projects:
        if await s.workspaces.is_same(Path(project.path), top):
            return project
    return None


def _already(path: str, known: Project) -> str:
    if known.path == path:
        return f'"{path}" is already registered as "{known.name}".'
    return f'"{path}" is a worktree of "{known.path}", which is registered as "{known.name}".'


async def trust_project(
    s: Services, project: Project, shown: str | None = None, *, by: Actor = SYSTEM
) -> Project:
    """Allows the project's commands as they stand now, or as they were shown."""
    trouble = s.configs.trouble(project)
    if trouble is not None:
        raise InvalidConfig(trouble.message, trouble.details)
    config = s.configs.of(project)
    if shown not in (None, config.commands_fingerprint):
        raise Conflict(f'The commands of project "{project.name}" changed just now; look again.')
    trusted = {"trusted_commands": config.commands_fingerprint, "trusted": config.commands}
    changed = agents.changes(project, config)

    def write(tx: Tx) -> None:
        tx.projects.update(project.id, **trusted)
        summary = f'trusted the commands of project "{project.name}": '
        summary += "; ".join(changed) or "nothing changed"
        said = {"project": project.name, "commands": _few(config.commands)}
        audit.note(tx, s.clock.now(), by, Deed.PROJECT_TRUSTED, summary, **said)

    await s.store.write(write)
    return replace(project, **trusted)


def _few(commands: Mapping[str, str]) -> dict[str, str]:
    """As many as are read, each as long as is read."""
    return {where: visible(commands[where], LISTED) for where in sorted(commands)[:LISTED]}


async def create(
    s: Services, project: Project, new: NewTask, actor: Actor, *, key: str | None = None
) -> Task:
    """A new task; the same key makes the same one, however often it is asked for."""
    given = {name: getattr(new, name) for name in fields.EDITABLE}
    words = edits.words(s, project, given, "The task cannot be created.")
    task_id = TaskId(s.ids.new() if key is None else hashlib.sha256(key.encode()).hexdigest()[:16])
    pipeline_id = await chosen(s, project, new.pipeline, words["type"])
    now = s.clock.now()
    starts_at = recurrence.to_come(new.starts_at, now)

    def write(tx: Tx) -> Task:
        with suppress(TaskNotFound):
            return tx.tasks.get(task_id)
        settled = {**words, "dependencies": edits.dependencies(tx, words["dependencies"])}
        task = add(tx, project, task_id, settled, pipeline_id, actor, now, starts_at)
        if starts_at is not None:
            only_way(tx, task)
            tx.events.add(task.id, event.StartSet(at=starts_at), actor, now)
        return task

    return await s.store.write(write)


def add(
    tx: Tx,
    project: Project,
    task_id: TaskId,
    words: Mapping[str, Any],
    pipeline_id: str,
    actor: Actor,
    now: datetime,
    starts_at: datetime | None = None,
) -> Task:
    """Writes a task whose words are settled; it stays where its pipeline begins until somebody
    moves it, or its time has come."""
    pipeline = tx.pipelines.get(pipeline_id)
    task = Task(
        id=task_id,
        project_id=project.id,
        **words,
        pipeline_id=pipeline.id,
        pipeline_version=pipeline.version,
        status=pipeline.initial.id,
        plan=None,
        version=1,
        created_at=now,
        updated_at=now,
        starts_at=starts_at,
    )
    tx.tasks.add(task)
    created = event.TaskCreated(title=task.title, pipeline=pipelines.plain(pipeline.id))
    tx.events.add(task.id, created, actor, now)
    return task


async def chosen(s: Services, project: Project, named: str | None, kind: str) -> str:
    """The pipeline that was named, else that of the type, else the project's default."""
    config = s.configs.of(project)
    by_type = config.pipeline_by_type.get(kind)
    try:
        found = await pipelines.choose(s, project, named or by_type or config.default_pipeline)
        return await s.store.read(lambda tx: tx.pipelines.get(found).id)
    except PipelineNotFound as error:
        if named or not by_type:
            raise
        why = f'The setting pipelineByType names it for tasks of type "{kind}".'
        raise PipelineNotFound(f"{error.message} {why}") from None


async def move(
    s: Services,
    task_id: str,
    actor: Actor,
    *,
    to: str | None = None,
    expect_version: int | None = None,
    force: bool = False,
    stop: bool = False,
    reason: str | None = None,
    consent: unmerged.Consent = unmerged.NONE,
) -> Task | Stopping:
    """A move by hand. With a live run it is refused, unless it is to be stopped: then the move
    is made after the run is proven gone. Without a target, the only possible move is made. Raises
    UnmergedWork for one that closes the task without the consent to leave commits unmerged."""
    if force and not actor.admin:
        raise TransitionRefused("Only an admin may move by force.")
    said = None if to is None else await unmerged.check_move(s, task_id, to, consent)

    def write(tx: Tx) -> Task | Stopping | Refused:
        task = tx.tasks.find(task_id)
        fired = only_way(tx, task) if to is None else Fired(trigger=MANUAL, to=to, payload=said)
        transitions.expect(task, expect_version)
        return move_by_hand(tx, s, task, fired, actor, force=force, stop=stop, reason=reason)

    result = await s.store.write(write)
    if isinstance(result, Refused):
        raise refusal(result)
    return result


def move_by_hand(
    tx: Tx,
    s: Services,
    task: Task,
    fired: Fired,
    actor: Actor,
    *,
    force: bool = False,
    stop: bool = False,
    reason: str | None = None,
) -> Task | Stopping | Refused:
    live = tx.runs.live(task.id)
    then = _after_the_stop(tx, s, task, fired, actor, stop=stop, force=force) if live else None
    if then is not None:
        for run in live:
            _order_stop(tx, s, task, run, actor, fired, then=then, force=force, reason=reason)
        return Stopping(task, live[0], live[1:])
    result = transitions.apply(tx, s, task.id, fired, actor, force=force, reason=reason)
    return result if isinstance(result, Refused) else result.task


def refusal(refused: Refused) -> TransitionRefused:
    return TransitionRefused(refused.reasons[0], refused.reasons[1:])


async def stop_run(s: Services, run_id: str, actor: Actor) -> Stopping:
    """Stops a run; the task stays where it is and a person is asked what to do."""

    def write(tx: Tx) -> Stopping:
        run = tx.runs.find(run_id)
        if not run.status.live:
            raise TransitionRefused(f"Run {run.id} has already ended ({run.status}).")
        task = tx.tasks.get(run.task_id)
        _order_stop(tx, s, task, run, actor)
        return Stopping(task, run)

    return await s.store.write(write)


def _after_the_stop(
    tx: Tx, s: Services, task: Task, fired: Fired, actor: Actor, *, stop: bool, force: bool
) -> str | None:
    """The transition that can be made once the run is gone, if it may be stopped for it."""
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    gone = replace(facts.gather(tx, s, task, fired, actor), live_run=None)
    origin = facts.origin_of(tx, task, pipeline)
    decision = decide(pipeline, task.status, origin, gone, s.registry, force=force)
    if not isinstance(decision, Moved):
        return None
    allowed = stop or any(h.type == "stop_agent" for h in decision.hooks)
    return decision.transition.id if allowed else None


def _order_stop(
    tx: Tx,
    s: Services,
    task: Task,
    run: Run,
    actor: Actor,
    fired: Fired | None = None,
    *,
    then: str | None = None,
    force: bool = False,
    reason: str | None = None,
) -> None:
    said = fired.payload if fired else None
    order = StopAgent(
        run_id=run.id, then=then, force=force, reason=reason, payload=said, by=actor.name
    )
    for effect in tx.effects.open(task.id):
        if effect.kind == order.kind and effect.payload["run_id"] == run.id:
            if then is not None:
                tx.effects.update(effect.id, payload=order.model_dump(mode="json"))
            return
    entry = tx.history.of_task(task.id)[-1]
    effect_id, position = EffectId(s.ids.new()), len(entry.hooks)
    planning.add(tx, s, task, order, effect_id, entry.id, position, Policy.BEST_EFFORT)


def only_way(tx: Tx, task: Task) -> Fired:
    """`start`: the one manual move that does not end the task."""
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    ways = onward(pipeline, task.status)
    if len(ways) != 1:
        names = ", ".join(t.to for t in ways) or "none"
        raise TransitionRefused(
            f'Task "{task.title}" ({task.status}) has no single next move; say where to.',
            [f"possible: {names}"],
        )
    return Fired(trigger=MANUAL, transition_id=ways[0].id)


def way_out(tx: Tx, task: Task) -> str:
    """The final status that a task is cancelled to: the move that also stops its agent."""
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    if pipeline.is_final(task.status):
        raise TransitionRefused(f'Task "{task.title}" is already finished ({task.status}).')
    ways = [
        t.to
        for t in pipeline.leaving(task.status)
        if t.to not in NAMELESS
        and pipeline.is_final(t.to)
        and any(h.type == "stop_agent" for h in t.hooks)
    ]
    if len(ways) != 1:
        raise TransitionRefused(
            f'Pipeline "{pipeline.id}" has no single way to cancel "{task.title}"; '
            "move it to the status you mean."
        )
    return ways[0]
