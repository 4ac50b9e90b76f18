"""A task of a simulation: it is moved, asked about and rolled back as the engine would do it, by
the engine's own decisions. What hooks leave behind is the world's."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents_manager.domain import handing_over, question, trail
from agents_manager.domain.guards import Fired, matches
from agents_manager.domain.payload import MergeTrouble
from agents_manager.domain.pipeline import (
    AGENT_HOOKS,
    HookSpec,
    Pipeline,
    Policy,
    PromptType,
    Trigger,
    TriggerType,
)
from agents_manager.domain.prompt import Choice
from agents_manager.domain.question import Ask
from agents_manager.domain.registry import Registry
from agents_manager.domain.run import AgentError, ErrorClass
from agents_manager.domain.simulation_script import Failing
from agents_manager.domain.simulation_told import Decided, shown
from agents_manager.domain.simulation_world import World
from agents_manager.domain.task import GuardCheck, HookRecord, Result
from agents_manager.domain.transition import (
    AUTO,
    MAX_AUTO_MOVES,
    Moved,
    Refusal,
    Refused,
    decide,
    in_the_way,
    nothing_to_ask,
)
from agents_manager.errors import HookFailed

MAX_MOVES = 200
"""Of one step. More are a circle that the engine would go round for ever."""
IN_THE_MOVE = frozenset({"stop_agent", "advance_phase", "log_activity", "inject_payload_context"})
"""Hooks that are done with the move or before it, so nothing is left to perform."""
SAID_SO = "the script says so"


@dataclass(frozen=True, slots=True)
class Entry:
    result: Result
    trigger: str
    source: str
    to: str
    hooks: tuple[HookRecord, ...]
    fired: Fired


class Walk:
    def __init__(self, pipeline: Pipeline, registry: Registry, *, checks: bool) -> None:
        self.pipeline = pipeline
        self.registry = registry
        self.status = pipeline.initial.id
        self.world = World(has_checks=checks)
        self.past: list[Entry] = []
        self.decisions: list[Decided] = []
        self.asks: list[Ask] = []
        self.failing: dict[str, Failing] = {}
        self.runs = 0
        self.live: str | None = None
        """The run at work."""
        self._asked: dict[str, Ask] = {}
        self._effects: deque[tuple[int, HookSpec]] = deque()
        self._step = 0
        self._moves = 0

    def begin(self, step: int) -> None:
        self._step, self._moves = step, 0

    def decide(
        self, fired: Fired, live: str | None, *, admin: bool, leaving: str | None = None
    ) -> Moved | Refused:
        source = leaving or self.status
        rounds, reviewed = trail.rounds(self.past), self._reviewed(fired, source)
        found = self.world.facts(fired, rounds, reviewed, live, admin=admin)
        origin = trail.origin(self.pipeline, self.status, self.past)
        decision = decide(self.pipeline, source, origin, found, self.registry)
        if isinstance(decision, Moved):
            return in_the_way(found, decision) or decision
        return decision

    def apply(
        self, fired: Fired, by: str, *, admin: bool = False, leaving: str | None = None
    ) -> Refused | None:
        """One attempt at a move; what refused it, else None. `leaving` is the status whose
        transitions count, if that is not the task's own."""
        decision = self.decide(fired, self.live, admin=admin, leaving=leaving)
        refused = decision if isinstance(decision, Refused) else self._enter(decision, fired, by)
        if refused is None:
            self.follow_autos()
        else:
            self._refused(by, refused)
        return refused

    def report(self, fired: Fired, by: str) -> None:
        """What the graph cannot take is put to a person."""
        refused = self.apply(fired, by)
        if refused is not None:
            self._put_to_a_person(refused, fired)

    def unreviewed(self) -> list[Choice]:
        """What a person can do with commits that no agent handed over."""
        label = self.world.unreviewed
        return handing_over.choices(label) if label and self.way_to_review() else []

    def way_to_review(self) -> tuple[str, Fired] | None:
        origin = trail.origin(self.pipeline, self.status, self.past)
        return handing_over.way(self.pipeline, origin)

    def follow_autos(self) -> None:
        for _ in range(MAX_AUTO_MOVES):
            leaving = self.pipeline.leaving(self.status)
            if not any(matches(t.trigger, t.guards, AUTO) for t in leaving):
                return
            decision = self.decide(AUTO, self.live, admin=False)
            refused = decision if isinstance(decision, Refused) else None
            if isinstance(decision, Moved):
                refused = self._enter(decision, AUTO, "auto")
            if refused is not None:
                if not (self._effects or self.live or self.asks):
                    self._refused("auto", refused)
                    self._put_to_a_person(refused, AUTO)
                return
        self.refuse("auto", f"A chain of more than {MAX_AUTO_MOVES} automatic moves is stopped.")

    def offer(self, reason: str, extra: Sequence[Choice]) -> None:
        """Lets a person choose; replaces an older choice."""
        payload = question.choices(self.pipeline, self.status, reason, "", extra)
        ask = Ask(PromptType.CHOICE, payload.model_dump(mode="json"), None)
        self.ask(ask)

    def ask(self, ask: Ask) -> None:
        """Puts the question in place of an older one of its kind."""
        self.asks = [*(a for a in self.asks if a.type is not ask.type), ask]
        self.decisions[-1] = replace(self.decisions[-1], asks=shown(ask))

    def queue(self, hook: HookSpec) -> None:
        if hook.type in AGENT_HOOKS:
            self.runs += 1
            self.live = str(self.runs)
            self.world = replace(self.world, worked_on=None)
        if hook.type not in IN_THE_MOVE:
            self._effects.append((len(self.past) - 1, hook))

    def perform(self) -> None:
        """Performs what hooks asked for, and whatever follows from it."""
        while self._effects:
            entry, hook = self._effects.popleft()
            failing = self.failing.pop(hook.type, None)
            try:
                if failing is not None:
                    raise HookFailed(SAID_SO)
                self.world = self.world.done(hook.type)
            except HookFailed as error:
                self._failed(entry, hook, error.message, failing.outcome if failing else None)
            else:
                self.follow_autos()
            if self._moves > MAX_MOVES:
                self.refuse("auto", f"More than {MAX_MOVES} moves follow from one step.")
                self._effects.clear()

    def refuse(self, by: str, *reasons: str, guards: tuple[GuardCheck, ...] = ()) -> None:
        self.tell(by, Result.REFUSED, reasons=reasons, guards=guards)

    def stand(self, by: str, result: Result, trigger: str) -> None:
        """On record without a move."""
        fired = Fired(trigger=Trigger(type=TriggerType.MANUAL))
        self.past.append(Entry(result, trigger, self.status, self.status, (), fired))
        self.tell(by, result)

    def tell(
        self,
        by: str,
        result: Result,
        *,
        reasons: tuple[str, ...] = (),
        guards: tuple[GuardCheck, ...] = (),
    ) -> None:
        here = self.status
        decided = Decided(step=self._step, by=by, result=result, source=here, to=here)
        self.decisions.append(replace(decided, reasons=reasons, guards=guards))

    def _reviewed(self, fired: Fired, status: str) -> Fired | None:
        """The review that is the trigger, else the one that brought the task to where it stands."""
        if fired.trigger.type is TriggerType.REVIEW_SUBMITTED:
            return fired
        came = trail.arrival(self.past, status)
        return came.fired if came and trail.by_review(came) else None

    def _refused(self, by: str, refused: Refused) -> None:
        checks = tuple(c for candidate in refused.candidates for c in candidate.checks)
        self.refuse(by, *refused.reasons, guards=checks)

    def _put_to_a_person(self, refused: Refused, fired: Fired) -> None:
        rerun = self.runs > 0 and self.pipeline.is_active(self.status)
        extra = question.ways_out(refused, rerun=rerun)
        if fired.trigger.type is TriggerType.AGENT_ERROR:
            extra += self.unreviewed()
        self.offer(" ".join(refused.reasons), extra)

    def _enter(self, moved: Moved, fired: Fired, by: str) -> Refused | None:
        ask = None
        if self.pipeline.awaits_human(moved.to):
            ask = question.question(
                self.pipeline,
                moved.to,
                fired,
                self.registry,
                work=lambda: self.world.work,
                document=self.world.document,
                extra=self.unreviewed,
            )
            if ask is None:
                return nothing_to_ask(moved.to)
        world = self.world
        try:
            for hook in moved.hooks:
                world = world.begun(hook.type, fired.payload)
        except HookFailed as error:
            return Refused(Refusal.GUARDS, (error.message,))
        self._write(moved, fired, by, ask, world)
        return None

    def _write(self, moved: Moved, fired: Fired, by: str, ask: Ask | None, world: World) -> None:
        hooks = tuple(
            HookRecord(name=h.type, policy=self.registry.policy(h), effect=None)
            for h in moved.hooks
        )
        decided = Decided(
            step=self._step,
            by=by,
            result=Result.DONE,
            source=self.status,
            to=moved.to,
            transition=moved.transition.id,
            guards=moved.checks,
            effects=hooks,
            asks=shown(ask) if ask else None,
        )
        self.decisions.append(decided)
        kept = replace(fired, transition_id=moved.transition.id, to=None)
        entry = Entry(Result.DONE, fired.trigger.type, self.status, moved.to, hooks, kept)
        self.past.append(entry)
        self.world, self.status, self.asks = world, moved.to, [ask] if ask else []
        if ask:
            self._asked[moved.to] = ask
        self._moves += 1
        for hook in moved.hooks:
            self.queue(hook)

    def _failed(self, entry: int, hook: HookSpec, error: str, outcome: str | None) -> None:
        by, why = f"{hook.type} failed", f"{hook.type} failed: {error}"
        if outcome is not None:
            trouble = MergeTrouble(message=why).model_dump(mode="json")
            trigger = Trigger(type=TriggerType.AGENT_OUTCOME, outcome=outcome)
            self.report(Fired(trigger=trigger, payload=trouble), by)
        elif hook.type in AGENT_HOOKS:
            self.live = None
            self.report(agent_error(error, ErrorClass.ENVIRONMENT), by)
        elif self.registry.policy(hook) is Policy.REQUIRED:
            self._roll_back(entry, why, by)
        else:
            self.follow_autos()

    def _roll_back(self, index: int, why: str, by: str) -> None:
        entry = self.past[index]
        if index != len(self.past) - 1 or entry.source == entry.to:
            return
        self._effects.clear()
        self.live = None
        back = replace(entry, result=Result.ROLLED_BACK, source=entry.to, to=entry.source)
        self.past.append(back)
        ask = self._asked.get(back.to) if self.pipeline.awaits_human(back.to) else None
        self.tell(by, Result.ROLLED_BACK, reasons=(why,))
        again = shown(ask) if ask else None
        self.decisions[-1] = replace(self.decisions[-1], to=back.to, asks=again)
        self.status, self.asks = back.to, [ask] if ask else []
        if self.pipeline.is_active(back.to):
            self.offer(why, [Choice(id="again", label="Try again", action=f"redo:{index}")])


def agent_error(error: str, error_class: ErrorClass) -> Fired:
    payload = AgentError(error=error, error_class=error_class).model_dump(mode="json")
    return Fired(trigger=Trigger(type=TriggerType.AGENT_ERROR), payload=payload)
