"""Lint, the guards: those that can never pass, and transitions whose guards do not tell which of
them is meant."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from agents_manager.domain.finding import Finding, error, warning
from agents_manager.domain.graph import Edge, Graph
from agents_manager.domain.guards import Facts, Fired, has_payload_response
from agents_manager.domain.pipeline import (
    CHOSEN,
    GuardSpec,
    PromptType,
    Trigger,
    TriggerType,
)

NEVER_TOGETHER: Sequence[frozenset[str]] = (
    frozenset({"review_approved", "review_changes_requested"}),
    frozenset({"split_approved", "split_rejected"}),
    frozenset({"phases_remain", "all_phases_completed"}),
    frozenset({"all_phases_completed", "pr_merged", "not has_final_pr"}),
    frozenset({"current_phase_pr_merged", "not current_phase_has_pr"}),
)
"""Guards of which at least one always refuses."""

_REVIEW_GUARDS = frozenset({"review_approved", "review_changes_requested"})
_SPLIT_GUARDS = frozenset({"split_approved", "split_rejected"})
_BY_NOBODY = frozenset({TriggerType.AGENT_OUTCOME, TriggerType.AGENT_ERROR, TriggerType.AUTO})
REVIEW = Trigger(type=TriggerType.REVIEW_SUBMITTED)
RESPONSE = Trigger(type=TriggerType.PROMPT_RESPONSE)


def contradiction(guards: Iterable[GuardSpec]) -> str | None:
    """Guards that cannot all pass, as words; None when they may."""
    plain: dict[tuple[str, str], bool] = {}
    names: set[str] = set()
    values: dict[str, str] = {}
    for guard in guards:
        if guard.type == "payload_is" and not guard.negate:
            field, value = str(guard.params.get("field")), str(guard.params.get("value"))
            if values.setdefault(field, value) != value:
                return f"payload_is {field} {values[field]} and {value}"
        key = (guard.type, json.dumps(guard.params, sort_keys=True, default=str))
        if plain.setdefault(key, guard.negate) is not guard.negate:
            return f"{guard.type} and not {guard.type}"
        names.add(guard.name)
    together = next((group for group in NEVER_TOGETHER if group <= names), None)
    return " and ".join(sorted(together)) if together else None


def never_passing(graph: Graph) -> Iterator[Finding]:
    """Guards that contradict each other, or that look for what their trigger never brings."""
    sources: dict[int, list[Edge]] = defaultdict(list)
    for edge in graph.edges():
        sources[edge.index].append(edge)
    for index, edges in sorted(sources.items()):
        transition = edges[0].transition
        words = contradiction(transition.guards)
        if words:
            yield error(
                "never_passes",
                f"transitions.{index}.guards",
                f'Transition "{transition.id}" can never be made: {words} do not pass together.',
                "Take one of the guards away, or make two transitions.",
            )
        for j, guard in enumerate(transition.guards):
            # One from `*` is fine when it can be made out of a single status.
            reasons = [_refuses(graph, edge, guard) for edge in edges]
            if reasons and all(reasons):
                yield error(
                    "never_passes",
                    f"transitions.{index}.guards.{j}",
                    f'Guard "{guard.name}" of transition "{transition.id}" can never pass:'
                    f" {reasons[0]}.",
                    "Change the trigger, or take the guard away.",
                )


def _refuses(graph: Graph, edge: Edge, guard: GuardSpec) -> str | None:
    """Why the guard refuses whatever fires this edge."""
    if guard.negate:
        return None
    if guard.type == "is_admin" and edge.kind in _BY_NOBODY:
        return f"{edge.kind} is fired by no person"
    if guard.type in _REVIEW_GUARDS and not edge.hears(REVIEW):
        entered = any(e.hears(REVIEW) for e in graph.entering[edge.source])
        return None if entered else f"{edge.kind} carries no review"
    if guard.type == "has_payload_response":
        return _no_answer(graph, edge, guard)
    if guard.type in _SPLIT_GUARDS:
        if not edge.hears(RESPONSE):
            return f"{edge.kind} carries no decision on a split"
        if PromptType.SPLIT_PROPOSAL not in graph.asks(edge.source):
            return f'no split is proposed in "{edge.source}"'
    return None


def _no_answer(graph: Graph, edge: Edge, guard: GuardSpec) -> str | None:
    if not (edge.hears(RESPONSE) or edge.hears(REVIEW)):
        return f"{edge.kind} carries no answer"
    asked = sorted(graph.asks(edge.source) - {PromptType.CHOICE})
    if not asked:
        return f'nothing is asked in "{edge.source}"'
    answers = (Fired(trigger=RESPONSE, payload={}, prompt_type=kind) for kind in asked)
    if any(has_payload_response(Facts(fired=a), guard.params)[0] for a in answers):
        return None
    return f'"{edge.source}" asks {", ".join(asked)}, not {guard.params.get("payloadType")}'


def competing(graph: Graph) -> Iterator[Finding]:
    """Transitions out of one status that the same trigger fires and no guard tells apart."""
    told: set[int] = set()
    for status in graph.statuses:
        for group in _rivals(graph.leaving[status]):
            for n, later in enumerate(group):
                pairs = () if later.index in told else (_rivalry(e, later) for e in group[:n])
                found = next(filter(None, pairs), None)
                if found:
                    told.add(later.index)
                    yield found


def _rivals(edges: Sequence[Edge]) -> Iterator[list[Edge]]:
    """Edges that hear the same thing. One with its own `from` beats one from `*`; of some the
    target is chosen."""
    groups: dict[tuple[bool, str, str], list[Edge]] = defaultdict(list)
    answers = _named((RESPONSE, REVIEW))
    heard = _named(e.transition.trigger for e in edges if e.kind is not TriggerType.ANY)
    for edge in edges:
        own = heard if edge.kind is TriggerType.ANY else _named([edge.transition.trigger])
        for name, trigger in {**own, **answers}.items():
            if edge.hears(trigger):
                chosen = edge.transition.to if trigger.type in CHOSEN else ""
                groups[edge.wild, name, chosen].append(edge)
    yield from (group for group in groups.values() if len(group) > 1)


def _named(triggers: Iterable[Trigger]) -> dict[str, Trigger]:
    return {f"{t.type} {t.outcome}": t for t in triggers}


def _rivalry(earlier: Edge, later: Edge) -> Finding | None:
    one, other = earlier.transition, later.transition
    if contradiction((*one.guards, *other.guards)):
        return None
    position = f"transitions.{later.index}"
    both = f'"{one.id}" and "{other.id}" both take {other.trigger.outcome or other.trigger.type}'
    fix = 'Give them guards of which only one can pass, such as one with "not": true.'
    wider = [{(g.name, str(g.params)) for g in t.guards} for t in (one, other)]
    if wider[0] <= wider[1] or wider[1] <= wider[0]:
        return error("competing", position, f'{both} from "{later.source}".', fix)
    return warning("competing", position, f'{both} from "{later.source}" if all guards pass.', fix)
