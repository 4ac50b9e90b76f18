"""How long do lint and a decision take as pipelines grow? Both stand beside the smallest one: lint
should take as many times longer as there are more statuses, and to a decision it should not matter
how large the graph around it is."""

import statistics
import time
from collections.abc import Callable
from typing import Any

from agents_manager.domain import lint, registry
from agents_manager.domain import pipeline as pipelines
from agents_manager.domain.guards import Facts, Fired
from agents_manager.domain.pipeline import Pipeline, Trigger, TriggerType
from agents_manager.domain.transition import Moved, decide
from bench.rows import Row

SIZES = (10, 100, 1_000)
"""Statuses; the last is as many as a pipeline may have."""
TIMES = 15
GOAL_S = 1.0
READY = Trigger(type=TriggerType.AGENT_OUTCOME, outcome="pr_ready")


def run() -> list[Row]:
    known = registry.built_in()
    rows: list[Row] = []
    share = smallest = 0.0
    for size in SIZES:
        graph = chain(size)
        found = lint.check(graph, known)
        assert found == [], found[:3]
        seconds = _median(lambda graph=graph: lint.check(graph, known))
        decision = _median(lambda graph=graph, size=size: _decide(graph, size, known)) / 100
        smallest = smallest or decision
        share = share or seconds / size
        rows += [
            Row(
                name=f"function: lint, {len(graph.statuses)} statuses",
                ours=f"{seconds * 1000:.1f} ms",
                beside=f"{share * size * 1000:.1f} ms (as {SIZES[0]} statuses, so many times)",
                ratio=seconds / size / share,
                goal=f"<= {GOAL_S:.0f} s" if size == SIZES[-1] else "",
                met=seconds <= GOAL_S if size == SIZES[-1] else None,
            ),
            Row(
                name=f"function: decide, {len(graph.statuses)} statuses",
                ours=f"{decision * 1e6:.1f} µs",
                beside=f"{smallest * 1e6:.1f} µs ({SIZES[0]} statuses)",
                ratio=decision / smallest,
            ),
        ]
    return rows


def chain(size: int) -> Pipeline:
    """Agents in a row, each with a review after it: one in three statuses is of each kind."""
    statuses: list[dict[str, Any]] = [{"id": "open", "category": "open"}]
    rows: list[dict[str, Any]] = []
    start = {"hooks": [{"type": "start_agent", "params": {"mode": "implement"}}]}
    before = {"from": "open", "trigger": "manual"}
    for n in range((size - 4) // 2):
        work, review = f"work{n}", f"review{n}"
        statuses += [
            {"id": work, "category": "active"},
            {"id": review, "category": "review", "prompt": {"type": "review"}},
        ]
        cap = {"type": "max_iterations", "params": {"statusId": work, "max": 5}}
        answered = {"from": review, "trigger": "review_submitted"}
        rows += [
            {**before, "to": work, **start},
            {"from": work, "to": review, "trigger": READY.model_dump()},
            {"from": work, "to": "stuck", "trigger": "agent_error"},
            {
                **answered,
                "to": work,
                "guards": [{"type": "review_changes_requested"}, cap],
                **start,
            },
        ]
        before = {**answered, "guards": [{"type": "review_approved"}]}
    statuses += [
        {"id": "stuck", "category": "waiting", "prompt": {"type": "choice"}},
        {"id": "done", "category": "final"},
        {"id": "cancelled", "category": "final"},
    ]
    rows += [
        {**before, "to": "done"},
        {"from": "stuck", "to": "$origin", "trigger": "manual", **start},
        {
            "from": "*",
            "to": "stuck",
            "trigger": {"type": "agent_outcome", "outcome": "no_changes"},
        },
        {"from": "*", "to": "cancelled", "trigger": "manual"},
    ]
    return pipelines.parse(
        {"id": "chain", "name": "Chain", "statuses": statuses, "transitions": rows}
    )


def _decide(graph: Pipeline, size: int, known: registry.Registry) -> None:
    facts = Facts(fired=Fired(trigger=READY))
    for _ in range(100):
        assert isinstance(decide(graph, f"work{(size - 4) // 2 - 1}", None, facts, known), Moved)


def _median(work: Callable[[], object]) -> float:
    taken: list[float] = []
    for _ in range(TIMES):
        # Nothing here waits, so what else the machine does need not count.
        begun = time.process_time()
        work()
        taken.append(time.process_time() - begun)
    return statistics.median(taken)
