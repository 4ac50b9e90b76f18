"""The end of an effect: done once, in one transaction with what came of it."""

from collections.abc import Callable, Mapping
from typing import Any

from agents_manager.domain.task import OPEN_EFFECTS, EffectRow, Project, Task
from agents_manager.flow import transitions
from agents_manager.flow.ports import Services, Tx


async def finish(
    s: Services,
    row: EffectRow,
    then: Callable[[Tx], None] | None = None,
    result: Mapping[str, Any] | None = None,
) -> None:
    def write(tx: Tx) -> None:
        if tx.effects.get(row.id).status not in OPEN_EFFECTS:
            return
        tx.effects.update(row.id, status="done", result=result, finished_at=s.clock.now())
        if then is not None:
            then(tx)
        transitions.recheck(tx, s, row.task_id)

    await s.store.write(write)


async def task_and_project(s: Services, row: EffectRow) -> tuple[Task, Project]:
    def read(tx: Tx) -> tuple[Task, Project]:
        task = tx.tasks.get(row.task_id)
        return task, tx.projects.get(task.project_id)

    return await s.store.read(read)
