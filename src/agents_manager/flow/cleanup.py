"""Removes the workspaces of a finished task. What no commit holds is saved as a snapshot first."""

from datetime import timedelta
from pathlib import Path

from agents_manager.domain.event import AgentStarted, Event, WorkspaceRemoved
from agents_manager.domain.task import SYSTEM, EffectRow, Project, Task
from agents_manager.errors import AgentsManagerError, HookFailed
from agents_manager.flow import places, snapshots, teardown
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.settling import finish, is_at, task_and_project

LONGEST_PAUSE_S = 600
PATIENCE = timedelta(hours=24)
"""For how long it is tried again; afterwards the workspace stays until retention removes it."""
STARTED = AgentStarted.model_fields["type"].default
REMOVED = WorkspaceRemoved.model_fields["type"].default


async def perform(row: EffectRow, s: Services) -> None:
    """A workspace that is in use, or cannot be removed for another reason, is tried again later."""
    task, project = await task_and_project(s, row)
    try:
        happened = await _remove(s, task, project)
    except AgentsManagerError as error:
        await _try_again(s, row, error)
        return

    def then(tx: Tx) -> None:
        for one in happened:
            tx.events.add(task.id, one, SYSTEM, s.clock.now())

    await finish(s, row, then)


async def _remove(s: Services, task: Task, project: Project) -> list[Event]:
    if places.away(s, project) is not None or s.configs.of(project).workspace.keep:
        return []
    if not await s.store.read(lambda tx: _is_over(tx, task)):
        return []
    repo, happened = Path(project.path), list[Event]()
    standing = await s.workspaces.standing(repo)
    keys = [key for key in await snapshots.workspaces(s, repo, task.id) if key in standing]
    for key in keys:
        happened += await teardown.before_removal(s, task, project, key)
        happened += (await s.workspaces.remove(repo, key, idle=True)).events
    # Where several hosts share the work, it may stand on another.
    here = s.here is None and task.id not in keys
    if here and await s.store.read(lambda tx: _is_untold(tx, task)):
        happened.append(WorkspaceRemoved(kept=None))
    return await snapshots.with_untold(s, task, project, happened) if happened else []


def _is_untold(tx: Tx, task: Task) -> bool:
    """Whether a workspace is gone and its log does not say so: an attempt was cut short."""
    began, removed = (tx.events.last(task.id, kind) for kind in (STARTED, REMOVED))
    return began is not None and (removed is None or removed.seq < began.seq)


def _is_over(tx: Tx, task: Task) -> bool:
    now = tx.tasks.get(task.id)
    pipeline = tx.pipelines.get(now.pipeline_id, now.pipeline_version)
    return pipeline.is_final(now.status) and not tx.runs.live(task.id)


async def _try_again(s: Services, row: EffectRow, error: AgentsManagerError) -> None:
    if s.clock.now() - row.created_at > PATIENCE:
        raise HookFailed(error.message)

    def write(tx: Tx) -> None:
        if is_at(tx, row):
            pause = timedelta(seconds=min(2 ** min(row.attempt, 20), LONGEST_PAUSE_S))
            due_at, attempt = s.clock.now() + pause, row.attempt + 1
            tx.effects.update(
                row.id, status="pending", attempt=attempt, due_at=due_at, error=error.message
            )

    await s.store.write(write)
