"""Tasks that were closed as done without their commits being merged: those that depend on them keep
waiting, held by a blocker, until somebody releases them."""

from collections.abc import Mapping, Sequence
from typing import Any

from agents_manager.domain import event
from agents_manager.domain.event.happening import counted_as
from agents_manager.domain.ids import RunId, TaskId
from agents_manager.domain.knowledge import ActiveBlocker
from agents_manager.domain.task import Actor, Task
from agents_manager.flow.ports import Services, Tx

KEY = "unmerged"
IMPACT = "The work of the task is not in its base branch."
"""Marks the blockers that are made here; agents describe theirs in other words."""
NAMED = 3


def payload(branch: str, base: str, commits: Sequence[str], *, released: bool) -> Mapping[str, Any]:
    """What the history of such a move says."""
    told = {"branch": branch, "base": base, "commits": list(commits), "released": released}
    return {KEY: told}


def dependents(tx: Tx, task: Task) -> list[Task]:
    """The unfinished tasks that depend on it."""
    found = tx.tasks.depending_on(task.id)
    return [
        other
        for other in found
        if not tx.pipelines.get(other.pipeline_id, other.pipeline_version).is_final(other.status)
    ]


def hold_dependents(
    tx: Tx, s: Services, task: Task, said: Mapping[str, Any] | None, actor: Actor
) -> None:
    """Before the tasks that depend on a closed one are looked at."""
    told = (said or {}).get(KEY)
    if not told:
        return
    held = [] if told["released"] else [other.id for other in dependents(tx, task)]
    now = s.clock.now()
    closed = event.ClosedUnmerged(
        branch=told["branch"],
        base=told["base"],
        commits=tuple(told["commits"]),
        tasks=tuple(held),
    )
    tx.events.add(task.id, closed, actor, now)
    if held:
        tx.knowledge.add_blocker(_blocker(tx, s, task, told, held))


def _blocker(
    tx: Tx, s: Services, task: Task, told: Mapping[str, Any], held: Sequence[TaskId]
) -> ActiveBlocker:
    commits = told["commits"]
    number = counted_as(len(commits), "commit")
    more = ["…"] if len(commits) > NAMED else []
    named = "; ".join([*commits[:NAMED], *more])
    runs = tx.runs.of_task(task.id)
    return ActiveBlocker(
        id=s.ids.new(),
        project_id=task.project_id,
        task_id=task.id,
        run_id=runs[-1].id if runs else RunId(""),
        blocker=f"Closed as done with {number} not merged into {told['base']}: {named}",
        impact=IMPACT,
        suggested_resolution=f"Merge {told['branch']} into {told['base']}, then resolve this.",
        blocking_tasks=tuple(held),
        created_at=s.clock.now(),
        resolved_at=None,
        resolved_by=None,
        note=None,
    )


def reopened(tx: Tx, s: Services, task: Task, actor: Actor) -> None:
    """Resolves what holds up the tasks that depend on it: they wait for its new end."""
    for blocker in tx.knowledge.blockers(task.project_id):
        if blocker.task_id == task.id and blocker.impact == IMPACT:
            by = actor.name or actor.type.value
            tx.knowledge.resolve(blocker.id, s.clock.now(), by, "The task was reopened.")
