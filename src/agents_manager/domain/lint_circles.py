"""Lint, the circles: agents and automatic moves that could go round for ever without a person."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from agents_manager.domain.finding import Finding, error
from agents_manager.domain.graph import Edge, Graph, circles, path
from agents_manager.domain.pipeline import REQUESTER, TriggerType

_BY_AGENTS = frozenset({TriggerType.AGENT_OUTCOME, TriggerType.AGENT_ERROR})
_RUN_OUT = frozenset({"loop_backs_within", "batches_remain"})
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
        if edge.transition.to == REQUESTER or _runs_out(edge):
            continue
        if edge.wild and edge.kind in _BY_AGENTS and graph.statuses[edge.source].awaits_human:
            continue  # Nobody works where a person is waited for.
        status = _cap(edge)
        if status is None:
            free[edge.source].append(edge)
        else:
            capped.append((edge, status))
    for circle in circles(free):
        yield _circle(circle, "")
    yield from _capped_in_vain(free, capped)


def _runs_out(edge: Edge) -> bool:
    """Whether it is gone so often and no more, wherever it leads: there are so many batches, and so
    many loop-backs, each of which is returned from once."""
    return any(g.type in _RUN_OUT and not g.negate for g in edge.transition.guards)


def _capped_in_vain(
    free: Mapping[str, Sequence[Edge]], capped: Sequence[tuple[Edge, str]]
) -> Iterator[Finding]:
    """Circles with a cap that never counts up."""
    entering: dict[str, list[Edge]] = defaultdict(list)
    for edge in chain(*free.values(), (edge for edge, _ in capped)):
        for target in edge.targets:
            entering[target].append(edge)
    in_vain: dict[str, list[Edge]] = defaultdict(list)
    for edge, status in capped:
        if not _counts(edge, status, entering):
            in_vain[status].append(edge)
    for status, edges in in_vain.items():
        kept = {s: [e for e in out if status not in e.targets] for s, out in free.items()}
        for edge in edges:
            for target in edge.targets:
                way = [] if target == edge.source else path(target, edge.source, kept)
                if way is not None:
                    yield _circle([edge, *way], f' Its max_iterations counts "{status}" in vain.')


def _cap(edge: Edge) -> str | None:
    for guard in edge.transition.guards:
        if guard.type == "max_iterations" and not guard.negate:
            return str(guard.params.get("statusId"))
    return None


def _counts(edge: Edge, status: str, entering: Mapping[str, Sequence[Edge]]) -> bool:
    """Whether going round by this edge counts an entry of the status: moves by agent_error do not
    count, nor do those that follow one."""
    if status not in (edge.source, *edge.targets):
        return False
    entries = [edge] if status in edge.targets else entering.get(status, ())
    return any(
        entry.kind is not TriggerType.AGENT_ERROR
        and any(
            before.kind is not TriggerType.AGENT_ERROR for before in entering.get(entry.source, ())
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
