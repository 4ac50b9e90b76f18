"""Phases: made when a split is approved, begun and ended in their order, skipped or put into
another order by a person."""

from collections.abc import Mapping, Sequence
from typing import Any

from agents_manager.domain import event
from agents_manager.domain.ids import TaskId
from agents_manager.domain.payload import ProposedPhase
from agents_manager.domain.phase import Phase, PhaseStatus, active, upcoming
from agents_manager.domain.task import SYSTEM, Actor, PullState, Task
from agents_manager.errors import HookFailed, InvalidInput, PhaseNotFound, TransitionRefused
from agents_manager.flow.ports import Services, Tx


def split(tx: Tx, s: Services, task: Task, answer: Mapping[str, Any] | None) -> None:
    """Creates the approved phases. In the middle of a phase, that phase becomes the first of them
    and keeps its branch; the others follow it."""
    parts = [ProposedPhase.model_validate(p) for p in (answer or {}).get("phases") or ()]
    if not parts:
        raise HookFailed("There is no approved split to make phases from.")
    before = tx.phases.of_task(task.id)
    current = active(before)
    at = current.position if current else len(before)
    if current is not None:
        first, *parts = parts
        tx.phases.update(current.id, name=current.name, description=_both(current, first))
        at += 1
    for later in before:
        if later.position >= at:
            tx.phases.update(later.id, position=later.position + len(parts))
    for offset, part in enumerate(parts):
        tx.phases.add(
            Phase(
                id=s.ids.new(),
                task_id=task.id,
                position=at + offset,
                number=len(before) + offset + 1,
                name=part.name,
                description=part.description,
                complexity=part.complexity,
                status=PhaseStatus.PENDING,
                created_at=s.clock.now(),
            )
        )
    if current is None:
        _withdraw_pulls(tx, s, task)
        begin_next(tx, s, task)


def _withdraw_pulls(tx: Tx, s: Services, task: Task) -> None:
    """What was open for the task as a whole is not what its phases will add up to."""
    for pull in tx.pulls.all_of_task(task.id):
        if pull.state is PullState.OPEN:
            tx.pulls.update(pull.id, s.clock.now(), state=PullState.CLOSED)


def advance(tx: Tx, s: Services, task: Task) -> None:
    """Ends the phase at work and begins the next."""
    finish(tx, s, task)
    begin_next(tx, s, task)


def finish(tx: Tx, s: Services, task: Task) -> None:
    current = active(tx.phases.of_task(task.id))
    if current is not None:
        _end(tx, s, current, PhaseStatus.DONE, SYSTEM)


def begin_next(tx: Tx, s: Services, task: Task) -> None:
    following = upcoming(tx.phases.of_task(task.id))
    if following is None:
        raise HookFailed(f'Task "{task.title}" has no phase left to begin.')
    tx.phases.update(following.id, status=PhaseStatus.ACTIVE)
    begun = event.PhaseBegun(number=following.number, name=following.name)
    tx.events.add(task.id, begun, SYSTEM, s.clock.now())


async def skip(s: Services, task_id: str, number: int, actor: Actor) -> list[Phase]:
    """Leaves out a phase that has not been begun."""

    def write(tx: Tx) -> list[Phase]:
        task = tx.tasks.find(task_id)
        phase = _numbered(tx, task, number)
        if phase.status is not PhaseStatus.PENDING:
            raise TransitionRefused(
                f'Phase {number}, "{phase.name}", is {phase.status}; '
                "only a phase that has not been begun can be skipped."
            )
        _end(tx, s, phase, PhaseStatus.SKIPPED, actor)
        return tx.phases.of_task(task.id)

    return await s.store.write(write)


async def reorder(s: Services, task_id: str, numbers: Sequence[int], actor: Actor) -> list[Phase]:
    """Puts the phases that have not been begun into another order; all of them must be named."""

    def write(tx: Tx) -> list[Phase]:
        task = tx.tasks.find(task_id)
        pending = [p for p in tx.phases.of_task(task.id) if p.status is PhaseStatus.PENDING]
        if sorted(numbers) != sorted(p.number for p in pending):
            known = ", ".join(str(p.number) for p in pending) or "none"
            raise InvalidInput(
                "Name every phase that has not been begun, once.", [f"not begun: {known}"]
            )
        chosen = [_numbered(tx, task, n) for n in numbers]
        for position, phase in zip(sorted(p.position for p in pending), chosen, strict=True):
            tx.phases.update(phase.id, position=position)
        ordered = event.PhasesReordered(names=tuple(p.name for p in chosen), by=actor.name)
        tx.events.add(task.id, ordered, actor, s.clock.now())
        return tx.phases.of_task(task.id)

    return await s.store.write(write)


def kept(tx: Tx, task_id: TaskId) -> tuple[Mapping[str, Any], ...]:
    """What a hook may change about the phases, to be put back."""
    found = tx.phases.of_task(task_id)
    names = ("id", "position", "status", "description")
    return tuple({name: getattr(phase, name) for name in names} for phase in found)


def put_back(tx: Tx, task_id: TaskId, before: Sequence[Mapping[str, Any]]) -> None:
    known = {phase["id"]: phase for phase in before}
    # One phase is active at a time, also between two of these statements.
    for phase in sorted(
        tx.phases.of_task(task_id), key=lambda p: p.status is not PhaseStatus.ACTIVE
    ):
        if phase.id in known:
            tx.phases.update(phase.id, **known[phase.id])
        else:
            tx.phases.remove(phase.id)


def _end(tx: Tx, s: Services, phase: Phase, status: PhaseStatus, actor: Actor) -> None:
    tx.phases.update(phase.id, status=status)
    ended = event.PhaseEnded(number=phase.number, name=phase.name, status=status)
    tx.events.add(phase.task_id, ended, actor, s.clock.now())


def _numbered(tx: Tx, task: Task, number: int) -> Phase:
    phases = tx.phases.of_task(task.id)
    for phase in phases:
        if phase.number == number:
            return phase
    known = ", ".join(str(p.number) for p in phases) or "none"
    raise PhaseNotFound(f'Task "{task.title}" has no phase {number}; it has: {known}.')


def _both(phase: Phase, first: ProposedPhase) -> str:
    return f"{phase.description}\n\nFirst part of it: {first.name}. {first.description}".strip()
