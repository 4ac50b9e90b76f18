"""What runs said to be in the way: it holds tasks up until somebody says that it is gone."""

from collections.abc import Iterable

from agents_manager.domain import event
from agents_manager.domain.audit import Deed
from agents_manager.domain.ids import TaskId
from agents_manager.domain.knowledge import ActiveBlocker
from agents_manager.domain.names import visible
from agents_manager.domain.task import Actor
from agents_manager.errors import Conflict
from agents_manager.flow import audit, transitions
from agents_manager.flow.ports import Services, Tx

SHOWN = 100


def resolve(
    tx: Tx, s: Services, id_or_prefix: str, by: Actor, note: str | None = None
) -> ActiveBlocker:
    """The tasks that it held up go on where nothing else holds them."""
    blocker = tx.knowledge.find_blocker(id_or_prefix)
    now, who = s.clock.now(), by.name or by.type.value
    if not tx.knowledge.resolve(blocker.id, now, who, note or None):
        at = f"{blocker.resolved_at:%Y-%m-%d %H:%M} UTC" if blocker.resolved_at else ""
        raise Conflict(
            f'Blocker "{blocker.id}" was resolved before, by {blocker.resolved_by} at {at}.'
        )
    audit.note(
        tx,
        now,
        by,
        Deed.BLOCKER_RESOLVED,
        f'resolved the blocker "{visible(blocker.blocker, SHOWN)}"',
        blocker=blocker.id,
        task=blocker.task_id,
        note=note,
    )
    resolved = event.BlockerResolved(blocker=blocker.id, told=blocker.blocker, note=note or None)
    for task_id in dict.fromkeys((blocker.task_id, *blocker.blocking_tasks)):
        tx.events.add(task_id, resolved, by, now)
    wake(tx, s, blocker.blocking_tasks)
    return tx.knowledge.find_blocker(blocker.id)


def wake(tx: Tx, s: Services, task_ids: Iterable[TaskId]) -> None:
    for task_id in task_ids:
        transitions.recheck(tx, s, task_id)
