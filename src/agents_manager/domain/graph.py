"""What can be known of a pipeline without a task in it: which edges leave and enter a status, what
can be reached, where `$origin` leads, what may be asked."""

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from agents_manager.domain.guards import Fired, matches
from agents_manager.domain.pipeline import (
    AGENT_HOOKS,
    ANY_STATUS,
    NAMELESS,
    ORIGIN,
    REQUESTER,
    Category,
    Pipeline,
    PromptType,
    Transition,
    Trigger,
    TriggerType,
)
from agents_manager.domain.registry import Registry


@dataclass(frozen=True, slots=True)
class Edge:
    """A transition out of one status; one from `*` is an edge of every status it leaves."""

    index: int
    transition: Transition
    source: str
    targets: tuple[str, ...]
    """Where it can lead: one status, or all that `$origin` may stand for."""

    @property
    def kind(self) -> TriggerType:
        return self.transition.trigger.type

    @property
    def wild(self) -> bool:
        return self.transition.source == ANY_STATUS

    def hears(self, trigger: Trigger) -> bool:
        return matches(self.transition.trigger, self.transition.guards, Fired(trigger=trigger))


class Graph:
    def __init__(self, pipeline: Pipeline, registry: Registry) -> None:
        self.pipeline = pipeline
        self.statuses = {s.id: s for s in pipeline.statuses}
        self._outcomes = registry.outcomes
        self._place = {t.id: i for i, t in enumerate(pipeline.transitions)}
        named = {
            s: [t.to for t in pipeline.leaving(s) if t.to not in NAMELESS and t.to != s]
            for s in self.statuses
        }
        self.reachable = closure([pipeline.initial.id], lambda s: named[s])
        self._before = _reversed(named)
        self._origins: dict[str, tuple[str, ...]] = {}
        self.leaving = {s: tuple(self._edges(s)) for s in self.statuses}
        self.entering: Mapping[str, list[Edge]] = defaultdict(list)
        for edge in self.edges():
            for target in edge.targets:
                self.entering[target].append(edge)

    def edges(self) -> Iterable[Edge]:
        return (edge for status in self.statuses for edge in self.leaving[status])

    def origins(self, status: str) -> tuple[str, ...]:
        """The active statuses that a task can come from when it stands here."""
        if status not in self._origins:
            self._origins[status] = self._before_it(status)
        return self._origins[status]

    def _before_it(self, status: str) -> tuple[str, ...]:
        if self._is_active(status):
            return (status,)

        def before(node: str) -> Iterable[str]:
            return () if self._is_active(node) else self._before.get(node, ())

        found = closure([status], before)
        return tuple(s for s in self.statuses if s in found and self._is_active(s))

    def asks(self, status_id: str) -> frozenset[PromptType]:
        """The types of question that can stand in a status which waits for a person."""
        status = self.statuses[status_id]
        if not status.awaits_human:
            return frozenset()
        if status.prompt:
            return frozenset({status.prompt.type})
        found = (self.opened_by(edge) for edge in self.entering[status_id])
        return frozenset(kind for kind in found if kind)

    def opened_by(self, edge: Edge) -> PromptType | None:
        """The type of question that the edge's own outcome brings along."""
        outcome = self._outcomes.get(edge.transition.trigger.outcome or "")
        return outcome.prompt if outcome else None

    def agent_statuses(self) -> Mapping[str, frozenset[str]]:
        """The statuses that agents work in, with the modes they are started in by name."""
        found: dict[str, set[str]] = defaultdict(set)
        for edge in self.edges():
            for hook in edge.transition.hooks:
                if hook.type in AGENT_HOOKS:
                    for target in edge.targets:
                        found[target].update(filter(None, [str(hook.params.get("mode", ""))]))
        return {s: frozenset(found[s]) for s in self.statuses if s in found}

    def _edges(self, status: str) -> Iterable[Edge]:
        for transition in self.pipeline.leaving(status):
            to = transition.to
            nameless = {ORIGIN: self.origins, REQUESTER: self._requesters}.get(to)
            targets = nameless(status) if nameless else (to,)
            yield Edge(self._place[transition.id], transition, status, targets)

    def _requesters(self, status: str) -> tuple[str, ...]:
        """The active statuses that have the agent of this one run again."""
        return tuple(
            s
            for s in self.statuses
            if self._is_active(s)
            and any(
                t.trigger.type is TriggerType.LOOP_BACK and t.to == status
                for t in self.pipeline.leaving(s)
            )
        )

    def _is_active(self, status: str) -> bool:
        return self.statuses[status].category is Category.ACTIVE


def closure(start: Collection[str], following: Callable[[str], Iterable[str]]) -> frozenset[str]:
    found = set(start)
    waiting = deque(start)
    while waiting:
        for node in following(waiting.popleft()):
            if node not in found:
                found.add(node)
                waiting.append(node)
    return frozenset(found)


def path(start: str, end: str, edges: Mapping[str, Sequence[Edge]]) -> list[Edge] | None:
    """The shortest way of at least one edge, or None."""
    came: dict[str, Edge] = {}
    waiting = deque([start])
    while waiting:
        for edge in edges.get(waiting.popleft(), ()):
            for target in edge.targets:
                if target in came:
                    continue
                came[target] = edge
                if target == end:
                    return _traced(start, end, came)
                waiting.append(target)
    return None


def _traced(start: str, end: str, came: Mapping[str, Edge]) -> list[Edge]:
    way = [came[end]]
    while way[-1].source != start:
        way.append(came[way[-1].source])
    return way[::-1]


def circles(edges: Mapping[str, Sequence[Edge]]) -> Iterable[list[Edge]]:
    """Circles of edges, no two with a status in common, until none is left."""
    left = {node: list(out) for node, out in edges.items()}
    before = _reversed({node: [t for e in out for t in e.targets] for node, out in edges.items()})
    _trim(left, before, left)
    while left:
        seen: dict[str, int] = {}
        way: list[Edge] = []
        node = next(iter(left))
        while node not in seen:
            seen[node] = len(way)
            edge = left[node][0]
            way.append(edge)
            node = next(t for t in edge.targets if t in left)
        circle = way[seen[node] :]
        yield circle
        gone = [edge.source for edge in circle]
        for node in gone:
            del left[node]
        _trim(left, before, [earlier for node in gone for earlier in before[node]])


def _trim(
    left: dict[str, list[Edge]], before: Mapping[str, Sequence[str]], suspects: Iterable[str]
) -> None:
    """Takes away what cannot be on a circle: whatever leads nowhere."""
    waiting = deque(suspects)
    while waiting:
        node = waiting.popleft()
        if node not in left:
            continue
        left[node] = [e for e in left[node] if any(t in left for t in e.targets)]
        if not left[node]:
            del left[node]
            waiting.extend(before.get(node, ()))


def _reversed(edges: Mapping[str, Iterable[str]]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for source, targets in edges.items():
        for target in targets:
            found[target].append(source)
    return found
