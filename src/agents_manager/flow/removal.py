"""Removing tasks and projects with their record. Branches, commits and snapshots are never touched,
and nothing is removed while an agent works at it, unless it is to be stopped first."""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agents_manager.domain.audit import Deed
from agents_manager.domain.ids import ProjectId, TaskId
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.task import SYSTEM, Actor, ArtifactType, Project, Task
from agents_manager.errors import AgentsManagerError, ProjectInUse, TaskInUse
from agents_manager.flow import (
    audit,
    blockers,
    edits,
    firing,
    pipelines,
    places,
    sharing,
    snapshots,
    tasks,
)
from agents_manager.flow.ports import Services, Tx

POLL_S = 0.1
PATIENCE = 200
"""How often it is looked whether a run that was told to stop is gone."""
PAGE = 200
NAMED = 100
"""Tasks that the record of decisions names."""


@dataclass(frozen=True, slots=True)
class Deleted:
    task: Task
    branches: tuple[str, ...]
    """They stay, with their commits and the snapshots of the task."""
    released: tuple[TaskId, ...]
    """Tasks that depended on it, and do so no more."""
    left: str | None
    """Why its workspace is still there."""


@dataclass(frozen=True, slots=True)
class Removed:
    project: Project
    tasks: int
    left: tuple[str, ...]
    """Why workspaces, or a clone of ours, are still there."""
    cleared: bool = False
    """Whether a clone of ours went with it."""


async def delete(
    s: Services, task_id: str, actor: Actor, *, force: bool = False, stop: bool = False
) -> Deleted:
    """Removes a task and its record. With force, tasks that depend on it depend on it no more;
    with stop, its agent is proven gone first."""
    task = await s.store.read(lambda tx: tx.tasks.find(task_id))
    if stop:
        await _stop(s, [task.id], actor)

    def write(tx: Tx) -> tuple[Deleted, Project, list[Run]]:
        found = tx.tasks.get(task.id)
        busy = _busy(tx, found, stop=stop)
        if busy is not None:
            raise TaskInUse(f"{edits.named(found)} cannot be deleted {busy}")
        dependents = tx.tasks.depending_on(task.id)
        if dependents and not force:
            raise TaskInUse(
                f"{edits.named(found)} cannot be deleted: others wait for it. Delete it with"
                " --force, or take it out of their dependencies first.",
                [edits.named(other) for other in dependents],
            )
        project, runs = tx.projects.get(found.project_id), tx.runs.of_task(task.id)
        summary = f'deleted task "{found.title}" of project "{project.name}" and its record'
        said = {"task": found.id, "status": found.status, "project": project.name}
        audit.note(tx, s.clock.now(), actor, Deed.TASK_DELETED, summary, **said)
        return _delete(tx, s, found, actor), project, runs

    deleted, project, runs = await s.store.write(write)
    return replace(deleted, left=await _clear(s, project, task.id, runs))


async def remove_project(
    s: Services, name_or_id: str, actor: Actor, *, force: bool = False, stop: bool = False
) -> Removed:
    """Forgets a project. With force its tasks and their record go with it; with stop, agents that
    work at them are proven gone first. The repository is left as it is."""

    def every(tx: Tx) -> tuple[Project, list[Task]]:
        found = tx.projects.find(name_or_id)
        return found, _tasks(tx, found.id)

    project, found = await s.store.read(every)
    if found and not force:
        raise ProjectInUse(
            f'Project "{project.name}" has {len(found)} tasks. To delete them and their record'
            " with it, add --force; branches and commits stay."
        )
    if stop:
        await _stop(s, [task.id for task in found], actor)

    def write(tx: Tx) -> list[tuple[Task, list[Run]]]:
        gone = _tasks(tx, project.id)
        for task in gone:
            busy = _busy(tx, task, stop=stop)
            if busy is not None:
                raise ProjectInUse(f'Project "{project.name}" cannot be removed {busy}')
        with_runs = [(task, tx.runs.of_task(task.id)) for task in gone]
        for task in gone:
            _delete(tx, s, task, actor)
        _forget(tx, s, project)
        summary = f'removed project "{project.name}" with {len(gone)} tasks and their record'
        said = {"project": project.name, "id": project.id, "path": project.path, "tasks": len(gone)}
        audit.note(tx, s.clock.now(), actor, Deed.PROJECT_REMOVED, summary, **said)
        return with_runs

    gone = await s.store.write(write)
    left = [await _clear(s, project, task.id, runs) for task, runs in gone]
    ours = places.is_clone(s, project) and places.away(s, project) is None
    left.append(await _forget_clone(s, project) if ours else None)
    cleared = ours and left[-1] is None
    told = tuple(dict.fromkeys(why for why in left if why))
    return Removed(project, len(gone), told, cleared=cleared)


def _forget(tx: Tx, s: Services, project: Project) -> None:
    """Its tasks are gone; its schedules stay, for another project to have."""
    for pipeline in tx.pipelines.all():
        if pipeline.id.endswith(f"{pipelines.OF}{project.id}"):
            tx.pipelines.delete(pipeline.id)
    for schedule in tx.schedules.all(project.id):
        firing.halt(tx, s, schedule, f'Project "{project.name}" was removed.')
    tx.projects.delete(project.id)


