"""The one door: nothing else writes a task's status.

`apply` gathers the facts, lets the pure decision be made, and writes status, history, events,
prompt and effects into the transaction it was handed. It never performs anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from agents_manager.domain import event, question, transition
from agents_manager.domain.guards import Fired, matches
from agents_manager.domain.ids import HistoryId, TaskId
from agents_manager.domain.pipeline import Pipeline, TriggerType
from agents_manager.domain.prompt import ResumePoint
from agents_manager.domain.task import (
    SYSTEM,
    Actor,
    History,
    HookRecord,
    Result,
    Task,
)
from agents_manager.domain.trail import MIGRATION
from agents_manager.domain.transition import (
    AUTO,
    MAX_AUTO_MOVES,
    Moved,
    Refusal,
    Refused,
    in_the_way,
)
from agents_manager.errors import StaleTask
from agents_manager.flow import (
    asking,
    clearing,
    closing,
    facts,
    issues,
    planning,
    stages,
    unreviewed,
)
from agents_manager.flow.ports import Services, Tx


@dataclass(frozen=True, slots=True)
class Applied:
    task: Task
    history: History


Answer = Applied | Refused


def apply(
    tx: Tx,
    s: Services,
    task_id: TaskId,
    fired: Fired,
    actor: Actor,
    *,
    force: bool = False,
    reason: str | None = None,
    leaving: str | None = None,
) -> Answer:
    """One attempt at a move. A refusal is recorded and answered with every reason. `leaving` is the
    status whose transitions count, if that is not the task's own."""
    task = tx.tasks.get(task_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    source = leaving or task.status
    found = facts.gather(tx, s, replace(task, status=source), fired, actor)
    origin = facts.origin_of(tx, task, pipeline)
    decision = transition.decide(pipeline, source, origin, found, s.registry, force=force)
    if isinstance(decision, Moved):
        decision = in_the_way(found, decision) or decision
    if isinstance(decision, Refused):
        return refuse(tx, s, task, decision, fired, actor, reason)
    entered = _enter(tx, s, task, pipeline, decision, fired, actor, origin, reason)
    if isinstance(entered, Refused):
        return refuse(tx, s, task, entered, fired, actor, reason)
    return _follow_autos(tx, s, pipeline, entered.task, entered) or entered


def expect(task: Task, version: int | None) -> None:
    """Refuses a move that was meant for another version of the task."""
    if version is not None and version != task.version:
        raise StaleTask(
            f'Task "{task.title}" is at version {task.version}, not {version}: read it anew.'
        )


def _enter(
    tx: Tx,
    s: Services,
    task: Task,
    pipeline: Pipeline,
    decision: Moved,
    fired: Fired,
    actor: Actor,
    origin: str | None,
    reason: str | None,
) -> Answer:
    """Writes a decided move; one into a wait opens its prompt in the same breath."""
    resume = facts.resume_point(tx, task, fired, origin, actor.run)
    question = None
    if pipeline.awaits_human(decision.to):
        question = asking.question(tx, s, task, pipeline, decision.to, fired)
        if question is None:
            return transition.nothing_to_ask(decision.to)
    if question is not None:
        asking.close_replaced(tx, s, task.id, question.type)
    moved = _write(tx, s, task, decision, fired, actor, resume, reason)
    if question is not None:
        asking.open_prompt(tx, s, moved.task, question, moved.history.id, resume)
    if pipeline.is_final(moved.task.status):
        closing.hold_dependents(tx, s, moved.task, fired.payload, actor)
        _wake_dependents(tx, s, moved.task)
        settle_end(tx, s, moved.task)
    return moved


def carry(
    tx: Tx,
    s: Services,
    task: Task,
    pipeline: Pipeline,
    to: str,
    statuses: Mapping[str, str],
    actor: Actor,
) -> Applied:
    """Writes the step to another version of the pipeline. What is asked there, and what follows,
    is the business of the migration."""
    now = s.clock.now()
    before, after = task.pipeline_version, pipeline.version
    moved = replace(tx.tasks.move(task, to, now), pipeline_version=after)
    tx.tasks.update(task.id, now, pipeline_version=after)
    entry = History(
        id=HistoryId(s.ids.new()),
        task_id=task.id,
        version=moved.version,
        result=Result.DONE,
        transition_id=None,
        source=task.status,
        to=to,
        trigger=MIGRATION,
        outcome=None,
        actor=actor,
        payload={"from_version": before, "to_version": after, "statuses": dict(statuses)},
        guards=(),
        hooks=(),
        reason=None,
        time=now,
    )
    tx.history.add(entry)
    migrated = event.TaskMigrated(from_version=before, to_version=after, source=task.status, to=to)
    tx.events.add(task.id, migrated, actor, now)
    if pipeline.is_final(to):
        _wake_dependents(tx, s, moved)
        settle_end(tx, s, moved)
    return Applied(moved, entry)


def recheck(tx: Tx, s: Services, task_id: TaskId) -> None:
    """Lets an `auto` transition fire after a fact of the task changed."""
    task = tx.tasks.get(task_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    moved = _follow_autos(tx, s, pipeline, task, None)
    settle_end(tx, s, moved.task if moved else task)


def settle_end(tx: Tx, s: Services, task: Task) -> None:
    """Orders what is done for a task that has ended, once nothing else is open for it."""
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    issues.settle(tx, s, task, pipeline)
    clearing.settle(tx, s, task, pipeline)


def refuse(
    tx: Tx,
    s: Services,
    task: Task,
    refused: Refused,
    fired: Fired,
    actor: Actor,
    reason: str | None = None,
) -> Refused:
    """Puts a refused attempt on record."""
    now = s.clock.now()
    checks = tuple(c for candidate in refused.candidates for c in candidate.checks)
    tx.history.add(
        History(
            id=HistoryId(s.ids.new()),
            task_id=task.id,
            version=task.version,
            result=Result.REFUSED,
            transition_id=fired.transition_id,
            source=task.status,
            to=fired.to or task.status,
            trigger=fired.trigger.type,
            outcome=fired.trigger.outcome,
            actor=actor,
            payload=fired.payload,
            guards=checks,
            hooks=(),
            reason=reason or " ".join(refused.reasons),
            time=now,
        )
    )
    blocked = event.StatusBlocked(status=task.status, trigger=str(fired), reasons=refused.reasons)
    tx.events.add(task.id, blocked, actor, now)
    return refused


def _write(
    tx: Tx,
    s: Services,
    task: Task,
    decision: Moved,
    fired: Fired,
    actor: Actor,
    resume: ResumePoint,
    reason: str | None,
) -> Applied:
    now = s.clock.now()
    history_id = HistoryId(s.ids.new())
    asking.close_flow_prompts(tx, s, task.id)
    moved = tx.tasks.move(task, decision.to, now)
    changed = event.StatusChanged(
        source=task.status, to=decision.to, trigger=str(fired), forced=decision.forced
    )
    tx.events.add(task.id, changed, actor, now)
    if decision.transition.skips:
        pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        stages.skipped(tx, s, moved, pipeline, decision.skipped)
    rows = planning.effects(tx, s, moved, decision.hooks, fired, history_id, resume)
    entry = History(
        id=history_id,
        task_id=task.id,
        version=moved.version,
        result=Result.FORCED if decision.forced else Result.DONE,
        transition_id=decision.transition.id,
        source=task.status,
        to=decision.to,
        trigger=fired.trigger.type,
        outcome=fired.trigger.outcome,
        actor=actor,
        payload=fired.payload,
        guards=decision.checks,
        hooks=tuple(
            HookRecord(name=h.type, policy=s.registry.policy(h), effect=rows.get(i))
            for i, h in enumerate(decision.hooks)
        ),
        reason=reason,
        time=now,
    )
    tx.history.add(entry)
    return Applied(moved, entry)


def _follow_autos(
    tx: Tx, s: Services, pipeline: Pipeline, task: Task, last: Applied | None
) -> Applied | None:
    """Fires `auto` transitions as long as exactly one is allowed."""
    for _ in range(MAX_AUTO_MOVES):
        # Few statuses have one, and gathering the facts takes longer than anything else here.
        if not any(matches(t.trigger, t.guards, AUTO) for t in pipeline.leaving(task.status)):
            return last
        found = facts.gather(tx, s, task, AUTO, SYSTEM)
        origin = facts.origin_of(tx, task, pipeline)
        decision = transition.decide(pipeline, task.status, origin, found, s.registry)
        if isinstance(decision, Moved):
            decision = _enter(tx, s, task, pipeline, decision, AUTO, SYSTEM, origin, None)
        if isinstance(decision, Refused):
            if decision.kind is not Refusal.NO_TRANSITION:
                _stay_if_nobody_moves(tx, s, task, pipeline, decision)
            return last
        last = decision
        task = last.task
    tx.events.add(task.id, event.AutoStopped(moves=MAX_AUTO_MOVES), SYSTEM, s.clock.now())
    return last


def _stay_if_nobody_moves(
    tx: Tx, s: Services, task: Task, pipeline: Pipeline, refused: Refused
) -> None:
    """Refused `auto` moves are normal while something is still under way. When nothing is, a
    person has to choose."""
    waits = tx.effects.open(task.id) or tx.runs.live(task.id) or tx.prompts.pending(task.id)
    if not waits:
        refuse(tx, s, task, refused, AUTO, SYSTEM)
        _put_to_a_person(tx, s, task, pipeline, refused, AUTO)


def report(
    tx: Tx,
    s: Services,
    task_id: TaskId,
    fired: Fired,
    actor: Actor,
    *,
    force: bool = False,
    reason: str | None = None,
) -> None:
    """Applies what a run or the forge came back with. If the graph cannot take it, the task
    stays and a person is offered the moves; nothing is guessed."""
    result = apply(tx, s, task_id, fired, actor, force=force, reason=reason)
    if isinstance(result, Refused):
        task = tx.tasks.get(task_id)
        pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        _put_to_a_person(tx, s, task, pipeline, result, fired)


def _put_to_a_person(
    tx: Tx, s: Services, task: Task, pipeline: Pipeline, refused: Refused, fired: Fired
) -> None:
    rerun = bool(tx.runs.of_task(task.id)) and pipeline.is_active(task.status)
    extra = question.ways_out(refused, rerun=rerun)
    if fired.trigger.type is TriggerType.AGENT_ERROR:
        extra += unreviewed.choices(tx, task, pipeline)
    entry = tx.history.of_task(task.id)[-1]
    asking.open_choice(
        tx, s, task, pipeline, entry.id, " ".join(refused.reasons), evidence=str(fired), extra=extra
    )


def _wake_dependents(tx: Tx, s: Services, task: Task) -> None:
    for other in tx.tasks.depending_on(task.id):
        recheck(tx, s, other.id)
