"""Simulate: walks a pipeline by a script of outcomes and answers, without agents, repositories or
side effects, and tells each decision."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents_manager.domain import handing_over, question, trail
from agents_manager.domain.guards import Fired
from agents_manager.domain.outcome import Malformed, Reported, validate
from agents_manager.domain.pipeline import HookSpec, Pipeline, PromptType, Trigger, TriggerType
from agents_manager.domain.plugin import Borrowed
from agents_manager.domain.prompt import Choice, ChoicePayload, validate_answer
from agents_manager.domain.question import Ask
from agents_manager.domain.registry import Registry
from agents_manager.domain.run import ErrorClass
from agents_manager.domain.simulation_script import NEW, Ending, Failing, Step
from agents_manager.domain.simulation_told import Decided
from agents_manager.domain.simulation_walk import SAID_SO, Walk, agent_error
from agents_manager.domain.task import Result
from agents_manager.domain.transition import Moved, onward
from agents_manager.errors import InvalidAnswer, closest

MANUAL = Trigger(type=TriggerType.MANUAL)


@dataclass(frozen=True, slots=True)
class Simulation:
    decisions: tuple[Decided, ...]
    status: str
    finished: bool
    waits_for: str
    """What would happen next, in one sentence."""
    visited: tuple[str, ...]
    not_visited: tuple[str, ...]
    plugins: tuple[Borrowed, ...]
    """What the pipeline has from plugins."""


def simulate(
    pipeline: Pipeline, registry: Registry, script: Sequence[Step], *, checks: bool = True
) -> Simulation:
    """Plays the whole script; a step that is refused changes nothing, and the next one follows.
    `checks` says whether the project has any."""
    walks = [Walk(pipeline, registry, checks=checks)]
    for step in script:
        if step.name == NEW:
            walks.append(Walk(pipeline, registry, checks=checks))
            continue
        walk = walks[-1]
        walk.begin(step.number)
        _PLAYED[step.name](walk, step.argument, str(step))
        walk.perform()
    walk = walks[-1]
    moved = (e.to for one in walks for e in one.past if e.result is not Result.REFUSED)
    visited = dict.fromkeys([pipeline.initial.id, *moved])
    return Simulation(
        decisions=tuple(decided for one in walks for decided in one.decisions),
        status=walk.status,
        finished=pipeline.is_final(walk.status),
        waits_for=_next_mover(walk),
        visited=tuple(visited),
        not_visited=tuple(s.id for s in pipeline.statuses if s.id not in visited),
        plugins=tuple(registry.borrowed(pipeline)),
    )


def _next_mover(walk: Walk) -> str:
    if walk.pipeline.is_final(walk.status):
        return "The task is finished."
    if walk.asks:
        return f"A person is asked: {', '.join(ask.type for ask in walk.asks)}."
    return "An agent is at work." if walk.live else "A person moves it on."


def _start(walk: Walk, _: object, by: str) -> None:
    ways = onward(walk.pipeline, walk.status)
    if len(ways) != 1:
        names = ", ".join(t.to for t in ways) or "none"
        walk.refuse(by, f'"{walk.status}" has no single next move; possible: {names}.')
        return
    _by_hand(walk, Fired(trigger=MANUAL, transition_id=ways[0].id), by)


def _move(walk: Walk, to: str, by: str) -> None:
    _by_hand(walk, Fired(trigger=MANUAL, to=to), by)


def _by_hand(walk: Walk, fired: Fired, by: str) -> None:
    """A transition with `stop_agent` has the run stopped first."""
    once_gone = walk.decide(fired, None, admin=True)
    stops = isinstance(once_gone, Moved) and any(h.type == "stop_agent" for h in once_gone.hooks)
    if walk.live and stops:
        if walk.failing.pop("stop_agent", None):
            walk.refuse(by, "stop_agent failed: the script says so; the task stays.")
            return
        walk.live = None
    walk.apply(fired, by, admin=True)


def _outcome(walk: Walk, ending: Ending, by: str) -> None:
    if walk.live is None:
        walk.refuse(by, f'No agent is at work in "{walk.status}".')
        return
    offered = walk.registry.offered(walk.pipeline, walk.status)
    reading = validate(ending.name, ending.payload, offered, walk.registry.outcomes)
    if isinstance(reading, Malformed):
        walk.refuse(by, reading.reason, "The agent would be asked once to mend it.")
        return
    assert isinstance(reading, Reported)
    walk.live = None
    walk.world = walk.world.reported(walk.registry.outcomes[reading.name], reading.payload)
    trigger = Trigger(type=TriggerType.AGENT_OUTCOME, outcome=reading.name)
    walk.report(Fired(trigger=trigger, payload=reading.payload), by)


def _error(walk: Walk, error_class: ErrorClass, by: str) -> None:
    if walk.live is None:
        walk.refuse(by, f'No agent is at work in "{walk.status}".')
        return
    walk.live = None
    if error_class is ErrorClass.CANCELLED:
        stopped = "The agent was stopped; the task stays, and a person says how it goes on."
        walk.refuse(by, stopped)
        again = Choice(id="rerun", label="Run the agent again", action="rerun")
        walk.offer(stopped, [again, *walk.unreviewed()])
        return
    walk.report(agent_error(SAID_SO, error_class), by)


def _answer(walk: Walk, raw: Mapping[str, Any], by: str) -> None:
    ask = next((a for a in walk.asks if a.type is not PromptType.CHOICE), None)
    if ask is None:
        walk.refuse(by, f'Nothing is asked in "{walk.status}" that takes this answer.')
        return
    response = _valid(walk, ask, raw, by)
    if response is not None:
        walk.apply(question.fired_by(ask.type, ask.payload, response), by, admin=True)


def _review(walk: Walk, decision: str, by: str) -> None:
    if not any(ask.type in question.REVIEWS for ask in walk.asks):
        walk.refuse(by, f'No review is asked for in "{walk.status}".')
        return
    _answer(walk, {"decision": decision, "summary": "The script says so."}, by)


def _set_reviewer(walk: Walk, reviews: bool, by: str) -> None:
    walk.world = replace(walk.world, agent_reviews=reviews)


def _choose(walk: Walk, choice_id: str, by: str) -> None:
    ask = next((a for a in walk.asks if a.type is PromptType.CHOICE), None)
    if ask is None:
        walk.refuse(by, f'There is nothing to choose in "{walk.status}".')
        return
    if _valid(walk, ask, {"choice_id": choice_id}, by) is None:
        return
    choices = ChoicePayload.model_validate(ask.payload).choices
    what, _, which = next(c for c in choices if c.id == choice_id).action.partition(":")
    match what:
        case "transition":
            _by_hand(walk, Fired(trigger=MANUAL, transition_id=which), by)
        case "redo":
            walk.apply(walk.past[int(which)].fired, by, admin=True)
        case "rerun" if not walk.runs:
            walk.refuse(by, "No agent has worked at the task yet.")
        case "hand_over":
            walk.asks.remove(ask)
            _hand_over(walk, ask, which, by)
        case _:
            walk.asks.remove(ask)
            _stay(walk, what, by)


def _hand_over(walk: Walk, ask: Ask, how: str, by: str) -> None:
    """What prevents the review is followed by the same question."""
    found = walk.way_to_review()
    if found is None:
        walk.refuse(by, f'Pipeline "{walk.pipeline.id}" has no review for this work any more.')
        walk.ask(ask)
        return
    if how == handing_over.CHECKED:
        walk.world = walk.world.checked()
    leaving, fired = found
    if walk.apply(fired, by, admin=True, leaving=leaving):
        walk.ask(ask)


def _stay(walk: Walk, what: str, by: str) -> None:
    """Choices that leave the task where it is."""
    match what:
        case "grant":
            walk.stand(by, Result.GRANTED, MANUAL.type)
            walk.follow_autos()
        case "rerun":
            walk.stand(by, Result.DONE, trail.RETRY)
            walk.queue(HookSpec(type="start_agent"))
        case _:
            walk.stand(by, Result.REFUSED, MANUAL.type)


def _let_fail(walk: Walk, failing: Failing, by: str) -> None:
    hooks = walk.registry.hooks
    if failing.hook not in hooks:
        walk.refuse(by, f'There is no hook "{failing.hook}".{closest(failing.hook, list(hooks))}')
        return
    walk.failing[failing.hook] = failing


def _valid(walk: Walk, ask: Ask, raw: Mapping[str, Any], by: str) -> Mapping[str, Any] | None:
    try:
        return validate_answer(ask.type, ask.payload, raw)
    except InvalidAnswer as error:
        walk.refuse(by, error.message, *error.details)
        return None


_PLAYED: Mapping[str, Callable[[Walk, Any, str], None]] = {
    "start": _start,
    "move": _move,
    "outcome": _outcome,
    "error": _error,
    "answer": _answer,
    "review": _review,
    "choose": _choose,
    "fail": _let_fail,
    "reviewer": _set_reviewer,
}
