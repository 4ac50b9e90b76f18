"""Lint, the circles: agents and automatic moves that could go round for ever without a person."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain

from agents_manager.domain.finding import Finding, error
from agents_manager.domain.graph import Edge, Graph, circles, path
from agents_manager.domain.pipeline import TriggerType

UNATTENDED = frozenset(
    {
        TriggerType.AGENT_OUTCOME,
        TriggerType.AGENT_ERROR,
        TriggerType.AUTO,
        TriggerType.LOOP_BACK,
        TriggerType.ANY,
    }
)
"""Triggers that can fire without a person."""


def endless(graph: Graph) -> Iterator[Finding]:
    """Circles that go round without a person and without a cap."""
    free: dict[str, list[Edge]] = defaultdict(list)
    capped: list[tuple[Edge, str]] = []
    for edge in graph.edges():
        if edge.kind not in UNATTENDED:
            continue
        status = _cap(edge)
        if status is None:
            free[edge.source].append(edge)
        else:
            capped.append((edge, status))
    for circle in circles(free):
        yield _circle(circle, "")
    unattended = [*chain.from_iterable(free.values()), *(edge for edge, _ in capped)]
    for edge, status in capped:
        if _counts(edge, status, unattended):
            continue
        kept = {s: [e for e in out if status not in e.targets] for s, out in free.items()}
        for target in edge.targets:
            way = [] if target == edge.source else path(target, edge.source, kept)
            if way is not None:
                yield _circle([edge, *way], f' Its max_iterations counts "{status}" in vain.')


def _cap(edge: Edge) -> str | None:
    for guard in edge.transition.guards:
        if guard.type == "max_iterations" and not guard.negate:
            return str(guard.params.get("statusId"))
    return None


def _counts(edge: Edge, status: str, unattended: Sequence[Edge]) -> bool:
    """Whether going round by this edge counts an entry of the status: moves by agent_error do not
    count, nor do those that follow one."""
    if status not in (edge.source, *edge.targets):
        return False
    entries = [edge] if status in edge.targets else [e for e in unattended if status in e.targets]
    return any(
        entry.kind is not TriggerType.AGENT_ERROR
        and any(
            before.kind is not TriggerType.AGENT_ERROR
            for before in unattended
            if entry.source in before.targets
        )
        for entry in entries
    )


def _circle(edges: Sequence[Edge], more: str) -> Finding:
    way = " → ".join(f'"{edge.source}"' for edge in [*edges, edges[0]])
    return error(
        "uncapped_cycle",
        f"transitions.{edges[0].index}",
        f"{way} can go round for ever without a person.{more}",
        f'Add the guard max_iterations with the statusId "{edges[0].targets[0]}".',
    )
