"""Taking an answer back: for a moment the engine holds what an answer leads to, and until then all
of it can be undone and the question asked again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agents_manager.domain import event
from agents_manager.domain.ids import EffectId, HistoryId, PromptId
from agents_manager.domain.prompt import (
    Prompt,
    PromptStatus,
    Undo,
    may_answer,
    who_may_answer,
)
from agents_manager.domain.run import RunStatus
from agents_manager.domain.task import Actor, PullState, Result, Task
from agents_manager.errors import InvalidInput, NotAllowed, UndoRefused
from agents_manager.flow import asking, budgets, check_decisions, phases, remedies
from agents_manager.flow.memory import care
from agents_manager.flow.ports import Services, Tx

LONGEST_S = 300.0


@dataclass(frozen=True, slots=True)
class Undone:
    prompt: Prompt
    """The question, open again."""
    task: Task


@dataclass(frozen=True, slots=True)
class Before:
    """What there was when the answer came; what there is beyond it followed from it."""

    history: frozenset[str]
    effects: frozenset[str]
    asked: tuple[PromptId, ...]
    phases: tuple[Mapping[str, Any], ...]
    pulls: tuple[str, ...]


def check_delay(delay_s: float) -> None:
    if not 0 <= delay_s <= LONGEST_S:
        raise InvalidInput(
            f"An answer can be held for 0 to {LONGEST_S:.0f} seconds.", [f"delay_s: {delay_s}"]
        )


def check_may_answer(prompt: Prompt, actor: Actor) -> None:
    if not may_answer(prompt, actor):
        raise NotAllowed(
            f"{actor.name or 'An agent'} may not answer prompt {prompt.id}; "
            f"{who_may_answer(prompt)} may."
        )


def before(tx: Tx, prompt: Prompt) -> Before:
    task_id = prompt.task_id
    pulls = tx.pulls.all_of_task(task_id)
    return Before(
        history=frozenset(h.id for h in tx.history.of_task(task_id)),
        effects=frozenset(e.id for e in tx.effects.open(task_id)),
        asked=tuple(p.id for p in tx.prompts.pending(task_id) if p.id != prompt.id),
        phases=phases.kept(tx, task_id),
        pulls=tuple(p.id for p in pulls if p.state is PullState.OPEN),
    )


def hold(
    tx: Tx, prompt: Prompt, was: Before, until: datetime, decisions: Sequence[str] = ()
) -> None:
    """Lets nothing that followed from the answer begin before that time."""
    task_id = prompt.task_id
    entries = [h for h in tx.history.of_task(task_id) if h.id not in was.history]
    effects = [e.id for e in tx.effects.open(task_id) if e.id not in was.effects]
    asked = [p.id for p in tx.prompts.pending(task_id)]
    for effect_id in effects:
        tx.effects.update(effect_id, due_at=until)
    undo = Undo(
        until=until,
        version=tx.tasks.get(task_id).version,
        history=tuple(h.id for h in entries if h.result is not Result.REFUSED),
        effects=tuple(effects),
        closed=tuple(p for p in was.asked if p not in asked),
        opened=tuple(p for p in asked if p not in was.asked),
        phases=was.phases,
        pulls=was.pulls,
        decisions=tuple(decisions),
    )
    tx.prompts.update(prompt.id, undo=undo)


async def undo(s: Services, prompt_id: str, actor: Actor) -> Undone:
    """Takes an answer back, or says why it is too late."""
    return await s.store.write(lambda tx: _undo(tx, s, prompt_id, actor))


def _undo(tx: Tx, s: Services, prompt_id: str, actor: Actor) -> Undone:
    prompt = tx.prompts.find(prompt_id)
    check_may_answer(prompt, actor)
    task = tx.tasks.get(prompt.task_id)
    held = _held(tx, s, prompt, task)
    _cancel(tx, s, held)
    for opened in held.opened:
        asking.close(tx, s, tx.prompts.get(PromptId(opened)), PromptStatus.CANCELLED)
    reason = f"{actor.name} took the answer back."
    history_id, source = prompt.history_id, task.status
    for entry in reversed([tx.history.get(HistoryId(h)) for h in held.history]):
        task, undone = remedies.take_back(tx, s, task, entry, actor, reason)
        history_id = undone.id
    budgets.take_back(tx, s, prompt, actor)
    check_decisions.take_back(tx, s, prompt, actor)
    phases.put_back(tx, task.id, held.phases)
    for pull_id in held.pulls:
        tx.pulls.update(pull_id, s.clock.now(), state=PullState.OPEN)
    for decision in held.decisions:
        care.retire(tx, s, decision, actor, reason)
    tx.prompts.update(prompt.id, status=PromptStatus.SUPERSEDED, undo=None)
    for closed in held.closed:
        asking.ask_again(tx, s, task, tx.prompts.get(PromptId(closed)), history_id)
    again = asking.ask_again(tx, s, task, prompt, history_id)
    _tell(tx, s, prompt, again, source, task, actor)
    return Undone(again, task)


def _held(tx: Tx, s: Services, prompt: Prompt, task: Task) -> Undo:
    """What is to be undone, unless it is too late."""
    held = prompt.undo
    if prompt.status is not PromptStatus.RESPONDED:
        raise UndoRefused(
            f"Prompt {prompt.id} is {prompt.status}: there is no answer to take back."
        )
    if held is None:
        raise UndoRefused(
            f"The answer to prompt {prompt.id} took effect at once; only one that was given with a"
            " delay can be taken back."
        )
    begun = [e for e in held.effects if tx.effects.get(EffectId(e)).status != "pending"]
    if s.clock.now() >= held.until or begun:
        raise UndoRefused(
            f"The answer to prompt {prompt.id} could be taken back until"
            f" {held.until:%Y-%m-%d %H:%M:%S} UTC; what it led to has begun."
        )
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    followed = pipeline.is_final(task.status) and tx.tasks.depending_on(task.id)
    if task.version != held.version or followed:
        raise UndoRefused(
            f'"{task.title}" went on since prompt {prompt.id} was answered; it is {task.status}.'
        )
    return held


def _cancel(tx: Tx, s: Services, held: Undo) -> None:
    now = s.clock.now()
    for effect_id in map(EffectId, held.effects):
        effect = tx.effects.get(effect_id)
        tx.effects.update(effect_id, status="cancelled", finished_at=now)
        if effect.kind == "start_agent":
            tx.runs.update(effect.payload["run_id"], status=RunStatus.CANCELLED, ended_at=now)


def _tell(
    tx: Tx, s: Services, prompt: Prompt, again: Prompt, source: str, task: Task, actor: Actor
) -> None:
    now = s.clock.now()
    if task.status != source:
        moved = event.StatusChanged(source=source, to=task.status, trigger="undo")
        tx.events.add(task.id, moved, actor, now)
    undone = event.AnswerUndone(prompt=prompt.id, by=actor.name, again=again.id)
    tx.events.add(task.id, undone, actor, now)
