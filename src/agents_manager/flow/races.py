"""Races, as the log of a task tells them: what was ordered, who runs against whom, who was
picked."""

from collections.abc import Sequence
from dataclasses import replace

from agents_manager.domain import event, race
from agents_manager.domain.event.races import Figures
from agents_manager.domain.ids import RunId, TaskId
from agents_manager.domain.race import Race
from agents_manager.domain.run import Run
from agents_manager.domain.task import SYSTEM, Task
from agents_manager.flow.ports import Services, Tx


def last(tx: Tx, task_id: TaskId) -> Race | None:
    """The race that began last."""
    begun = tx.events.last(task_id, "race.begun")
    if begun is None:
        return None
    said = event.RaceBegun.model_validate(begun.data)
    picked = tx.events.last(task_id, "race.picked")
    mine = picked is not None and picked.seq > begun.seq
    return Race(
        group=said.group,
        contenders=said.contenders,
        judge=said.judge,
        picked=RunId(picked.data["run"]) if picked and mine else None,
        picked_at=picked.time if picked and mine else None,
    )


def ordered(tx: Tx, task_id: TaskId) -> event.RaceOrdered | None:
    """What the next start of an agent that implements is to be; None: one run, as ever."""
    order, begun = tx.events.last(task_id, "race.ordered"), tx.events.last(task_id, "race.begun")
    if order is None or (begun is not None and begun.seq > order.seq):
        return None
    return event.RaceOrdered.model_validate(order.data)


def begin(tx: Tx, s: Services, task: Task, group: int) -> None:
    order = ordered(tx, task.id)
    assert order is not None
    told = event.RaceBegun(group=group, contenders=order.contenders, judge=order.judge)
    tx.events.add(task.id, told, SYSTEM, s.clock.now())


def current(tx: Tx, runs: Sequence[Run]) -> Race | None:
    """The race that the newest work is of: no run but a judge's began since, or since one of its
    contenders was picked."""
    worked = [run for run in runs if run.mode != race.JUDGE]
    if not any(run.part for run in worked):
        return None
    found = last(tx, worked[-1].task_id)
    if found is None:
        return None
    since = found.picked_at is not None and found.picked_at > worked[-1].created_at
    return found if since or found.has(worked[-1]) else None


def undecided(tx: Tx, runs: Sequence[Run]) -> Race | None:
    """The race whose contenders worked last, and of whom nobody is picked yet."""
    found = current(tx, runs)
    return found if found and found.picked is None else None


def author(tx: Tx, runs: Sequence[Run]) -> Run | None:
    """Whose work the newest is: after a race that of the one who was picked, which is now all of
    the task's work. A judge is no author."""
    found = current(tx, runs)
    if found is None:
        return runs[-1] if runs else None
    if found.picked is None:
        return found.members(runs)[-1]
    return next(replace(run, part="") for run in runs if run.id == found.picked)


def compared(tx: Tx, task_id: TaskId, group: int) -> dict[str, Figures]:
    """What is on record of the contenders, by run; empty until all have ended."""
    told = tx.events.last(task_id, "race.compared")
    if told is None or told.data["group"] != group:
        return {}
    return {one.run: one for one in event.RaceCompared.model_validate(told.data).figures}
