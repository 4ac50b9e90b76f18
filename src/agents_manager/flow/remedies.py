"""Ways out: back after a failed effect, once more, further than the cap, on after a stop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from agents_manager.domain import event, parts, run_settings
from agents_manager.domain.effects import BESIDE
from agents_manager.domain.graph import Graph
from agents_manager.domain.guards import Fired
from agents_manager.domain.ids import EffectId, HistoryId, RunId, TaskId
from agents_manager.domain.pipeline import (
    AGENT_HOOKS,
    HookSpec,
    Pipeline,
    Trigger,
    TriggerType,
)
from agents_manager.domain.prompt import Choice
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.task import SYSTEM, Actor, EffectRow, History, Result, Task
from agents_manager.domain.template import MODES
from agents_manager.domain.trail import RETRY, arrival, went_on
from agents_manager.errors import InvalidInput, TransitionRefused, closest
from agents_manager.flow import (
    asking,
    choices,
    closing,
    facts,
    loop_backs,
    planning,
    race_choice,
    races,
    starting,
    transitions,
    unreviewed,
)
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.starting import Start


def roll_back(
    tx: Tx, s: Services, effect: EffectRow, error: str, ways_out: Sequence[Choice] = ()
) -> bool:
    """Takes the task back to where it came from after a required effect has finally failed; False
    when it is elsewhere by now."""
    entry = tx.history.get(effect.history_id)
    task = tx.tasks.get(effect.task_id)
    if entry.source == entry.to or went_on(tx.history.of_task(task.id), entry):
        return False
    now = s.clock.now()
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    tx.effects.cancel_rest(entry.id, effect.position, now)
    _cancel_its_run(tx, task.id, now)
    asking.close_flow_prompts(tx, s, task.id)
    note = f"{effect.kind} failed: {error}"
    back, undone = take_back(tx, s, task, entry, SYSTEM, note)
    happened = event.StatusRolledBack(
        source=entry.to, to=entry.source, hook=effect.kind, error=error
    )
    tx.events.add(task.id, happened, SYSTEM, now)
    if pipeline.awaits_human(back.status):
        asking.reopen(tx, s, back, undone.id, note)
        if ways_out:
            asking.open_choice(tx, s, back, pipeline, undone.id, note, extra=ways_out)
    elif pipeline.is_active(back.status):
        again = Choice(id="again", label="Try again", action=f"redo:{entry.id}")
        asking.open_choice(tx, s, back, pipeline, undone.id, note, extra=[*ways_out, again])
    return True


def take_back(
    tx: Tx, s: Services, task: Task, entry: History, actor: Actor, reason: str
) -> tuple[Task, History]:
    """Undoes the last move, and puts that on record. What stood where it was stays there."""
    now = s.clock.now()
    moved = entry.source != entry.to
    if moved and tx.pipelines.get(task.pipeline_id, task.pipeline_version).is_final(task.status):
        closing.reopened(tx, s, task, actor)
    back = tx.tasks.move(task, entry.source, now) if moved else task
    undone = replace(
        entry,
        id=HistoryId(s.ids.new()),
        version=back.version,
        result=Result.ROLLED_BACK,
        source=entry.to,
        to=entry.source,
        actor=actor,
        guards=(),
        hooks=(),
        reason=reason,
        time=now,
    )
    tx.history.add(undone)
    return back, undone


def _cancel_its_run(tx: Tx, task_id: TaskId, now: datetime) -> None:
    """A run whose effect was cancelled with the move will never begin."""
    for run in tx.runs.live(task_id):
        if tx.effects.get(run.effect_id).status == "cancelled":
            tx.runs.update(run.id, status=RunStatus.CANCELLED, ended_at=now)
            tx.events.add(task_id, event.AgentCancelled(run=run.id), SYSTEM, now)


def redo(tx: Tx, s: Services, history_id: HistoryId, actor: Actor) -> transitions.Answer:
    """Fires once more what an earlier move was fired by."""
    entry = tx.history.get(history_id)
    kind = TriggerType(entry.trigger)
    if kind is TriggerType.AGENT_OUTCOME:
        loop_backs.dropped(tx, s, entry.task_id, actor)
    fired = Fired(
        trigger=Trigger(type=kind, outcome=entry.outcome),
        transition_id=entry.transition_id,
        payload=entry.payload,
    )
    return transitions.apply(tx, s, entry.task_id, fired, actor)


def after_stop(tx: Tx, s: Services, task_id: TaskId, reason: str) -> None:
    """A stopped run leaves the task where it is; a person says how it goes on."""
    race = races.undecided(tx, tx.runs.of_task(task_id))
    if race is not None:
        race_choice.ask(tx, s, task_id, race, reason)
        return
    task = tx.tasks.get(task_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    again = Choice(id="rerun", label="Run the agent again", action="rerun")
    offered = [again, *unreviewed.choices(tx, task, pipeline)]
    last = tx.history.of_task(task_id)[-1]
    asking.open_choice(tx, s, task, pipeline, last.id, reason, extra=offered)


def grant(tx: Tx, s: Services, task_id: TaskId, actor: Actor) -> None:
    """Lets the capped rounds begin anew."""
    task = tx.tasks.get(task_id)
    now = s.clock.now()
    _standing_entry(tx, s, task, Result.GRANTED, TriggerType.MANUAL, actor)
    tx.events.add(task_id, event.RoundsGranted(by=actor.name), actor, now)
    transitions.recheck(tx, s, task_id)
    loop_backs.taken_up(tx, s, task_id, actor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a run is started with; what it leaves out is as in the last run."""

    mode: str | None = None
    agent: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """For this run, also when it goes on after a question."""


