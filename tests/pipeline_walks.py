"""Random pipelines that lint finds nothing wrong with, and random scripts that walk them."""

import copy
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from agents_manager.domain import lint, registry, simulation_script
from agents_manager.domain.finding import errors
from agents_manager.domain.pipeline import ORIGIN, Pipeline
from agents_manager.domain.run import ErrorClass
from agents_manager.domain.simulate import Simulation, simulate
from tests.unit.pipeline_documents import document

REGISTRY = registry.built_in()
HOOK = st.fixed_dictionaries(
    {"type": st.sampled_from([*REGISTRY.hooks, "nobody_knows"])},
    optional={"params": st.fixed_dictionaries({"mode": st.sampled_from(["plan", "implement"])})},
)
TRIGGERS = ["manual", "auto", "any", "agent_error", "prompt_response", "review_submitted"]


def built_in(name: str) -> dict[str, Any]:
    file = resources.files("agents_manager").joinpath("pipelines", f"{name}.json")
    return json.loads(file.read_text())


BASES = [document(), *(built_in(n) for n in ("simple", "feature", "bug", "document"))]


@st.composite
def changed_pipeline(draw: st.DrawFn) -> dict[str, Any]:
    """One that is known to be sound, changed here and there."""
    made = copy.deepcopy(draw(st.sampled_from(BASES)))
    ids = [s["id"] for s in made["statuses"]]
    rows: list[dict[str, Any]] = made["transitions"]
    for _ in range(draw(st.integers(0, 3))):
        match draw(st.sampled_from(["drop", "turn", "add", "unguard", "hook"])):
            case "drop":
                rows.pop(draw(st.integers(0, len(rows) - 1)))
            case "turn":
                draw(st.sampled_from(rows))["to"] = draw(st.sampled_from([*ids, "$origin"]))
            case "unguard":
                draw(st.sampled_from(rows))["guards"] = []
            case "hook":
                draw(st.sampled_from(rows))["hooks"] = [draw(HOOK)]
            case _:
                kind = draw(st.sampled_from([*TRIGGERS, "needs_info", "approved"]))
                trigger = (
                    {"type": kind}
                    if kind in TRIGGERS
                    else {"type": "agent_outcome", "outcome": kind}
                )
                source, to = draw(st.sampled_from(ids)), draw(st.sampled_from(ids))
                rows.append(
                    {"id": f"new-{len(rows)}", "from": source, "to": to, "trigger": trigger}
                )
    return made


@st.composite
def sound_pipeline(draw: st.DrawFn) -> tuple[dict[str, Any], Pipeline]:
    """A changed one that lint still finds no error in, with its document."""
    made = draw(changed_pipeline())
    pipeline, found = lint.check_document(made, REGISTRY)
    assume(pipeline is not None and not errors(found))
    assert pipeline is not None
    return made, pipeline


PAYLOADS: dict[str, Any] = {
    "needs_info": {"question": "Why?"},
    "options_proposed": {
        "summary": "?",
        "options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}],
    },
    "propose_split": {"reason": "Large", "proposed_phases": [{"name": "One"}, {"name": "Two"}]},
    "changes_requested": {"summary": "No", "comments": [{"severity": "must_fix", "comment": "x"}]},
    "no_changes": {"reason": "It is there."},
    "conflicts_detected": {"message": "They conflict."},
    "merge_failed": {"message": "No."},
}
ANSWERS = [
    {"answers": [{"question_id": "q1", "text": "So."}]},
    {"option_id": "a"},
    {"decision": "approved"},
    {"decision": "rejected"},
]
HOOKS_THAT_FAIL = ("create_task_branch", "push_and_create_pr", "merge_pr", "notify", "start_agent")
OUTCOMES = [{"outcome": {"name": n, "payload": PAYLOADS.get(n)}} for n in REGISTRY.outcomes]
ANY_STEP = st.sampled_from(
    [
        "start",
        *OUTCOMES,
        *({"outcome": n} for n in ("pr_ready", "plan_complete", "design_ready")),
        *({"answer": answer} for answer in ANSWERS),
        *({"review": decision} for decision in ("approved", "changes_requested")),
        *({"error": e.value} for e in ErrorClass),
        *({"fail": hook} for hook in HOOKS_THAT_FAIL),
        *({"choose": c} for c in ("grant", "rerun", "again", "stay", "retry", "go_on", "finish")),
        *({"move": to} for to in ("in_progress", "working", "done", "cancelled", "open")),
    ]
)


@st.composite
def script(draw: st.DrawFn, pipeline: Pipeline, length: int) -> list[Any]:
    """Steps of which most can be taken where the walk has come to."""
    steps: list[Any] = []
    for _ in range(length):
        fitting = _fitting(pipeline, simulate(pipeline, REGISTRY, simulation_script.parse(steps)))
        astray = not fitting or draw(st.integers(0, 9)) == 0
        steps.append(draw(ANY_STEP if astray else st.sampled_from(fitting)))
    return steps


def _fitting(pipeline: Pipeline, told: Simulation) -> Sequence[Any]:
    if told.finished:
        return []
    if "An agent is at work" in told.waits_for:
        offered = REGISTRY.offered(pipeline, told.status)
        ends = [{"outcome": {"name": n, "payload": PAYLOADS.get(n)}} for n in offered]
        return [*ends, *ends, {"error": "crash"}, {"error": "cancelled"}]
    # A walk that is ended early shows little.
    ends = {t.id for t in pipeline.transitions if t.to != ORIGIN and pipeline.is_final(t.to)}
    by_hand = [t for t in pipeline.leaving(told.status) if t.trigger.type == "manual"]
    moves = [{"move": t.to} for t in by_hand if t.id not in ends]
    if "A person is asked" not in told.waits_for:
        return ["start", "start", *moves]
    fitting: list[Any] = [*moves]
    if "choice" in told.waits_for:
        asked = next(d.asks for d in reversed(told.decisions) if d.asks and d.asks.choices)
        assert asked is not None
        fitting += [{"choose": choice} for choice in asked.choices if choice not in ends]
    if "review" in told.waits_for:
        fitting += [{"review": d} for d in ("approved", "approved", "changes_requested")]
    if "info_request" in told.waits_for or "split_proposal" in told.waits_for:
        fitting += [{"answer": answer} for answer in ANSWERS]
    return fitting
