"""Lint, the waits: a status that waits for a person asks something, whichever way it is entered,
and every answer leads on."""

from collections.abc import Iterator, Mapping, Sequence

from agents_manager.domain.finding import Finding, error, warning
from agents_manager.domain.graph import Edge, Graph
from agents_manager.domain.lint_guards import RESPONSE, REVIEW
from agents_manager.domain.pipeline import BROUGHT, PromptType, Trigger, TriggerType

ANSWERS: Mapping[PromptType, tuple[Trigger, Mapping[str, Sequence[str]]]] = {
    PromptType.INFO_REQUEST: (RESPONSE, {}),
    PromptType.REVIEW: (
        REVIEW,
        {
            "approved": ("review_changes_requested", "not review_approved"),
            "changes_requested": ("review_approved", "not review_changes_requested"),
        },
    ),
    PromptType.DOCUMENT_REVIEW: (
        REVIEW,
        {
            "approved": ("review_changes_requested", "not review_approved"),
            "changes_requested": ("review_approved", "not review_changes_requested"),
        },
    ),
    PromptType.SPLIT_PROPOSAL: (
        RESPONSE,
        {
            "approved": ("split_rejected", "not split_approved"),
            "rejected": ("split_approved", "not split_rejected"),
        },
    ),
}
"""What an answer fires, and the guards that refuse each decision."""


def waits(graph: Graph) -> Iterator[Finding]:
    yield from _never_fired(graph)
    yield from _automatic(graph)
    for i, status in enumerate(graph.pipeline.statuses):
        if not status.awaits_human:
            continue
        asked = graph.asks(status.id)
        if not asked:
            yield error(
                "wait_without_prompt",
                f"statuses.{i}",
                f'"{status.id}" waits for a person, and nothing is asked there.',
                'Give it a "prompt" with a type, such as choice.',
            )
            continue
        yield from _entered_without_question(graph, status.id)
        for kind in sorted(asked):
            yield from _answers(graph, status.id, kind, f"statuses.{i}")


def _entered_without_question(graph: Graph, status_id: str) -> Iterator[Finding]:
    status = graph.statuses[status_id]
    for edge in graph.entering[status_id]:
        kind, brings = status.prompt.type if status.prompt else None, graph.opened_by(edge)
        unasked = kind in BROUGHT and brings is not kind if kind else brings is None
        if unasked and edge.kind is not TriggerType.ANY:
            what = f"brings no {kind}" if kind else "brings no question"
            yield error(
                "nothing_to_ask",
                f"transitions.{edge.index}",
                f'"{status_id}" waits for a person, and "{edge.transition.id}" {what}.',
                "Lead it to a status whose prompt is a choice, or use an outcome that asks;"
                ' an outcome of a project asks if it has an "answer".',
            )


def _answers(graph: Graph, status: str, kind: PromptType, at: str) -> Iterator[Finding]:
    leaving = graph.leaving[status]
    if kind is PromptType.CHOICE:
        ways = sum(edge.kind is TriggerType.MANUAL for edge in leaving)
        if ways < 2:
            yield error(
                "wait_without_exit",
                at,
                f'"{status}" lets a person choose, and has {ways or "no"} manual transition'
                f"{'' if ways == 1 else 's'}.",
                "Give it at least two manual transitions.",
            )
        return
    trigger, decisions = ANSWERS[kind]
    listening = [edge for edge in leaving if edge.hears(trigger)]
    if not listening:
        yield error(
            "wait_without_exit",
            at,
            f'"{status}" asks {kind}, and no transition takes the answer.',
            f"Add a transition with the trigger {trigger.type}.",
        )
        return
    for decision, refusing in decisions.items():
        if not any(_takes(edge, refusing) for edge in listening):
            yield error(
                "answer_without_edge",
                at,
                f'"{status}" asks {kind}, and no transition takes the answer {decision}.',
                f"Add a transition with the trigger {trigger.type} and the guard for {decision}.",
            )


def _takes(edge: Edge, refusing: Sequence[str]) -> bool:
    return not any(guard.name in refusing for guard in edge.transition.guards)


def _never_fired(graph: Graph) -> Iterator[Finding]:
    """Transitions that listen for an answer to what is never asked."""
    for edge in graph.edges():
        trigger = edge.transition.trigger
        if edge.wild or trigger not in (RESPONSE, REVIEW):
            continue
        asked = graph.asks(edge.source) & ANSWERS.keys()
        if not any(ANSWERS[kind][0] == trigger for kind in asked):
            yield warning(
                "never_fires",
                f"transitions.{edge.index}.trigger",
                f'Nothing asked in "{edge.source}" is answered by {trigger.type}.',
                "Change the trigger, or the prompt of the status.",
            )


def _automatic(graph: Graph) -> Iterator[Finding]:
    told: set[int] = set()
    for edge in graph.edges():
        waiting = graph.statuses[edge.source].awaits_human
        if edge.kind is TriggerType.AUTO and waiting and edge.index not in told:
            told.add(edge.index)
            yield error(
                "auto_from_wait",
                f"transitions.{edge.index}.trigger",
                f'"{edge.source}" waits for a person, so nothing leaves it by itself.',
                "Use manual, prompt_response or review_submitted.",
            )
