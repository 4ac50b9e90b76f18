"""The one door: nothing else writes a task's status.

`apply` gathers the facts, lets the pure decision be made, and writes status, history, events,
prompt and effects into the transaction it was handed. It never performs anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agents_manager.domain import event, transition
from agents_manager.domain.guards import Facts, Fired
from agents_manager.domain.ids import HistoryId, TaskId
from agents_manager.domain.pipeline import (
    AGENT_HOOKS,
    HookSpec,
    Pipeline,
    PromptType,
    Trigger,
    TriggerType,
)
from agents_manager.domain.prompt import Choice, ResumePoint
from agents_manager.domain.run import Run
from agents_manager.domain.task import (
    SYSTEM,
    Actor,
    ArtifactType,
    EffectRow,
    History,
    HookRecord,
    Result,
    Task,
)
from agents_manager.domain.transition import Moved, Refusal, Refused
from agents_manager.errors import StaleTask
from agents_manager.flow import asking, planning
from agents_manager.flow.ports import Services, Tx

AUTO = Fired(trigger=Trigger(type=TriggerType.AUTO))
MAX_AUTO_MOVES = 20
RETRY = "retry"
_UNCOUNTED = frozenset({TriggerType.PROMPT_RESPONSE, TriggerType.AGENT_ERROR, RETRY})


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
    expect_version: int | None = None,
    force: bool = False,
    reason: str | None = None,
) -> Answer:
    """One attempt at a move. A refusal is recorded and answered with every reason."""
    task = tx.tasks.get(task_id)
    if expect_version is not None and expect_version != task.version:
        raise StaleTask(
            f'Task "{task.title}" is at version {task.version}, not {expect_version}: read it anew.'
        )
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    facts = gather(tx, task, fired, actor)
    origin = origin_of(tx, task, pipeline)
    decision = transition.decide(pipeline, task.status, origin, facts, s.registry, force=force)
    if isinstance(decision, Moved):
        decision = _stands_in_the_way(facts, decision) or decision
    if isinstance(decision, Refused):
        return refuse(tx, s, task, decision, fired, actor, reason)
    entered = _enter(tx, s, task, pipeline, decision, fired, actor, origin, reason)
    if isinstance(entered, Refused):
        return refuse(tx, s, task, entered, fired, actor, reason)
    return _follow_autos(tx, s, pipeline, entered.task, entered) or entered


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
    resume = _resume_point(tx, task, fired, origin)
    question = None
    if pipeline.awaits_human(decision.to):
        question = asking.question(tx, s, task, pipeline, decision, fired)
        if question is None:
            why = f'"{decision.to}" waits for a person, and there is nothing to ask.'
            return Refused(Refusal.NOTHING_TO_ASK, (why,))
    moved = _write(tx, s, task, decision, fired, actor, resume, reason)
    if question is not None:
        asking.open_prompt(tx, s, moved.task, question, moved.history.id, resume)
    if pipeline.is_final(moved.task.status):
        _wake_dependents(tx, s, moved.task)
    return moved


def gather(tx: Tx, task: Task, fired: Fired, actor: Actor) -> Facts:
    runs = tx.runs.of_task(task.id)
    live = next((r for r in runs if r.status.live), None)
    branches = tx.tasks.artifacts(task.id, ArtifactType.BRANCH)
    changes = tx.tasks.artifacts(task.id, ArtifactType.DIFF)
    costs = [r.usage.cost_usd if r.usage else None for r in runs if r.started_at]
    known = [c for c in costs if c is not None]
    return Facts(
        fired=fired,
        plan=task.plan,
        branch=branches[-1].label if branches else None,
        pull=tx.pulls.of_task(task.id),
        head_sha=changes[-1].data["head_sha"] if changes else None,
        live_run=live.id if live else None,
        unresolved=_unresolved(tx, task),
        rounds=_rounds(tx.history.of_task(task.id)),
        review=_review(tx, task, fired),
        spent_usd=sum(known) if len(known) == len(costs) else None,
        admin=actor.admin,
    )


def recheck(tx: Tx, s: Services, task_id: TaskId) -> None:
    """Lets an `auto` transition fire after a fact of the task changed."""
    task = tx.tasks.get(task_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    _follow_autos(tx, s, pipeline, task, None)


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


def roll_back(tx: Tx, s: Services, effect: EffectRow, error: str) -> None:
    """Takes the task back to where it came from after a required effect has finally failed."""
    entry = tx.history.get(effect.history_id)
    task = tx.tasks.get(effect.task_id)
    if task.version != entry.version or task.status != entry.to or entry.source == entry.to:
        return
    now = s.clock.now()
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    tx.effects.cancel_rest(entry.id, effect.position, now)
    asking.close_flow_prompts(tx, s, task.id)
    back = tx.tasks.move(task, entry.source, now)
    undone = replace(
        entry,
        id=HistoryId(s.ids.new()),
        version=back.version,
        result=Result.ROLLED_BACK,
        source=entry.to,
        to=entry.source,
        actor=SYSTEM,
        guards=(),
        hooks=(),
        reason=f"{effect.kind} failed: {error}",
        time=now,
    )
    tx.history.add(undone)
    happened = event.StatusRolledBack(
        source=entry.to, to=entry.source, hook=effect.kind, error=error
    )
    tx.events.add(task.id, happened, SYSTEM, now)
    note = f"{effect.kind} failed: {error}"
    if pipeline.awaits_human(back.status):
        asking.reopen(tx, s, back, undone.id, note)
    elif pipeline.is_active(back.status):
        again = Choice(id="again", label="Try again", action=f"redo:{entry.id}")
        asking.open_choice(tx, s, back, pipeline, undone.id, note, extra=[again])


def redo(tx: Tx, s: Services, history_id: HistoryId, actor: Actor) -> Answer:
    """Fires once more what an earlier move was fired by."""
    entry = tx.history.get(history_id)
    kind = TriggerType(entry.trigger)
    fired = Fired(
        trigger=Trigger(type=kind, outcome=entry.outcome),
        transition_id=entry.transition_id,
        payload=entry.payload,
    )
    return apply(tx, s, entry.task_id, fired, actor)


def after_stop(tx: Tx, s: Services, task_id: TaskId, reason: str) -> None:
    """A stopped run leaves the task where it is; a person says how it goes on."""
    task = tx.tasks.get(task_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    again = Choice(id="rerun", label="Run the agent again", action="rerun")
    last = tx.history.of_task(task_id)[-1]
    asking.open_choice(tx, s, task, pipeline, last.id, reason, extra=[again])


def grant(tx: Tx, s: Services, task_id: TaskId, actor: Actor) -> None:
    """Lets the capped rounds begin anew."""
    task = tx.tasks.get(task_id)
    now = s.clock.now()
    _standing_entry(tx, s, task, Result.GRANTED, TriggerType.MANUAL, actor)
    tx.events.add(task_id, event.RoundsGranted(by=actor.name), actor, now)
    recheck(tx, s, task_id)


def rerun(tx: Tx, s: Services, task_id: TaskId, actor: Actor) -> None:
    """Starts the agent of this status again, as its last run was started."""
    task = tx.tasks.get(task_id)
    runs = tx.runs.of_task(task_id)
    last = runs[-1]
    entry = _standing_entry(tx, s, task, Result.DONE, RETRY, actor)
    hook = HookSpec(type="start_agent", params={"mode": last.mode, "agent": last.agent})
    resume = ResumePoint(status=task.status, session=last.session, mode=last.mode, agent=last.agent)
    planning.effects(tx, s, task, (hook,), AUTO, entry.id, resume)


def _standing_entry(
    tx: Tx, s: Services, task: Task, result: Result, trigger: str, actor: Actor
) -> History:
    entry = History(
        id=HistoryId(s.ids.new()),
        task_id=task.id,
        version=task.version,
        result=result,
        transition_id=None,
        source=task.status,
        to=task.status,
        trigger=trigger,
        outcome=None,
        actor=actor,
        payload=None,
        guards=(),
        hooks=(),
        reason=None,
        time=s.clock.now(),
    )
    tx.history.add(entry)
    return entry


def _stands_in_the_way(facts: Facts, decision: Moved) -> Refused | None:
    starts = any(h.type in AGENT_HOOKS for h in decision.hooks)
    by_hand = facts.fired.trigger.type is TriggerType.MANUAL
    if facts.live_run is None or not (starts or by_hand):
        return None
    why = f"Run {facts.live_run} is still going on; stop it first, or move with --stop."
    return Refused(Refusal.AGENT_RUNNING, (why,))


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
        facts = gather(tx, task, AUTO, SYSTEM)
        origin = origin_of(tx, task, pipeline)
        decision = transition.decide(pipeline, task.status, origin, facts, s.registry)
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


def report(tx: Tx, s: Services, task_id: TaskId, fired: Fired, actor: Actor) -> None:
    """Applies what a run or the forge came back with. If the graph cannot take it, the task
    stays and a person is offered the moves; nothing is guessed."""
    result = apply(tx, s, task_id, fired, actor)
    if isinstance(result, Refused):
        task = tx.tasks.get(task_id)
        pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        _put_to_a_person(tx, s, task, pipeline, result, fired)


def _put_to_a_person(
    tx: Tx, s: Services, task: Task, pipeline: Pipeline, refused: Refused, fired: Fired
) -> None:
    extra: list[Choice] = []
    if tx.runs.of_task(task.id) and pipeline.is_active(task.status):
        extra.append(Choice(id="rerun", label="Run the agent again", action="rerun"))
    failed = [g.name for c in refused.candidates for g in c.checks if not g.passed]
    if "max_iterations" in failed:
        extra.insert(0, Choice(id="grant", label="Grant more rounds", action="grant"))
    entry = tx.history.of_task(task.id)[-1]
    asking.open_choice(
        tx, s, task, pipeline, entry.id, " ".join(refused.reasons), evidence=str(fired), extra=extra
    )


def origin_of(tx: Tx, task: Task, pipeline: Pipeline) -> str | None:
    """The last active status the task was in."""
    if pipeline.is_active(task.status):
        return task.status
    for entry in reversed(tx.history.of_task(task.id)):
        if entry.result is not Result.REFUSED and pipeline.is_active(entry.source):
            return entry.source
    return None


def _resume_point(tx: Tx, task: Task, fired: Fired, origin: str | None) -> ResumePoint:
    """From the prompt that was answered, else from the task's last run."""
    if fired.prompt_id is not None:
        for prompt in tx.prompts.of_task(task.id):
            if prompt.id == fired.prompt_id:
                return prompt.resume
    runs: list[Run] = tx.runs.of_task(task.id)
    last = runs[-1] if runs else None
    return ResumePoint(
        status=origin or task.status,
        mode=last.mode if last else None,
        agent=last.agent if last else None,
        session=last.session if last else None,
        run=last.id if last else None,
    )


