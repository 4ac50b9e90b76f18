"""A small pipeline without findings, and ways to break it."""

import copy
from typing import Any

Document = dict[str, Any]

CLEAN: Document = {
    "id": "p",
    "name": "P",
    "statuses": [
        {"id": "open", "category": "open"},
        {"id": "working", "category": "active"},
        {"id": "asking", "category": "waiting", "prompt": {"type": "info_request"}},
        {"id": "reviewing", "category": "review", "prompt": {"type": "review"}},
        {"id": "merging", "category": "active"},
        {"id": "stuck", "category": "waiting", "prompt": {"type": "choice"}},
        {"id": "done", "category": "final"},
        {"id": "cancelled", "category": "final"},
    ],
    "transitions": [],
}


def edge(
    source: str, to: str, trigger: str = "manual", *guards: str, **fields: Any
) -> dict[str, Any]:
    """A transition; an outcome's name is a trigger, `not x` a negated guard, `x:5` a cap of 5."""
    kinds = ("manual", "agent_error", "prompt_response", "review_submitted", "auto", "any")
    named = trigger not in (*kinds, "loop_back")
    return {
        "id": f"{source}-{trigger}-{to}",
        "from": source,
        "to": to,
        "trigger": {"type": "agent_outcome", "outcome": trigger} if named else {"type": trigger},
        "guards": [_guard(name) for name in guards],
        **fields,
    }


def _guard(name: str) -> dict[str, Any]:
    kind, _, cap = name.removeprefix("not ").partition(":")
    params = {"statusId": cap, "max": 5} if cap else {}
    return {"type": kind, "not": name.startswith("not "), "params": params}


STARTS: Document = {"hooks": [{"type": "start_agent", "params": {"mode": "implement"}}]}

EDGES = [
    edge("open", "working", id="start", **STARTS),
    edge("working", "asking", "needs_info"),
    edge("asking", "$origin", "prompt_response", "has_payload_response", **STARTS),
    edge("working", "reviewing", "pr_ready", hooks=[{"type": "push_and_create_pr"}]),
    edge("working", "stuck", "no_changes"),
    edge("working", "stuck", "agent_error"),
    edge(
        "reviewing",
        "merging",
        "review_submitted",
        "review_approved",
        hooks=[{"type": "merge_pr"}],
    ),
    edge(
        "reviewing",
        "working",
        "review_submitted",
        "review_changes_requested",
        "max_iterations:working",
        **STARTS,
    ),
    edge("merging", "done", "auto", "pr_merged"),
    edge("merging", "working", "conflicts_detected", "max_iterations:working", **STARTS),
    edge("stuck", "$origin", **STARTS),
    edge("*", "cancelled", id="cancel", hooks=[{"type": "stop_agent"}]),
]


def document(
    *more: dict[str, Any], without: str | None = None, statuses: tuple[Document, ...] = ()
) -> Document:
    """The clean one, less one transition by its id, more what is given."""
    made = copy.deepcopy(CLEAN)
    assert without is None or any(row["id"] == without for row in EDGES)
    made["statuses"] += statuses
    made["transitions"] = copy.deepcopy([*(e for e in EDGES if e["id"] != without), *more])
    return made


def status(id: str, category: str, prompt: str | None = None) -> Document:
    made: Document = {"id": id, "category": category}
    return {**made, "prompt": {"type": prompt}} if prompt else made
