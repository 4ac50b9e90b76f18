"""The decision: a pure, total function from pipeline, status, trigger and facts to *moved* or
*refused*. Nothing here reads or writes anything."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from agents_manager.domain.guards import Facts, Fired, check, matches
from agents_manager.domain.phase import upcoming
from agents_manager.domain.pipeline import (
    AGENT_HOOKS,
    ANY_STATUS,
    CHOSEN,
    ORIGIN,
    REQUESTER,
    HookSpec,
    Pipeline,
    Transition,
    Trigger,
    TriggerType,
)
from agents_manager.domain.registry import Registry
from agents_manager.domain.task import GuardCheck


class Refusal(StrEnum):
    NO_TRANSITION = "no_transition"
    GUARDS = "guards"
    AMBIGUOUS = "ambiguous"
    NO_ORIGIN = "no_origin"
    NO_REQUESTER = "no_requester"
    HOOKS = "hooks"
    NOTHING_TO_ASK = "nothing_to_ask"
    AGENT_RUNNING = "agent_running"


@dataclass(frozen=True, slots=True)
class Candidate:
    transition: Transition
    checks: tuple[GuardCheck, ...]
    to: str | None
    """The status it leads to; None when there is no way back to take."""

    @property
    def allowed(self) -> bool:
        return all(c.passed for c in self.checks)

    @property
    def reasons(self) -> list[str]:
        return [c.reason for c in self.checks if not c.passed]


@dataclass(frozen=True, slots=True)
class Moved:
    transition: Transition
    to: str
    hooks: tuple[HookSpec, ...]
    checks: tuple[GuardCheck, ...]
    forced: bool = False

    @property
    def skipped(self) -> dict[str, str]:
        """The statuses that are left out by going this way, and why."""
        reasons = {check.name.removeprefix("not "): check.reason for check in self.checks}
        return {status: reasons[guard] for status, guard in self.transition.skips.items()}


@dataclass(frozen=True, slots=True)
class Refused:
    kind: Refusal
    reasons: tuple[str, ...]
    candidates: tuple[Candidate, ...] = ()


Decision = Moved | Refused

AUTO = Fired(trigger=Trigger(type=TriggerType.AUTO))
MAX_AUTO_MOVES = 20
"""A chain that is longer stops, with an event that says so."""


def candidates(
    pipeline: Pipeline,
    status: str,
    facts: Facts,
    registry: Registry,
    *,
    origin: str | None = None,
) -> list[Candidate]:
    """Every transition that listens to what fired, with its guards checked."""
    fired = facts.fired
    listening = [t for t in pipeline.leaving(status) if matches(t.trigger, t.guards, fired)]
    targets = {ORIGIN: origin, REQUESTER: facts.stages.requester}
    return [
        Candidate(t, tuple(check(g, facts, registry.guards) for g in t.guards), to)
        for t in _explicit_first(listening, fired.trigger.type)
        for to in [targets.get(t.to, t.to)]
        if (fired.to is None or fired.to in (t.to, to))
        and (fired.transition_id is None or t.id == fired.transition_id)
    ]


def _explicit_first(listening: list[Transition], kind: TriggerType) -> list[Transition]:
    """An explicit `from` beats `*` also where the two listen by different triggers; where the
    target is chosen, only for the same one."""
    explicit = [t for t in listening if t.source != ANY_STATUS]
    if kind in CHOSEN:
        taken = {t.to for t in explicit}
        return [t for t in listening if t.source != ANY_STATUS or t.to not in taken]
    return explicit or listening


def decide(
    pipeline: Pipeline,
    status: str,
    origin: str | None,
    facts: Facts,
    registry: Registry,
    *,
    force: bool = False,
) -> Decision:
    """One move or every reason against it. `force` passes the guards, never the graph."""
    if origin is not None and not pipeline.has(origin):
        origin = None
    found = candidates(pipeline, status, facts, registry, origin=origin)
    if not found:
        reason = _nothing_listens(pipeline, status, origin, facts)
        return Refused(Refusal.NO_TRANSITION, (reason,))
    allowed = [c for c in found if c.allowed] or (found if force else [])
    if not allowed:
        return Refused(Refusal.GUARDS, tuple(_against(found)), tuple(found))
    if len(allowed) > 1:
        names = ", ".join(f"{c.transition.title} ({c.transition.id})" for c in allowed)
        return Refused(
            Refusal.AMBIGUOUS, (f"Several transitions take {facts.fired}: {names}.",), tuple(found)
        )
    chosen = allowed[0]
    if chosen.to is None and chosen.transition.to == REQUESTER:
        reason = (
            f'No agent asked for what was done in "{status}", so there is nobody to go back to.'
        )
        return Refused(Refusal.NO_REQUESTER, (reason,), (chosen,))
    if chosen.to is None:
        reason = f'"{status}" was not entered from an active status, so there is no way back.'
        return Refused(Refusal.NO_ORIGIN, (reason,), (chosen,))
    cannot = tuple(_cannot_begin(chosen.transition.hooks, facts, registry))
    if cannot:
        return Refused(Refusal.HOOKS, cannot, (chosen,))
    forced = not chosen.allowed
    return Moved(chosen.transition, chosen.to, chosen.transition.hooks, chosen.checks, forced)


def _against(found: list[Candidate]) -> list[str]:
    """Why no way is open. Where there are several, each is named with what stands against it, and
    those together that the same stands against."""
    ways: dict[tuple[str, ...], list[str]] = {}
    for one in found:
        target = f'"{one.to or one.transition.to}"'
        named = ways.setdefault(tuple(dict.fromkeys(one.reasons)), [])
        if target not in named:
            named.append(target)
    if len(ways) == 1:
        return [*next(iter(ways))]
    return [f"To {' or '.join(named)}: {' '.join(why)}" for why, named in ways.items()]


def _cannot_begin(hooks: Iterable[HookSpec], facts: Facts, registry: Registry) -> Iterator[str]:
    """Why hooks could not be performed, or not be done with the move as they have to be."""
    for hook in hooks:
        if hook.type not in registry.hooks:
            yield f"Nothing performs it any more: {registry.nobody_knows('hook', hook.type)}"
        elif hook.type == "execute_split" and not (facts.fired.payload or {}).get("phases"):
            yield "There is no approved split to make phases from."
        elif hook.type == "advance_phase" and upcoming(facts.phases) is None:
            yield "There is no phase left to begin."


def in_the_way(facts: Facts, decision: Moved) -> Refused | None:
    """A live run stands in the way of moves by hand and of those that start another agent."""
    starts = any(h.type in AGENT_HOOKS for h in decision.hooks)
    by_hand = facts.fired.trigger.type is TriggerType.MANUAL
    if facts.live_run is None or not (starts or by_hand):
        return None
    why = f"Run {facts.live_run} is still going on; stop it first, or move with --stop."
    return Refused(Refusal.AGENT_RUNNING, (why,))


def nothing_to_ask(status: str) -> Refused:
    why = f'"{status}" waits for a person, and there is nothing to ask.'
    return Refused(Refusal.NOTHING_TO_ASK, (why,))


def onward(pipeline: Pipeline, status: str) -> list[Transition]:
    """The moves by hand that do not end the task; *Start* makes the only one."""
    return [
        t
        for t in pipeline.leaving(status)
        if t.trigger.type is TriggerType.MANUAL and (t.to == ORIGIN or not pipeline.is_final(t.to))
    ]


def _nothing_listens(pipeline: Pipeline, status: str, origin: str | None, facts: Facts) -> str:
    fired = facts.fired
    if fired.trigger.type is not TriggerType.MANUAL:
        return f'Nothing in pipeline "{pipeline.id}" takes {fired} from "{status}".'
    targets = (
        {ORIGIN: origin, REQUESTER: facts.stages.requester}.get(t.to, t.to)
        for t in pipeline.leaving(status)
        if t.trigger.type in (TriggerType.MANUAL, TriggerType.ANY)
    )
    ways = ", ".join(dict.fromkeys(f'"{to}"' for to in targets if to is not None))
    possible = f"Possible from here: {ways}." if ways else "Nothing can be moved by hand."
    wanted = fired.to or fired.transition_id
    move = f'no move from "{status}"' + (f' to "{wanted}"' if wanted else " by hand")
    return f'There is {move} in pipeline "{pipeline.id}". {possible}'
