"""Lint: what is wrong with a pipeline before any task walks it. Errors refuse the save, warnings
are shown; each names the place in the document and the way out."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from agents_manager.domain import pipeline as pipelines
from agents_manager.domain.finding import Finding, error, errors, warning
from agents_manager.domain.graph import Edge, Graph, closure
from agents_manager.domain.lint_circles import endless
from agents_manager.domain.lint_guards import competing, never_passing
from agents_manager.domain.lint_waits import waits
from agents_manager.domain.pipeline import (
    AGENT_HOOKS,
    ANY_STATUS,
    NAMELESS,
    REQUESTER,
    Category,
    Pipeline,
    Policy,
    TriggerType,
)
from agents_manager.domain.registry import Registry
from agents_manager.errors import InvalidPipeline

MAX_WILD = 20
MAX_LEAVING = 100

DONE_BEFORE = AGENT_HOOKS | {"stop_agent"}
"""Hooks whose failure takes no task back: a run is stopped before the move, and one that cannot be
started is an agent_error."""

EXPECTED: Mapping[str, Sequence[str]] = {
    "plan": ("plan_complete",),
    "design": ("design_ready",),
    "implement": ("pr_ready", "no_changes"),
}
"""How a run of a mode ends when the agent names no outcome."""


def check(pipeline: Pipeline, registry: Registry) -> list[Finding]:
    """Every finding, errors first, in the order of the document."""
    crowded = list(_crowded(pipeline))
    if crowded:
        return crowded
    graph = Graph(pipeline, registry)
    found = chain(
        map(_unknown, registry.problems(pipeline)),
        _ends(graph),
        _undone_ends(graph, registry),
        _agents(graph),
        _handoffs(graph),
        waits(graph),
        _lost_origins(graph),
        endless(graph),
        never_passing(graph),
        competing(graph),
    )
    return sorted(found, key=_order)


def check_document(
    document: object, registry: Registry, *, where: str = "pipeline"
) -> tuple[Pipeline | None, list[Finding]]:
    """The pipeline and its findings; None with the findings that keep it from being read."""
    try:
        pipeline = pipelines.parse(document, where=where)
    except InvalidPipeline as refused:
        told = refused.details or (f"document: {refused.message}",)
        return None, [_misshapen(line) for line in told]
    return pipeline, check(pipeline, registry)


def refuse_errors(pipeline: Pipeline, registry: Registry) -> list[Finding]:
    """For whoever saves: the warnings, or InvalidPipeline with every error."""
    found = check(pipeline, registry)
    wrong = errors(found)
    if wrong:
        lines = [f"{f.position}: {f.message} {f.fix}" for f in wrong]
        raise InvalidPipeline(f'Pipeline "{pipeline.id}" has errors.', lines)
    return found


def _crowded(pipeline: Pipeline) -> Iterator[Finding]:
    """Those from `*` leave every status, and those of one status are compared with each other."""
    for source, number in Counter(t.source for t in pipeline.transitions).items():
        most = MAX_WILD if source == ANY_STATUS else MAX_LEAVING
        if number > most:
            yield error(
                "too_many",
                "transitions",
                f'"{source}" is left by {number} transitions; at most {most} may leave it.',
                "Make statuses between, or fewer transitions.",
            )


def _order(finding: Finding) -> tuple[str, list[tuple[int, str]]]:
    parts = finding.position.split(".")
    return finding.severity, [(int(p), "") if p.isdecimal() else (0, p) for p in parts]


def _unknown(problem: str) -> Finding:
    position, _, message = problem.partition(": ")
    told = message[:1].upper() + message[1:]
    if ".params" in position:
        return error("bad_params", position, _sentence(told), "Give what the guard takes.")
    return error("unknown_name", position, _sentence(told), "Use a name that is registered.")


def _misshapen(problem: str) -> Finding:
    position, _, message = problem.partition(": ")
    told = message[:1].upper() + message[1:]
    return error("shape", position, _sentence(told), "Write it as the reference says.")


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _ends(graph: Graph) -> Iterator[Finding]:
    """Statuses that are never entered, never left, or never lead to an end."""
    final = [i for i, s in graph.statuses.items() if s.category is Category.FINAL]
    stuck = [i for i in graph.statuses if i not in final and not graph.leaving[i]]
    ending = closure([*final, *stuck], lambda s: (e.source for e in graph.entering[s]))
    for i, status in enumerate(graph.pipeline.statuses):
        at = f"statuses.{i}"
        if status.id not in graph.reachable:
            yield warning(
                "unreachable",
                at,
                f'No transition leads to "{status.id}" from "{graph.pipeline.initial.id}".',
                "Add a transition that leads there, or remove it.",
            )
        if status.id in stuck:
            yield error(
                "dead_end",
                at,
                f'Nothing leads out of "{status.id}", and it is not final.',
                "Add a transition from it, or give it the category final.",
            )
        elif status.id not in ending:
            yield error(
                "no_end",
                at,
                f'No final status can be reached from "{status.id}".',
                "Add a transition that leads to a final status.",
            )
        elif status.category in (Category.OPEN, Category.ACTIVE) and _only_wild(graph, status.id):
            yield warning(
                "dead_end",
                at,
                f'Nothing leads out of "{status.id}" but transitions from "*".',
                "Add a transition of its own.",
            )
    for edge in graph.edges():
        if edge.source in final:
            yield error(
                "leaves_final",
                f"transitions.{edge.index}.from",
                f'"{edge.source}" is final, so no transition leaves it.',
                "Let it wait for a person instead, or remove the transition.",
            )


def _undone_ends(graph: Graph, registry: Registry) -> Iterator[Finding]:
    """A required hook that fails takes the task back, out of a status that must not be left."""
    for index, transition in enumerate(graph.pipeline.transitions):
        target = graph.statuses.get(transition.to)
        if target is None or target.category is not Category.FINAL:
            continue
        for j, hook in enumerate(transition.hooks):
            known = hook.type in registry.hooks and hook.type not in DONE_BEFORE
            if known and registry.policy(hook) is Policy.REQUIRED:
                yield error(
                    "final_can_fail",
                    f"transitions.{index}.hooks.{j}",
                    f'"{target.id}" is final, and {hook.type} may still fail on the way there.',
                    "Perform it on the way into a status before, or make it best_effort.",
                )


def _only_wild(graph: Graph, status: str) -> bool:
    return all(edge.wild for edge in graph.leaving[status])


def _agents(graph: Graph) -> Iterator[Finding]:
    """Statuses where an agent works and its failure, or its plainest end, goes nowhere."""
    places = {s.id: i for i, s in enumerate(graph.pipeline.statuses)}
    for status, modes in graph.agent_statuses().items():
        at = f"statuses.{places[status]}"
        if graph.statuses[status].category not in (Category.OPEN, Category.ACTIVE):
            yield error(
                "agent_not_active",
                at,
                f'An agent is started in "{status}", which {_not_working(graph, status)}.',
                "Start it in a status of the category active.",
            )
            continue
        if not any(e.kind is TriggerType.AGENT_ERROR for e in graph.leaving[status]):
            yield error(
                "no_error_edge",
                at,
                f'An agent works in "{status}", and no transition takes its agent_error.',
                "Add a transition with the trigger agent_error to a status that waits.",
            )
        taken = {e.transition.trigger.outcome for e in graph.leaving[status]}
        if any(e.kind is TriggerType.ANY for e in graph.leaving[status]):
            continue
        for mode in sorted(modes):
            for name in EXPECTED.get(mode, ()):
                if name not in taken:
                    yield warning(
                        "outcome_without_edge",
                        at,
                        f'A run in mode {mode} can end with {name}; "{status}" does not take it.',
                        f"Add a transition with the outcome {name}.",
                    )


def _handoffs(graph: Graph) -> Iterator[Finding]:
    working = graph.agent_statuses()
    for i, status in enumerate(graph.pipeline.statuses):
        if status.handoff is not None and status.id not in working:
            yield warning(
                "handoff_without_agent",
                f"statuses.{i}",
                f'"{status.id}" says whether a run leaves a handoff, and no agent works there.',
                "Say so of a status in which an agent is started, or of the pipeline.",
            )


def _not_working(graph: Graph, status: str) -> str:
    return "waits for a person" if graph.statuses[status].awaits_human else "is final"


def _lost_origins(graph: Graph) -> Iterator[Finding]:
    ways: dict[int, list[Edge]] = defaultdict(list)
    for edge in graph.edges():
        if edge.transition.to in NAMELESS:
            ways[edge.index].append(edge)
    for index, edges in ways.items():
        if any(edge.targets for edge in edges):
            continue
        source, to = edges[0].transition.source, edges[0].transition.to
        if to == REQUESTER:
            yield error(
                "no_requester",
                f"transitions.{index}.to",
                f'No loop_back leads to "{source}", so {to} stands for nothing.',
                "Name the status it should lead to.",
            )
        else:
            yield error(
                "no_origin",
                f"transitions.{index}.to",
                f'No active status can come before "{source}", so {to} stands for nothing.',
                "Name the status it should lead to.",
            )