def rerun(
    tx: Tx,
    s: Services,
    task_id: TaskId,
    actor: Actor,
    order: Order | None = None,
    *,
    at: datetime | None = None,
    reason: str | None = None,
    run: Run | None = None,
) -> list[RunId]:
    """Starts the agent of this status again, as its last run was started, now or later; of several
    that worked side by side, those that did not get done, or the one that is named."""
    task, order = tx.tasks.get(task_id), order or Order()
    runs = tx.runs.of_task(task_id)
    if not runs:
        raise TransitionRefused(f'No agent has worked at "{task.title}" yet; start it instead.')
    again = [run] if run else _again(tx, s, runs)
    entry = _standing_entry(tx, s, task, Result.DONE, RETRY, actor, reason)
    started: list[RunId] = []
    for position, last in enumerate(again):
        mode = order.mode or last.mode
        agent = order.agent or _agent_again(tx, s, task, mode, last)
        # What was set for one agent, its model above all, means nothing to another.
        before = last.overrides if agent == last.agent else run_settings.NONE
        wanted = {"mode": mode, "agent": agent}
        hook = HookSpec(type="start_agent", params={**before.hook, **wanted})
        begins = Start(
            resume=starting.going_on(task, last),
            part=last.part,
            own={**before.run, **order.settings},
        )
        effect_id, fired = EffectId(f"{entry.id}-{position}"), transitions.AUTO
        made = planning.start(tx, s, task, hook, fired, effect_id, entry.id, position, begins)
        if at is not None:
            tx.effects.update(effect_id, due_at=at)
        started.append(made)
    return started


def _agent_again(tx: Tx, s: Services, task: Task, mode: str, last: Run) -> str | None:
    """The agent of the last run; None where the task's choice has changed since then."""
    choice = choices.of_mode(s, tx.projects.get(task.project_id), task, mode)
    kept = last.part or mode != last.mode or not choices.is_replaced(choice, last)
    return last.agent if kept else None


def _again(tx: Tx, s: Services, runs: Sequence[Run]) -> list[Run]:
    """Of several that worked side by side those that are not done; after a race, also of one that
    was judged since, whoever was picked or is still to be."""
    race = races.current(tx, runs)
    left = parts.undone([r for r in runs if not race or race.has(r)], starting.asking(s))
    if left and not (race and race.picked):
        return left
    last = races.author(tx, runs)
    return [last] if last else []


def start_anew(tx: Tx, s: Services, task: Task, pipeline: Pipeline, actor: Actor) -> bool:
    """Starts the agent that the move into this status asked for; False when it asked for none."""
    came = arrival(facts.past(tx, task.id), task.status)
    if came is None or came.result is Result.ROLLED_BACK:
        return False
    runs = tx.runs.of_task(task.id)
    if runs and runs[-1].created_at >= came.time:
        rerun(tx, s, task.id, actor)
        return True
    hooks = [h for t in pipeline.transitions if t.id == came.transition_id for h in t.hooks]
    starts = [h for h in hooks if h.type in AGENT_HOOKS]
    if not starts:
        return False
    start_here(tx, s, task, starts[0], actor)
    return True


def start_here(tx: Tx, s: Services, task: Task, hook: HookSpec, actor: Actor) -> None:
    """Starts what a hook asks for, without a move."""
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    entry = _standing_entry(tx, s, task, Result.DONE, RETRY, actor)
    origin = facts.origin_of(tx, task, pipeline)
    resume = facts.resume_point(tx, task, transitions.AUTO, origin)
    planning.effects(tx, s, task, [hook], transitions.AUTO, entry.id, resume)


def check_unmoved(tx: Tx, task: Task) -> None:
    """Refuses while the engine is at something that may move the task."""
    busy = [e.kind for e in tx.effects.open(task.id) if e.kind not in BESIDE]
    if busy:
        raise TransitionRefused(f"The engine performs {busy[0]}; try again in a moment.")


def start_run(tx: Tx, s: Services, task_id: str, actor: Actor, order: Order) -> Run:
    """A run by hand, where an agent works but none is at it; a choice that stands open is closed
    by it."""
    task = tx.tasks.find(task_id)
    project, live = tx.projects.get(task.project_id), tx.runs.live(task.id)
    if live:
        raise TransitionRefused(f'Run {live[0].id} of "{task.title}" goes on already.')
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    if task.status not in Graph(pipeline, s.registry).agent_statuses():
        raise TransitionRefused(
            f'No agent works at "{task.title}" in {task.status}; move it on first: '
            f"am task show {task.id}"
        )
    check_unmoved(tx, task)
    if races.undecided(tx, tx.runs.of_task(task.id)):
        raise TransitionRefused(
            f'Nobody was picked yet of those who raced at "{task.title}": am task compare {task.id}'
        )
    modes = sorted(MODES)
    if order.mode is not None and order.mode not in modes:
        hint = closest(order.mode, modes)
        raise InvalidInput(f'There is no mode "{order.mode}".{hint}', [", ".join(modes)])
    order = replace(order, settings=run_settings.checked(order.settings))
    if order.agent is not None:
        s.agents.get(order.agent, project)
    asking.close_flow_prompts(tx, s, task.id)
    return tx.runs.get(rerun(tx, s, task.id, actor, order)[0])


def _standing_entry(
    tx: Tx,
    s: Services,
    task: Task,
    result: Result,
    trigger: str,
    actor: Actor,
    reason: str | None = None,
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
        reason=reason,
        time=s.clock.now(),
    )
    tx.history.add(entry)
    return entry
