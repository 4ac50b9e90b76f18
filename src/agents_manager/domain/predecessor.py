"""What a finished task hands on to one that depends on it: what its runs left, together, and the
block that the next agent is given."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agents_manager.domain.handoff import Gotcha, Handoff, Level, NextStep, OpenQuestion, Pattern
from agents_manager.domain.knowledge import Hit, KeptHandoff, LeftOut, Node, NodeKind, NodeState
from agents_manager.domain.names import visible
from agents_manager.domain.run import Run
from agents_manager.domain.words import normal

LINE = 1_000
LOW = "low severity"
RETIRED = "retired"
STALE = "stale: its file has changed since"
DISPUTED = "another finding contradicts it"
_MARKS = {NodeState.STALE: f" ({STALE})", NodeState.CONTRADICTED: f" ({DISPUTED})"}
_ORDER = {Level.HIGH: 0, Level.MEDIUM: 1, Level.LOW: 2}

Nodes = Mapping[tuple[NodeKind, str], Node]
"""Findings of a task by the words that its runs had for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    text: str
    """Empty: there is nothing to hand on."""
    hits: tuple[Hit, ...]
    """The findings in it."""
    left_out: tuple[LeftOut, ...]


def together(kept: Sequence[KeptHandoff], runs: Iterable[Run]) -> Handoff:
    """What all runs found out, each thing once and as it was said last. What is still to be done or
    to be answered is what the last run of each kind says."""
    kinds = {run.id: (run.mode, run.phase_id) for run in runs}
    last = {kinds.get(one.run_id): one.handoff for one in kept}
    found = [one.handoff for one in kept]
    return kept[-1].handoff.model_copy(
        update={
            "dependencies_for_next": _once(
                (d.file, d) for h in found for d in h.dependencies_for_next
            ),
            "patterns_discovered": _once(
                (normal(p.pattern), p) for h in found for p in h.patterns_discovered
            ),
            "gotchas": _once((normal(g.issue), g) for h in found for g in h.gotchas),
            "open_questions": _once(
                (normal(q.question), q) for h in last.values() for q in h.open_questions
            ),
            "suggested_next_steps": _once(
                (normal(n.step), n) for h in last.values() for n in h.suggested_next_steps
            ),
        }
    )


def block(title: str, handoff: Handoff, nodes: Nodes, why: str) -> Block:
    """Without what was retired since, and in the words of whoever corrected it."""
    patterns = [
        _pattern(p, nodes.get((NodeKind.PATTERN, normal(p.pattern))))
        for p in handoff.patterns_discovered
    ]
    warnings = [_warning(g, nodes.get((NodeKind.GOTCHA, normal(g.issue)))) for g in handoff.gotchas]
    parts = {
        "Files to Review": _files(handoff),
        "Patterns to Follow": [told.line for told in patterns if told.line],
        "Warnings": [told.line for told in warnings if told.line],
    }
    said = [f"### {name}\n" + "\n".join(lines) for name, lines in parts.items() if lines]
    nodes_in = [(told, told.node) for told in (*patterns, *warnings) if told.node]
    return Block(
        text="\n\n".join([f"## {line(title)}", *said]) if said else "",
        hits=tuple(Hit(node=n, score=1.0, why=(why,)) for told, n in nodes_in if told.line),
        left_out=tuple(
            LeftOut(node=n, reason=told.reason) for told, n in nodes_in if not told.line
        ),
    )


def steps(handoff: Handoff, source: str) -> list[str]:
    """Suggested next steps as a line each, the most urgent first."""
    return [_step(s, source) for s in sorted(handoff.suggested_next_steps, key=_urgency)]


def blocking(handoff: Handoff) -> list[OpenQuestion]:
    return [q for q in handoff.open_questions if q.blocking]


def by_words(nodes: Iterable[Node], task_id: str) -> Nodes:
    return {
        (node.kind, normal(source.words or node.text)): node
        for node in nodes
        for source in node.sources
        if source.task_id == task_id
    }


def line(words: str) -> str:
    """Somebody's words within a line of ours."""
    return visible(words, LINE)


def _once(found: Iterable[tuple[str, object]]) -> tuple[object, ...]:
    return tuple(dict(found).values())


def _files(handoff: Handoff) -> list[str]:
    rows = [f"| {_cell(d.file)} | {_cell(d.reason)} |" for d in handoff.dependencies_for_next]
    return ["| File | Reason |", "|------|--------|", *rows] if rows else []


def _cell(words: str) -> str:
    return line(words).replace("\\", "\\\\").replace("|", "\\|")


@dataclass(frozen=True, slots=True)
class _Told:
    line: str
    """Empty: it is left out."""
    node: Node | None
    reason: str = ""


def _pattern(pattern: Pattern, node: Node | None) -> _Told:
    if node is not None and node.state is NodeState.RETIRED:
        return _Told("", node, RETIRED)
    said, where = pattern.pattern, pattern.location
    if node is not None and _corrected(node):
        said, where = node.text, str(node.detail.get("location") or where)
    return _Told(f"- **{line(said)}** (see: {line(where)}){_mark(node)}", node)


def _warning(gotcha: Gotcha, node: Node | None) -> _Told:
    if node is not None and node.state is NodeState.RETIRED:
        return _Told("", node, RETIRED)
    if (node.severity if node else gotcha.severity) is Level.LOW:
        return _Told("", node, LOW)
    said, mitigation = gotcha.issue, gotcha.mitigation
    if node is not None and _corrected(node):
        said, mitigation = node.text, str(node.detail.get("mitigation") or mitigation)
    return _Told(f"- ⚠️ {line(said)}: {line(mitigation)}{_mark(node)}", node)


def _mark(node: Node | None) -> str:
    return _MARKS.get(node.state, "") if node else ""


def _corrected(node: Node) -> bool:
    """Whether a person wrote it anew: no run said it in these words."""
    return all(source.words or source.run_id is None for source in node.sources)


def _urgency(step: NextStep) -> int:
    return _ORDER[step.priority]


def _step(step: NextStep, source: str) -> str:
    needs = f" (needs {line(', '.join(step.depends_on))})" if step.depends_on else ""
    return f"- [{step.priority}] {line(step.step)}{needs}, from {line(source)}"
