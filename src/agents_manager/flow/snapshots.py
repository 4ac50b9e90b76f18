"""Snapshots: the work that runs left uncommitted, seen and taken back up. Nothing is lost on the
way: what lies in the workspace at that moment is saved first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agents_manager.domain import event, names
from agents_manager.domain.event import Event, SnapshotSaved
from agents_manager.domain.task import SYSTEM, Actor, Project, Task
from agents_manager.errors import SnapshotNotFound, WorkspaceInUse
from agents_manager.flow import branches
from agents_manager.flow.ports import Services, Snapshot, Tx, Workspace

EVENTS = 1_000
"""How far back it is looked what became of a snapshot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    task: Task
    snapshot: Snapshot
    branch: str
    workspace: str | None
    """The workspace that holds the work, uncommitted; None for a new branch."""


async def workspaces(s: Services, repo: Path, task_id: str) -> list[str]:
    """The keys of a task's own workspace and of those of its parts that stand."""
    standing = await s.workspaces.standing(repo)
    return sorted({task_id, *(key for key in standing if names.task_of(key) == task_id)})


async def of_task(s: Services, task_ref: str) -> list[Snapshot]:
    task, project = await s.store.read(lambda tx: _of(tx, task_ref))
    return await s.workspaces.snapshots(Path(project.path), task.id)


async def of_project(s: Services, project: Project) -> list[Snapshot]:
    """Those of deleted tasks too."""
    return await s.workspaces.snapshots(Path(project.path), None)


async def restore(
    s: Services, task_ref: str, number: int, to: str | None, actor: Actor
) -> Restored:
    """Into the task's workspace, on top of its branch and uncommitted; or as a new branch."""
    task, project = await s.store.read(lambda tx: _of(tx, task_ref))
    known = await s.workspaces.snapshots(Path(project.path), task.id)
    snapshot = next((one for one in known if one.number == number), None)
    if snapshot is None:
        there = ", ".join(str(one.number) for one in known) or "none"
        gone = await s.store.read(lambda tx: _removed(tx, task, number))
        raise SnapshotNotFound(f'"{task.title}" has no snapshot {number}; it has: {there}.{gone}')
    if to is not None:
        await s.workspaces.restore_to(Path(project.path), snapshot, to)
        branch, path = to, None
    else:
        workspace = await _into_workspace(s, task, project, snapshot)
        branch, path = workspace.branch, str(workspace.path)
    restored = event.SnapshotRestored(number=number, to=path or branch, by=actor.name)
    await s.store.write(lambda tx: tx.events.add(task.id, restored, actor, s.clock.now()))
    return Restored(task=task, snapshot=snapshot, branch=branch, workspace=path)


async def with_untold(
    s: Services, task: Task, project: Project, events: Sequence[Event]
) -> list[Event]:
    """What happened to a workspace, and before it the snapshots that a crash kept from the log."""
    kind = SnapshotSaved.model_fields["type"].default
    last = await s.store.read(lambda tx: tx.events.last(task.id, kind))
    after = last.data["number"] if last else 0
    saved = await s.workspaces.snapshots(Path(project.path), task.id, after)
    new = {happened.ref for happened in events if isinstance(happened, SnapshotSaved)}
    untold = [
        SnapshotSaved(number=one.number, ref=one.ref, files=len(one.files))
        for one in saved
        if one.ref not in new
    ]
    return [*untold, *events]


def _removed(tx: Tx, task: Task, number: int) -> str:
    for logged in tx.events.newest(task.id, "git", EVENTS):
        if logged.type == "snapshot.removed" and logged.data["number"] == number:
            when, sha = f"{logged.time:%Y-%m-%d}", logged.data["sha"]
            way = f"git branch NAME {sha}"
            return f" It was removed by retention on {when}; while git still has it: {way}"
    return ""


def _of(tx: Tx, task_ref: str) -> tuple[Task, Project]:
    task = tx.tasks.find(task_ref)
    return task, tx.projects.get(task.project_id)


async def _into_workspace(
    s: Services, task: Task, project: Project, snapshot: Snapshot
) -> Workspace:
    live = await s.store.read(lambda tx: tx.runs.live(task.id))
    if live:
        raise WorkspaceInUse(
            f"Run {live[0].id} works at this task. Stop it first (am run stop "
            f"{live[0].id}), or restore to a branch of its own: --to BRANCH"
        )
    ground = await s.store.read(lambda tx: branches.at_work(tx, s, task, project))
    kept = await s.store.read(lambda tx: _was_kept(tx, task))
    rules = replace(s.configs.of(project).workspace, rebase=False, kept=kept)
    repo = Path(project.path)
    workspace = await s.workspaces.prepare(repo, task.id, ground.branch, ground.base, rules)
    events = await with_untold(s, task, project, workspace.events)

    def write(tx: Tx) -> None:
        for happened in events:
            tx.events.add(task.id, happened, SYSTEM, s.clock.now())

    await s.store.write(write)
    try:
        await s.workspaces.restore(repo, snapshot, workspace)
    finally:
        await s.workspaces.release(workspace.path)
    return workspace


def _was_kept(tx: Tx, task: Task) -> bool:
    """The workspace stays of the kind that the last agent had."""
    worked = [run.kept for run in tx.runs.of_task(task.id) if run.workspace is not None]
    return bool(worked) and worked[-1]
