"""What holds for every pipeline: lint never fails on one, and one without errors cannot be walked
into a corner."""

import copy
import json
from datetime import UTC, datetime
from importlib import resources
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from agents_manager.domain import guards, lint, registry, simulation_script
from agents_manager.domain.finding import Severity, errors
from agents_manager.domain.guards import Facts, Fired
from agents_manager.domain.ids import ProjectId, TaskId
from agents_manager.domain.lint_guards import NEVER_TOGETHER
from agents_manager.domain.phase import Phase, PhaseStatus
from agents_manager.domain.pipeline import GuardSpec, PromptType, Trigger, TriggerType
from agents_manager.domain.run import ErrorClass
from agents_manager.domain.simulate import simulate
from agents_manager.domain.task import PullRequest, PullState, Result
from tests.unit.pipeline_documents import document

REGISTRY = registry.built_in()
NOW = datetime(2026, 1, 1, tzinfo=UTC)

# ------------------------------------------------------------------------------ any pipeline

NAMES = st.sampled_from(["open", "a", "b", "c", "d", "e"])
KINDS = st.sampled_from([k.value for k in TriggerType])
GUARD = st.fixed_dictionaries(
    {"type": st.sampled_from([*REGISTRY.guards, "nobody_knows"])},
    optional={
        "not": st.booleans(),
        "params": st.fixed_dictionaries(
            {}, optional={"statusId": NAMES, "max": st.integers(-1, 3), "payloadType": NAMES}
        ),
    },
)
HOOK = st.fixed_dictionaries(
    {"type": st.sampled_from([*REGISTRY.hooks, "nobody_knows"])},
    optional={"params": st.fixed_dictionaries({"mode": st.sampled_from(["plan", "implement"])})},
)


