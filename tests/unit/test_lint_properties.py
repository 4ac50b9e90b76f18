"""What holds for every pipeline: lint never fails on one, and one without errors cannot be walked
into a corner."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents_manager.domain import guards, lint, simulation_script
from agents_manager.domain.finding import Severity
from agents_manager.domain.guards import Facts, Fired
from agents_manager.domain.ids import ProjectId, TaskId
from agents_manager.domain.lint_guards import NEVER_TOGETHER
from agents_manager.domain.phase import Phase, PhaseStatus
from agents_manager.domain.pipeline import GuardSpec, Pipeline, PromptType, Trigger, TriggerType
from agents_manager.domain.simulate import simulate
from agents_manager.domain.task import PullRequest, PullState, Result
from tests.pipeline_walks import ANY_STEP, HOOK, REGISTRY, sound_pipeline

NOW = datetime(2026, 1, 1, tzinfo=UTC)

OF_A_RUN = (PromptType.PERMISSION, PromptType.BUDGET)
OF_A_STATUS = [kind for kind in PromptType if kind not in OF_A_RUN]

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


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(sound_pipeline(), st.lists(ANY_STEP, max_size=40))
def test_without_errors_no_walk_ends_in_a_corner(
    made: tuple[object, Pipeline], script: list[Any]
) -> None:
    _, pipeline = made
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
