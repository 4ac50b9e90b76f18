"""Who moves a task next, from durable facts only. *Nobody* is an alarm, told once per version of
the task."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agents_manager.domain import event
from agents_manager.domain.dependency import READY
from agents_manager.domain.effects import BESIDE
from agents_manager.domain.ids import EffectId, ProjectId, TaskId
from agents_manager.domain.names import visible
from agents_manager.domain.pipeline import (
    ANY_STATUS,
    Pipeline,
    PromptType,
    Transition,
    TriggerType,
)
from agents_manager.domain.prompt import Prompt
from agents_manager.domain.routing import Occasion
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.task import Actor, ActorType, EffectRow, Task
from agents_manager.domain.trail import RETRY
from agents_manager.flow import admission, asking, facts, planning
from agents_manager.flow.ports import Services, Tx

SUPERVISOR = Actor(type=ActorType.SUPERVISOR, name="supervisor")
TOLD = "-stranded-"
"""Between the id and the version of a task, the id of the notice that it is stranded."""
PAGE = 200
MOST_LIVE = 500
SHOWN = 300


@dataclass(frozen=True, slots=True)
class Mover:
    """Who moves the task next. *Nobody* is an alarm."""

    kind: str
    """`run`, `prompt`, `choice`, `effect`, `timer`, `dependency`, `person`, `finished` or
    `nobody`."""
    text: str
    id: str | None = None


def next_mover(tx: Tx, task: Task, pipeline: Pipeline, now: datetime) -> Mover:
    if pipeline.is_final(task.status):
        return Mover("finished", "The task is finished.")
    return next(_movers(tx, task, pipeline, now))


def _movers(tx: Tx, task: Task, pipeline: Pipeline, now: datetime) -> Iterator[Mover]:
    for prompt in tx.prompts.pending(task.id):
        yield _asked(prompt, now)
    effects = [e for e in tx.effects.open(task.id) if e.kind not in BESIDE]
    at_work = tx.runs.live(task.id)
    begun = [run for run in at_work if run.started_at]
    for live in (begun or at_work)[:1]:
        waits = [e for e in effects if e.id == live.effect_id and e.due_at > now]
        if live.status is RunStatus.QUEUED and waits:
            yield _again(tx, live, waits[0])
        why = next(
            (w for e in effects if e.id == live.effect_id and (w := admission.waits(e))), None
        )
        if why is not None:
            yield Mover("run", f"The run ({live.mode}) waits. {why}", live.id)
        verb = "is working" if live.started_at else "is about to start"
        others = f", one of {len(at_work)} side by side" if len(at_work) > 1 else ""
        yield Mover("run", f"{live.agent or 'An agent'} {verb} ({live.mode}{others}).", live.id)
    if effects:
        first = effects[0]
        delayed = first.status == "pending" and first.due_at > now
        text = f"The engine performs {first.kind}."
        yield _timer(first) if delayed else Mover("effect", text, first.id)
    yield from _held_up(tx, task, pipeline, now)
    ways = by_hand(pipeline, task.status)
    named = ", ".join(t.title for t in ways)
    if ways and (not may_strand(pipeline, task.status) or _left_so(tx, task)):
        yield Mover("person", f"Somebody moves it by hand: {named}.")
    yield Mover("nobody", _forsaken(task, pipeline, named))


def _held_up(tx: Tx, task: Task, pipeline: Pipeline, now: datetime) -> Iterator[Mover]:
    """What a task that nobody has moved yet waits for."""
    readiness = READY
    if heeds_dependencies(pipeline, task.status):
        readiness = facts.readiness(tx, task)
    if task.starts_at is not None and task.starts_at > now:
        at = f"It starts at {task.starts_at:%Y-%m-%d %H:%M:%S} UTC"
        then = f" or later: {readiness.sentence()}" if not readiness.ready else "."
        yield Mover("timer", f"{at}{then}")
    for blocker in tx.knowledge.blocking(task.id)[:1] if readiness.blockers else ():
        yield Mover("dependency", " ".join(readiness.blockers), blocker.task_id)
    if readiness.waits_for:
        first = readiness.waits_for[0].id
        titles = ", ".join(map(str, readiness.waits_for))
        waits = readiness.sentence() if task.starts_at else f"It waits for {titles}."
        yield Mover("dependency", waits, first)
    if task.starts_at is not None:
        yield Mover("timer", "The engine starts it now.")


def may_strand(pipeline: Pipeline, status: str) -> bool:
    """Whether a task can stand there with nobody to move it. Where somebody has to be asked, a
    move by hand does not help: nobody knows of it. Nor does a way out of every status."""
    if pipeline.is_final(status):
        return False
    explicit = [t for t in by_hand(pipeline, status) if t.source != ANY_STATUS]
    return pipeline.awaits_human(status) or not explicit


def stranded(tx: Tx, now: datetime, told: str = TOLD) -> list[TaskId]:
    """Tasks that nobody will move and that have no notice with `told` in its id."""
    versions = [
        tx.pipelines.get(p.id, v.version)
        for p in tx.pipelines.all()
        for v in tx.pipelines.versions(p.id)
    ]
    names = {s.id for p in versions for s in p.statuses if may_strand(p, s.id)}
    found: list[TaskId] = []
    after: str | None = None
    while page := tx.tasks.idle(names, now, told=told, after=after, limit=PAGE):
        after = page[-1].id
        for task in page:
            pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
            if may_strand(pipeline, task.status) and _is_stranded(tx, task, pipeline, now):
                found.append(task.id)
    return found


def concerned(tx: Tx, project_id: ProjectId) -> list[Task]:
    """Where people see what happens to a project, which has no log of its own: the tasks that an
    agent works at or is to work at, else the newest."""
    live = tx.runs.page(task=None, live=True, after=None, limit=MOST_LIVE)
    found = [tx.tasks.get(run.task_id) for run in live if run.project_id == project_id]
    return found or tx.tasks.page(project=project_id, status=None, after=None, limit=1)


def tell(tx: Tx, s: Services, task_id: TaskId) -> None:
    """Puts it on record and sends a notice, unless the task is moved after all or it was told."""
    task, now = tx.tasks.get(task_id), s.clock.now()
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    mover = next_mover(tx, task, pipeline, now)
    notice = EffectId(f"{task.id}{TOLD}{task.version}")
    if mover.kind != "nobody" or planning.was_told(tx, notice):
        return
    alarm = event.TaskStranded(status=task.status, version=task.version, reason=mover.text)
    tx.events.add(task.id, alarm, SUPERVISOR, now)
    title = f"Nobody will move: {task.title}"
    planning.notice(tx, s, task, notice, title, mover.text, Occasion.FAILURE)


def _is_stranded(tx: Tx, task: Task, pipeline: Pipeline, now: datetime) -> bool:
    return next_mover(tx, task, pipeline, now).kind == "nobody"


def _asked(prompt: Prompt, now: datetime) -> Mover:
    asks = asking.summary(prompt)
    if prompt.expires_at is not None and prompt.expires_at <= now:
        late = f"Nobody answered by {prompt.expires_at:%Y-%m-%d %H:%M:%S} UTC: {asks}"
        return Mover("timer", f"The engine closes the question. {late}", prompt.id)
    if prompt.type is PromptType.CHOICE:
        return Mover("choice", f"An admin chooses: {asks}", prompt.id)
    if prompt.type is PromptType.BUDGET:
        return Mover("prompt", f"A budget holds it until an admin decides. {asks}", prompt.id)
    who = "The agent waits until a person answers" if prompt.midway else "A person answers"
    return Mover("prompt", f"{who}: {asks}", prompt.id)


def _timer(effect: EffectRow) -> Mover:
    why = f" {visible(effect.error, SHOWN)}" if effect.error else ""
    at = f"{effect.due_at:%Y-%m-%d %H:%M:%S} UTC"
    text = f"{effect.kind} is due at {at} (attempt {effect.attempt}).{why}"
    return Mover("timer", text, effect.id)


def _again(tx: Tx, run: Run, effect: EffectRow) -> Mover:
    """A run that waits for its time: one that is tried again, or one of an answer that is held."""
    entry = tx.history.get(effect.history_id)
    failed = [r for r in tx.runs.of_task(run.task_id) if r.error is not None]
    if entry.trigger != RETRY or effect.attempt > 1 or not failed:
        return _timer(effect)
    error = failed[-1].error
    assert error is not None
    at = f"{effect.due_at:%Y-%m-%d %H:%M:%S} UTC"
    which = f"{run.mode}, {entry.reason}" if entry.reason else run.mode
    text = f"{run.agent or 'The agent'} is tried again at {at} ({which}). The last run ended with"
    return Mover("timer", f"{text} {error.error_class}: {visible(error.error, SHOWN)}", run.id)


def by_hand(pipeline: Pipeline, status: str) -> Sequence[Transition]:
    triggers = (TriggerType.MANUAL, TriggerType.ANY)
    return [t for t in pipeline.leaving(status) if t.trigger.type in triggers]


def heeds_dependencies(pipeline: Pipeline, status: str) -> bool:
    """A dependency holds up only what asks for it."""
    going_on = (TriggerType.MANUAL, TriggerType.ANY, TriggerType.AUTO)
    return any(
        guard.type == "dependencies_resolved" and not guard.negate
        for t in pipeline.leaving(status)
        if t.trigger.type in going_on
        for guard in t.guards
    )


def _left_so(tx: Tx, task: Task) -> bool:
    """Somebody was asked, and chose to leave it as it is."""
    asked = tx.prompts.of_task(task.id)
    return bool(asked) and stays(asked[-1].response)


def stays(response: Mapping[str, Any] | None) -> bool:
    return (response or {}).get("choice_id") == "stay"


def _forsaken(task: Task, pipeline: Pipeline, ways: str) -> str:
    if pipeline.awaits_human(task.status):
        what = "It waits for a person, but nobody was asked."
    else:
        what = "No agent works at it, nothing is under way, and nobody was asked."
    return f"{what} By hand: {ways}." if ways else f"{what} There is no move by hand either."