@st.composite
def transitions(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(KINDS)
    outcome = draw(st.sampled_from(sorted(REGISTRY.outcomes))) if kind == "agent_outcome" else None
    return {
        "from": draw(st.one_of(NAMES, st.just("*"))),
        "to": draw(st.one_of(NAMES, st.just("$origin"))),
        "trigger": {"type": kind, "outcome": outcome},
        "guards": draw(st.lists(GUARD, max_size=3)),
        "hooks": draw(st.lists(HOOK, max_size=2)),
    }


@st.composite
def any_pipeline(draw: st.DrawFn) -> dict[str, Any]:
    statuses: list[dict[str, Any]] = [{"id": "open", "category": "open"}]
    for name in "abcde":
        category = draw(st.sampled_from(["open", "active", "waiting", "review", "final"]))
        row: dict[str, Any] = {"id": name, "category": category}
        prompt = draw(st.sampled_from([None, *OF_A_STATUS]))
        statuses.append({**row, "prompt": {"type": prompt}} if prompt else row)
    rows = draw(st.lists(transitions(), max_size=12))
    return {"id": "p", "name": "P", "statuses": statuses, "transitions": rows}


@settings(max_examples=300, deadline=None)
@given(any_pipeline())
def test_lint_never_fails_and_always_says_where(made: dict[str, Any]) -> None:
    pipeline, found = lint.check_document(made, REGISTRY)
    assert pipeline is not None
    for finding in found:
        at: Any = made
        for part in finding.position.split("."):
            if not isinstance(at, dict | list):
                break
            at = at[int(part)] if isinstance(at, list) else at.get(part, {})
        assert finding.message
        assert finding.fix
    order = [f.severity for f in found]
    assert order == sorted(order, key=[Severity.ERROR, Severity.WARNING].index)
    assert lint.check(pipeline, REGISTRY) == found


# ------------------------------------------------------------------- pipelines without errors


def _built_in(name: str) -> dict[str, Any]:
    file = resources.files("agents_manager").joinpath("pipelines", f"{name}.json")
    return json.loads(file.read_text())


BASES = [document(), *(_built_in(n) for n in ("simple", "feature", "bug", "document"))]
OF_A_STATUS = [kind for kind in PromptType if kind is not PromptType.PERMISSION]
TRIGGERS = ["manual", "auto", "any", "agent_error", "prompt_response", "review_submitted"]


@st.composite
def sound_pipeline(draw: st.DrawFn) -> dict[str, Any]:
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


PAYLOADS: dict[str, Any] = {
    "needs_info": {"question": "Why?"},
    "options_proposed": {
        "summary": "?",
        "options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}],
    },
    "propose_split": {"reason": "Large", "proposed_phases": [{"name": "One"}, {"name": "Two"}]},
    "changes_requested": {"summary": "No", "comments": [{"severity": "must_fix", "comment": "x"}]},
    "no_changes": {"reason": "It is there."},
}
ANSWERS = [
    {"answers": [{"question_id": "q1", "text": "So."}]},
    {"option_id": "a"},
    {"decision": "approved"},
    {"decision": "rejected"},
]
STEPS = st.one_of(
    st.just("start"),
    st.sampled_from(
        [{"outcome": {"name": n, "payload": PAYLOADS.get(n)}} for n in sorted(REGISTRY.outcomes)]
    ),
    st.sampled_from([{"outcome": n} for n in ("pr_ready", "plan_complete", "design_ready")]),
    st.sampled_from([{"answer": answer} for answer in ANSWERS]),
    st.sampled_from([{"review": "approved"}, {"review": "changes_requested"}]),
    st.sampled_from([{"error": e.value} for e in ErrorClass]),
    st.sampled_from([{"fail": hook} for hook in REGISTRY.hooks]),
    st.sampled_from([{"choose": c} for c in ("grant", "rerun", "again", "stay")]),
    st.sampled_from([{"move": s} for s in ("in_progress", "working", "done", "cancelled")]),
    st.sampled_from([{"choose": c} for c in ("retry", "go_on", "finish", "stuck-manual-$origin")]),
)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(sound_pipeline(), st.lists(STEPS, max_size=40))
def test_without_errors_no_walk_ends_in_a_corner(made: dict[str, Any], script: list[Any]) -> None:
    pipeline, found = lint.check_document(made, REGISTRY)
    assume(pipeline is not None and not errors(found))
    assert pipeline is not None
    steps = simulation_script.parse(script)
    for length in range(1, len(steps) + 1, 7):
        told = simulate(pipeline, REGISTRY, steps[:length])
        if pipeline.awaits_human(told.status):
            assert told.waits_for.startswith("A person is asked"), told
        for decided in told.decisions:
            if decided.result in (Result.DONE, Result.ROLLED_BACK) and decided.source != decided.to:
                assert not pipeline.is_final(decided.source)


# ------------------------------------------------------------------------- guards and facts

PULLS = st.sampled_from([None, *PullState]).map(lambda state: state and _pull(state))


def _pull(state: PullState) -> PullRequest:
    return PullRequest(
        id="1",
        project_id=ProjectId("p"),
        task_id=TaskId("t"),
        number=1,
        title="",
        body="",
        head_branch="",
        base_branch="",
        head_sha="",
        state=state,
        merge_sha=None,
        created_at=NOW,
        updated_at=NOW,
    )


def _phase(status: PhaseStatus) -> Phase:
    return Phase(
        id="1",
        task_id=TaskId("t"),
        position=1,
        number=1,
        name="One",
        description="",
        complexity="low",
        status=status,
        created_at=NOW,
    )


DECISIONS = st.sampled_from(["approved", "changes_requested", "rejected"])
FIRED = st.builds(
    Fired,
    trigger=st.sampled_from(
        [Trigger(type=TriggerType.PROMPT_RESPONSE), Trigger(type=TriggerType.REVIEW_SUBMITTED)]
    ),
    payload=st.fixed_dictionaries({"decision": DECISIONS}),
    prompt_type=st.sampled_from([None, *PromptType]),
)
FACTS = st.builds(
    Facts,
    fired=FIRED,
    pull=PULLS,
    phases=st.lists(st.sampled_from(PhaseStatus), max_size=3).map(
        lambda found: tuple(_phase(status) for status in found)
    ),
    phase_pull=PULLS,
    final_pull=PULLS,
    review=st.none() | st.fixed_dictionaries({"decision": DECISIONS}),
)


@settings(max_examples=500, deadline=None)
@given(FACTS)
def test_guards_that_are_said_to_contradict_never_pass_together(facts: Facts) -> None:
    for group in NEVER_TOGETHER:
        specs = [
            GuardSpec.model_validate(
                {"type": name.removeprefix("not "), "not": name.startswith("not ")}
            )
            for name in group
        ]
        assert not all(guards.check(spec, facts, REGISTRY.guards).passed for spec in specs), group