async def _forget_clone(s: Services, project: Project) -> str | None:
    why = await sharing.remove_clone(s, Path(project.path))
    return why and f"The clone {project.path} stays: {why}."


@dataclass(frozen=True, slots=True)
class Cleaned:
    task: Task
    left: str | None
    """Why its workspace is still there."""


async def clean(
    s: Services, *, task_id: str | None, project_id: ProjectId | None, by: Actor = SYSTEM
) -> list[Cleaned]:
    """Removes the workspace of one task, or of all finished tasks of a project. Work that no commit
    holds is saved as a snapshot before."""

    def choose(tx: Tx) -> list[tuple[Task, Project]]:
        if task_id is not None:
            found = tx.tasks.find(task_id)
            if not _is_over(tx, found):
                raise TaskInUse(
                    f"{edits.named(found)} is not finished ({found.status}); an agent may need its"
                    " workspace at any moment."
                )
            return [(found, tx.projects.get(found.project_id))]
        assert project_id is not None
        project = tx.projects.get(project_id)
        return [(task, project) for task in _tasks(tx, project_id) if _is_over(tx, task)]

    def note(tx: Tx) -> list[tuple[Task, Project]]:
        found = choose(tx)
        if found:
            summary = f'removes the workspaces of {len(found)} tasks of "{found[0][1].name}"'
            ids = [task.id for task, _ in found[:NAMED]]
            audit.note(tx, s.clock.now(), by, Deed.WORKSPACES_REMOVED, summary, tasks=ids)
        return found

    cleaned: list[Cleaned] = []
    for task, project in await s.store.write(note):
        cleaned.append(Cleaned(task, await _take_away(s, project, task.id)))
    return cleaned


def _is_over(tx: Tx, task: Task) -> bool:
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    return pipeline.is_final(task.status) and _busy(tx, task, stop=False) is None


def _tasks(tx: Tx, project: ProjectId) -> list[Task]:
    found: list[Task] = []
    after: str | None = None
    while page := tx.tasks.page(project=project, status=None, after=after, limit=PAGE):
        found += page
        after = page[-1].id
    return found


def _delete(tx: Tx, s: Services, task: Task, actor: Actor) -> Deleted:
    branches = tx.tasks.artifacts(task.id, ArtifactType.BRANCH)
    dependents = tx.tasks.depending_on(task.id)
    for other in dependents:
        rest = tuple(d for d in other.dependencies if d != task.id)
        edits.change(tx, s, other.id, {"dependencies": rest}, actor)
    told = [b for b in tx.knowledge.blockers(task.project_id) if b.task_id == task.id]
    tx.tasks.delete(task.id)
    held = dict.fromkeys(other for blocker in told for other in blocker.blocking_tasks)
    blockers.wake(tx, s, (other for other in held if other != task.id))
    return Deleted(
        task, tuple(b.label for b in branches), tuple(other.id for other in dependents), None
    )


async def _clear(s: Services, project: Project, task_id: TaskId, runs: Sequence[Run]) -> str | None:
    """Removes what lies on the disk; why the workspace is still there."""
    for folder in [*(s.jobs_dir / run.id for run in runs), s.agent_homes_dir / task_id]:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    return await _take_away(s, project, task_id)


async def _take_away(s: Services, project: Project, task_id: TaskId) -> str | None:
    try:
        for key in await snapshots.workspaces(s, Path(project.path), task_id):
            await s.workspaces.remove(Path(project.path), key)
    except AgentsManagerError as error:
        return error.message
    return None


async def _stop(s: Services, task_ids: Sequence[TaskId], actor: Actor) -> None:
    """Orders the live runs to be stopped and waits until they are proven gone, for a while."""

    def busy(tx: Tx) -> list[Task]:
        known = [tx.tasks.get(task_id) for task_id in task_ids]
        return [task for task in known if _busy(tx, task, stop=True)]

    for task in await s.store.read(busy):
        for run in await s.store.read(lambda tx, t=task: tx.runs.live(t.id)):
            await tasks.stop_run(s, run.id, actor)
    for _ in range(PATIENCE):
        if not await s.store.read(busy):
            return
        await asyncio.sleep(POLL_S)


def _busy(tx: Tx, task: Task, *, stop: bool) -> str | None:
    """Why a task cannot be removed now. A run that nothing was started for needs no stopping."""
    live = tx.runs.live(task.id)
    begun = [e.kind for e in tx.effects.open(task.id) if e.status == "started"]
    at_work = [run for run in live if not stop or run.status is RunStatus.RUNNING]
    if at_work:
        way = "it was told to stop; try again when it is gone" if stop else "--stop stops it first"
        return f'while run {at_work[0].id} of "{task.title}" goes on ({way}).'
    if begun:
        names = ", ".join(begun)
        what = f'{names} for "{task.title}"'
        return f"while the engine performs {what}; try again when a server has done it."
    return None