def _rounds(entries: list[History]) -> Mapping[str, int]:
    """Counted moves into each status since the last grant; the very first is no repetition."""
    counts: dict[str, int] = {}
    granted = False
    for entry in entries:
        if entry.result is Result.GRANTED:
            counts, granted = {}, True
        elif entry.result is Result.DONE and entry.trigger not in _UNCOUNTED:
            counts[entry.to] = counts.get(entry.to, 0) + 1
    return counts if granted else {status: n - 1 for status, n in counts.items()}


def _unresolved(tx: Tx, task: Task) -> tuple[str, ...]:
    waiting: list[str] = []
    for other_id in task.dependencies:
        other = tx.tasks.get(TaskId(other_id))
        pipeline = tx.pipelines.get(other.pipeline_id, other.pipeline_version)
        if not pipeline.is_final(other.status):
            waiting.append(f'"{other.title}"')
    return tuple(waiting)


def _review(tx: Tx, task: Task, fired: Fired) -> Mapping[str, Any] | None:
    if fired.trigger.type is TriggerType.REVIEW_SUBMITTED and fired.payload is not None:
        return {**fired.payload, "head_sha": fired.head_sha}
    for prompt in reversed(tx.prompts.of_task(task.id)):
        if prompt.type in (PromptType.REVIEW, PromptType.DOCUMENT_REVIEW) and prompt.response:
            return {**prompt.response, "head_sha": prompt.payload.get("head_sha")}
    return None


def _wake_dependents(tx: Tx, s: Services, task: Task) -> None:
    for other in tx.tasks.depending_on(task.id):
        recheck(tx, s, other.id)
