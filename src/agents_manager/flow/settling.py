"""The end of an effect: done once, in one transaction with what came of it."""

from collections.abc import Callable, Mapping
from typing import Any

from agents_manager.domain.task import OPEN_EFFECTS, EffectRow, Project, Task
from agents_manager.errors import HostReplaced
from agents_manager.flow import transitions
from agents_manager.flow.ports import Services, Tx


async def finish(
    s: Services,
    row: EffectRow,
    then: Callable[[Tx], None] | None = None,
    result: Mapping[str, Any] | None = None,
) -> None:
    def write(tx: Tx) -> None:
        if not is_at(tx, row):
            return
        tx.effects.update(row.id, status="done", result=result, finished_at=s.clock.now())
        if then is not None:
            then(tx)
        transitions.recheck(tx, s, row.task_id)

    await s.store.write(write)


def is_at(tx: Tx, row: EffectRow) -> bool:
    """Whether an effect is still to be performed, and by who began this attempt at it."""
    stands = tx.effects.get(row.id)
    mine = (stands.attempt, stands.host) == (row.attempt, row.host)
    return stands.status in OPEN_EFFECTS and mine


def may_perform(s: Services, row: EffectRow) -> bool:
    """Whether this machine may do something outside of the database for an effect: others do it
    once its lease is over."""
    return s.here is None or (s.here.tenure.held and row.host == s.here.host)


async def before_leaving(s: Services, row: EffectRow) -> None:
    """Asked before something is done that others see, such as a push: HostReplaced where the effect
    is another machine's by now."""
    if s.here is None:
        return
    if not may_perform(s, row) or not await s.store.read(lambda tx: is_at(tx, row)):
        raise HostReplaced(f"{row.kind} is not this machine's to perform any more.")


async def task_and_project(s: Services, row: EffectRow) -> tuple[Task, Project]:
    def read(tx: Tx) -> tuple[Task, Project]:
        task = tx.tasks.get(row.task_id)
        return task, tx.projects.get(task.project_id)

    return await s.store.read(read)
