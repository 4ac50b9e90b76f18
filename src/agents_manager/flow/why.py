"""Why a task is where it is, in one paragraph, from durable facts only."""

from collections.abc import Iterator
from datetime import datetime
from itertools import takewhile

from agents_manager.domain.ids import PromptId
from agents_manager.domain.names import visible
from agents_manager.domain.pipeline import Pipeline, TriggerType
from agents_manager.domain.prompt import who_may_answer
from agents_manager.domain.run import Run
from agents_manager.domain.task import EffectRow, History, Result, Task
from agents_manager.domain.trail import MIGRATION, RETRY, moved
from agents_manager.flow import sharing
from agents_manager.flow.liveness import SHOWN, Mover
from agents_manager.flow.pipelines import plain
from agents_manager.flow.ports import Tx

_SET_OFF: dict[str, str] = {
    TriggerType.MANUAL: "by hand",
    TriggerType.AGENT_ERROR: "since the agent failed",
    TriggerType.PROMPT_RESPONSE: "by an answer",
    TriggerType.REVIEW_SUBMITTED: "by a review",
    TriggerType.AUTO: "by itself",
}


def paragraph(tx: Tx, task: Task, pipeline: Pipeline, mover: Mover) -> str:
    entries = tx.history.of_task(task.id)
    moves = [e for e in entries if e.result not in (Result.REFUSED, Result.GRANTED)]
    if mover.kind == "timer":
        moves = [e for e in moves if e.trigger != RETRY]
    last = moves[-1] if moves else None
    status = pipeline.status(task.status)
    version = f"{plain(pipeline.id)} {pipeline.version}"
    sentences = [
        f'"{task.title}" is in {status.title} ({status.id}) of pipeline {version}.',
        _arrived(task, last),
        mover.text,
        *_asked(tx, mover),
    ]
    if mover.kind != "finished":
        sentences += [
            *sharing.unshared(tx, task),
            *_refused(entries),
            *_trouble(tx, task, last),
            *_edited(tx, task),
        ]
    return " ".join(visible(one, 2 * SHOWN) for one in sentences)


def _arrived(task: Task, last: History | None) -> str:
    if last is None:
        return f"It was created at {_at(task.created_at)} and has not been moved since."
    who = last.actor.name or last.actor.type.value
    when = f"at {_at(last.time)} by {who}"
    if last.result is Result.ROLLED_BACK:
        return f"It was taken back from {last.source} {when}: {_end(last.reason or '')}"
    how = f"with {last.outcome}" if last.outcome else _SET_OFF.get(last.trigger, last.trigger)
    forced = ", past the guards" if last.result is Result.FORCED else ""
    why = f" ({visible(last.reason, SHOWN)})" if last.reason else ""
    if last.trigger == MIGRATION:
        return f"It was migrated to this version, from {last.source}, {when}{why}."
    if last.trigger == RETRY:
        return f"Its agent was started again {when}{why}."
    return f"It came from {last.source} {how}{forced}, {when}{why}."


def _asked(tx: Tx, mover: Mover) -> Iterator[str]:
    if mover.kind not in ("prompt", "choice") or mover.id is None:
        return
    prompt = tx.prompts.get(PromptId(mover.id))
    until = f", until {_at(prompt.expires_at)}" if prompt.expires_at else ""
    yield f"It was asked at {_at(prompt.created_at)}; {who_may_answer(prompt)} may answer{until}."
    if prompt.default_at:
        yield f"The suggested answer is taken at {_at(prompt.default_at)} unless somebody answers."
    if prompt.note:
        yield _end(prompt.note)


def _refused(entries: list[History]) -> Iterator[str]:
    since = list(takewhile(lambda e: not moved(e), reversed(entries)))
    refused = [e for e in since if e.result is Result.REFUSED]
    if refused:
        last = refused[0]
        who = last.actor.name or last.actor.type.value
        failed = " ".join(dict.fromkeys(g.reason for g in last.guards if not g.passed))
        # Whoever moves a task by hand may have given a reason of their own.
        by_hand = last.trigger is TriggerType.MANUAL
        reasons = (failed if by_hand else last.reason) or last.reason or ""
        what = last.outcome or last.trigger
        yield f"The last attempt ({what}, {who}, {_at(last.time)}) was refused: {_end(reasons)}"


def _trouble(tx: Tx, task: Task, last: History | None) -> Iterator[str]:
    runs = tx.runs.of_task(task.id)
    if runs and runs[-1].error is not None:
        yield _ended_badly(runs[-1])
    for effect in tx.effects.open(task.id):
        if effect.error:
            due = _at(effect.due_at)
            yield f"{_tried(effect)} and is tried again at {due}: {_end(effect.error)}"
    for effect in tx.effects.failed(task.id):
        if last is not None and effect.history_id == last.id:
            yield f"{_tried(effect)}, without success: {_end(effect.error or '')}"


def _ended_badly(run: Run) -> str:
    assert run.error is not None
    what = f"Its last run, {run.id} ({run.mode})"
    return f"{what}, ended with {run.error.error_class}: {_end(run.error.error)}"


def _tried(effect: EffectRow) -> str:
    done = effect.attempt - 1 if effect.status == "pending" else effect.attempt
    return f"{effect.kind} was tried {'once' if done == 1 else f'{done} times'}"


def _edited(tx: Tx, task: Task) -> Iterator[str]:
    begun = [run.started_at for run in tx.runs.live(task.id) if run.started_at]
    if any(task.updated_at > at for at in begun):
        yield "The task was edited since the run began; the run keeps the words it was given."


def _at(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"


def _end(text: str) -> str:
    said = visible(text, SHOWN) or "no reason is on record"
    return said if said.endswith((".", "!", "?", "…")) else f"{said}."
