import json
from dataclasses import replace
from importlib import resources
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_manager.domain import guards, registry
from agents_manager.domain import pipeline as pipelines
from agents_manager.domain.guards import Facts, Fired
from agents_manager.domain.ids import RunId
from agents_manager.domain.pipeline import Pipeline, PromptType, Trigger, TriggerType
from agents_manager.domain.transition import (
    Decision,
    Moved,
    Refusal,
    Refused,
    candidates,
    decide,
)

REGISTRY = registry.built_in()
STATUSES = {
    "open": "open",
    "planning": "active",
    "in_progress": "active",
    "needs_info": "waiting",
    "done": "final",
    "cancelled": "final",
}


def pipeline(*rows: dict[str, Any]) -> Pipeline:
    parsed = unchecked(*rows)
    REGISTRY.check_names(parsed)
    return parsed


def unchecked(*rows: dict[str, Any]) -> Pipeline:
    document = {
        "id": "p",
        "name": "P",
        "statuses": [{"id": i, "category": c} for i, c in STATUSES.items()],
        "transitions": list(rows),
    }
    return pipelines.parse(document)


def edge(source: str, to: str, trigger: Any = "manual", *guard: str, **fields: Any) -> Any:
    rows = [
        {"type": g.removeprefix("not "), "not": g.startswith("not "), "params": {}} for g in guard
    ]
    return {"from": source, "to": to, "trigger": trigger, "guards": rows, **fields}


def manual(to: str | None = None, transition_id: str | None = None) -> Fired:
    return Fired(trigger=Trigger(type=TriggerType.MANUAL), to=to, transition_id=transition_id)


def outcome(name: str) -> Fired:
    return Fired(trigger=Trigger(type=TriggerType.AGENT_OUTCOME, outcome=name))


def decided(
    graph: Pipeline,
    status: str,
    fired: Fired,
    *,
    origin: str | None = None,
    force: bool = False,
    **facts: Any,
) -> Decision:
    return decide(graph, status, origin, Facts(fired=fired, **facts), REGISTRY, force=force)


def refusal(decision: Decision) -> Refusal:
    assert isinstance(decision, Refused), decision
    assert all(decision.reasons)
    return decision.kind


def target(decision: Decision) -> str:
    assert isinstance(decision, Moved), decision
    return decision.to


# ---------------------------------------------------------------------------------- examples


def test_a_move_brings_its_hooks_and_the_guards_that_were_checked() -> None:
    graph = pipeline(
        edge("open", "planning", "manual", "no_running_agent", hooks=[{"type": "start_agent"}])
    )
    decision = decided(graph, "open", manual("planning"))
    assert isinstance(decision, Moved)
    assert decision.to == "planning"
    assert [h.type for h in decision.hooks] == ["start_agent"]
    assert [(c.name, c.passed) for c in decision.checks] == [("no_running_agent", True)]
    assert not decision.forced


def test_every_reason_against_a_move_is_told() -> None:
    graph = pipeline(edge("open", "planning", "manual", "no_running_agent", "has_plan"))
    decision = decided(graph, "open", manual("planning"), live_run=RunId("r"))
    assert refusal(decision) is Refusal.GUARDS
    assert isinstance(decision, Refused)
    assert decision.reasons == (
        "Run r is still going on; stop it first.",
        "There is no plan yet.",
    )


def test_of_several_ways_each_is_told_with_what_stands_against_it() -> None:
    file = resources.files("agents_manager").joinpath("pipelines", "staged.json")
    staged = pipelines.parse(json.loads(file.read_text()))
    fired = replace(outcome("decision"), payload={"decision": "RESTART"})
    decision = decided(staged, "deciding", fired, files=2, rounds={"restarting": 1})
    assert refusal(decision) is Refusal.GUARDS
    assert isinstance(decision, Refused)
    assert decision.reasons == (
        'To "pr_review" or "escalated": The decision is RESTART.',
        'To "escalated": The decision is RESTART. 2 files changed.',
        'To "restarting": Maximum review iterations (1) reached. Manual intervention required.',
    )


def test_what_stands_against_all_ways_alike_is_told_once() -> None:
    graph = pipeline(
        edge("in_progress", "done", "agent_outcome", "has_plan", outcomeValue="pr_ready"),
        edge("in_progress", "planning", "agent_outcome", "has_plan", outcomeValue="pr_ready"),
    )
    decision = decided(graph, "in_progress", outcome("pr_ready"))
    assert isinstance(decision, Refused)
    assert decision.reasons == ("There is no plan yet.",)


def test_a_negated_guard_turns_the_answer_around() -> None:
    graph = pipeline(
        edge("in_progress", "done", "auto", "has_plan"),
        edge("in_progress", "planning", "auto", "not has_plan"),
    )
    auto = Fired(trigger=Trigger(type=TriggerType.AUTO))
    assert target(decided(graph, "in_progress", auto, plan="x")) == "done"
    assert target(decided(graph, "in_progress", auto)) == "planning"


def test_nothing_is_guessed_when_several_pass() -> None:
    graph = pipeline(
        edge("in_progress", "done", "agent_outcome", outcomeValue="pr_ready", id="a"),
        edge("in_progress", "planning", "agent_outcome", outcomeValue="pr_ready", id="b"),
    )
    decision = decided(graph, "in_progress", outcome("pr_ready"))
    assert refusal(decision) is Refusal.AMBIGUOUS
    assert isinstance(decision, Refused)
    assert decision.reasons == ("Several transitions take pr_ready: to done (a), to planning (b).",)


def test_an_outcome_nobody_takes_names_pipeline_and_status() -> None:
    decision = decided(pipeline(), "planning", outcome("pr_ready"))
    assert refusal(decision) is Refusal.NO_TRANSITION
    assert isinstance(decision, Refused)
    assert decision.reasons == ('Nothing in pipeline "p" takes pr_ready from "planning".',)


@pytest.mark.parametrize(
    ("fired", "status", "reason"),
    [
        (
            manual("done"),
            "open",
            'There is no move from "open" to "done" in pipeline "p".'
            ' Possible from here: "planning", "cancelled".',
        ),
        (
            manual(transition_id="x"),
            "open",
            'There is no move from "open" to "x" in pipeline "p".'
            ' Possible from here: "planning", "cancelled".',
        ),
        (
            manual("done"),
            "needs_info",
            'There is no move from "needs_info" to "done" in pipeline "p".'
            ' Possible from here: "in_progress", "cancelled".',
        ),
        (
            manual(),
            "done",
            'There is no move from "done" by hand in pipeline "p". Nothing can be moved by hand.',
        ),
    ],
)
def test_a_move_that_does_not_exist_names_those_that_do(
    fired: Fired, status: str, reason: str
) -> None:
    graph = pipeline(
        edge("open", "planning"), edge("needs_info", "$origin"), edge("*", "cancelled")
    )
    decision = decided(graph, status, fired, origin="in_progress")
    assert isinstance(decision, Refused)
    assert decision.reasons == (reason,)


def test_a_transition_can_be_asked_for_by_its_id() -> None:
    graph = pipeline(edge("open", "planning", id="a"), edge("open", "planning", id="b"))
    decision = decided(graph, "open", manual(transition_id="b"))
    assert isinstance(decision, Moved)
    assert decision.transition.id == "b"


# ------------------------------------------------------------------------------- the way back

ANSWERED = Fired(
    trigger=Trigger(type=TriggerType.PROMPT_RESPONSE),
    payload={"answers": []},
    prompt_type=PromptType.INFO_REQUEST,
)
WAY_BACK = edge("needs_info", "$origin", "prompt_response", "has_payload_response")


def test_origin_is_the_status_the_question_came_from() -> None:
    for origin in ("planning", "in_progress"):
        assert target(decided(pipeline(WAY_BACK), "needs_info", ANSWERED, origin=origin)) == origin


@pytest.mark.parametrize("origin", [None, "of_an_older_version"])
def test_without_a_way_back_the_move_is_refused_even_by_force(origin: str | None) -> None:
    decision = decided(pipeline(WAY_BACK), "needs_info", ANSWERED, origin=origin, force=True)
    assert refusal(decision) is Refusal.NO_ORIGIN


@pytest.mark.parametrize("asked", ["$origin", "planning"])
def test_a_person_may_name_the_way_back_or_the_status(asked: str) -> None:
    graph = pipeline(edge("needs_info", "$origin"), edge("*", "cancelled"))
    assert target(decided(graph, "needs_info", manual(asked), origin="planning")) == "planning"


def test_the_older_form_of_an_answer_is_a_guarded_manual_move() -> None:
    older = edge("needs_info", "planning", "manual", "has_payload_response")
    assert target(decided(pipeline(older), "needs_info", ANSWERED)) == "planning"
    assert refusal(decided(pipeline(older), "needs_info", manual())) is Refusal.GUARDS


# ------------------------------------------------------------------------ explicit and wildcard


def test_an_explicit_from_beats_the_wildcard_even_when_its_guards_refuse() -> None:
    graph = pipeline(
        edge("*", "done", "agent_outcome", outcomeValue="pr_ready"),
        edge("planning", "in_progress", "agent_outcome", "has_plan", outcomeValue="pr_ready"),
    )
    assert target(decided(graph, "in_progress", outcome("pr_ready"))) == "done"
    assert target(decided(graph, "planning", outcome("pr_ready"), plan="x")) == "in_progress"
    assert refusal(decided(graph, "planning", outcome("pr_ready"))) is Refusal.GUARDS


@pytest.mark.parametrize(
    ("here", "anywhere"),
    [
        pytest.param("any", {"type": "agent_outcome", "outcome": "pr_ready"}, id="any-here"),
        pytest.param({"type": "agent_outcome", "outcome": "pr_ready"}, "any", id="any-anywhere"),
    ],
)
def test_an_explicit_from_beats_the_wildcard_across_triggers(here: Any, anywhere: Any) -> None:
    graph = pipeline(edge("*", "done", anywhere), edge("planning", "in_progress", here))
    assert target(decided(graph, "planning", outcome("pr_ready"))) == "in_progress"


def test_of_manual_moves_the_target_decides() -> None:
    graph = pipeline(
        edge("open", "planning"), edge("*", "cancelled"), edge("open", "cancelled", "any", id="own")
    )
    assert target(decided(graph, "open", manual("planning"))) == "planning"
    cancelled = decided(graph, "open", manual("cancelled"))
    assert isinstance(cancelled, Moved)
    assert cancelled.transition.id == "own"
    assert refusal(decided(graph, "open", manual())) is Refusal.AMBIGUOUS


# --------------------------------------------------------------------------------------- force


def test_force_passes_the_guards_and_says_so() -> None:
    graph = pipeline(edge("open", "done", "manual", "has_plan"))
    decision = decided(graph, "open", manual("done"), force=True)
    assert isinstance(decision, Moved)
    assert decision.forced
    assert [c.passed for c in decision.checks] == [False]


def test_force_that_was_not_needed_is_no_force() -> None:
    graph = pipeline(
        edge("open", "done", "manual", "has_plan", id="refused"),
        edge("open", "done", "manual", id="free"),
    )
    decision = decided(graph, "open", manual("done"), force=True)
    assert isinstance(decision, Moved)
    assert (decision.transition.id, decision.forced) == ("free", False)


def test_force_never_passes_the_graph() -> None:
    graph = pipeline(edge("open", "planning"))
    assert refusal(decided(graph, "open", manual("done"), force=True)) is Refusal.NO_TRANSITION


def test_candidates_show_what_each_move_still_needs() -> None:
    graph = pipeline(edge("open", "planning", "manual", "has_plan"), edge("*", "cancelled"))
    found = candidates(graph, "open", Facts(fired=manual()), REGISTRY)
    assert [(c.to, c.allowed, c.reasons) for c in found] == [
        ("planning", False, ["There is no plan yet."]),
        ("cancelled", True, []),
    ]


def test_a_hook_that_cannot_be_performed_refuses_the_move_even_by_force() -> None:
    split = edge("open", "planning", hooks=[{"type": "execute_split"}])
    begin = edge("planning", "in_progress", hooks=[{"type": "advance_phase"}])
    gone = edge("in_progress", "done", hooks=[{"type": "ring"}])
    graph = unchecked(split, begin, gone)
    for status, reason in (
        ("open", "There is no approved split to make phases from."),
        ("planning", "There is no phase left to begin."),
        ("in_progress", 'Nothing performs it any more: there is no hook "ring".'),
    ):
        decision = decided(graph, status, manual(), force=True)
        assert refusal(decision) is Refusal.HOOKS
        assert isinstance(decision, Refused)
        assert decision.reasons == (reason,)


# ------------------------------------------------------------------------------------ any graph

statuses = st.sampled_from(list(STATUSES))
outcomes = st.sampled_from(["pr_ready", "needs_info", "plan_ready", "no_changes"])


@st.composite
def triggers(draw: st.DrawFn, *, any: bool = True) -> Trigger:
    kind = draw(st.sampled_from([k for k in TriggerType if any or k is not TriggerType.ANY]))
    name = draw(outcomes) if kind is TriggerType.AGENT_OUTCOME else None
    return Trigger(type=kind, outcome=name)


guard_specs = st.one_of(
    st.sampled_from(sorted(set(guards.BUILT_IN) - set(guards.GUARD_PARAMS))).map(
        lambda name: {"type": name}
    ),
    st.builds(
        lambda status, cap: {"type": "max_iterations", "params": {"statusId": status, "max": cap}},
        statuses,
        st.integers(1, 3),
    ),
    st.builds(
        lambda usd: {"type": "within_budget", "params": {"taskUsd": usd}},
        st.floats(0.01, 10),
    ),
    st.sampled_from(["needs_info", "changes_requested", "choice"]).map(
        lambda kind: {"type": "has_payload_response", "params": {"payloadType": kind}}
    ),
)
broken = st.sampled_from(
    [
        {"type": "nobody_knows"},
        {"type": "max_iterations", "params": {}},
        {"type": "max_iterations", "params": {"statusId": "open", "max": "five"}},
        {"type": "within_budget", "params": {"taskUsd": []}},
    ]
)
"""Guards of versions that were saved when they were right, as far as one knows."""
negatable = st.builds(lambda spec, no: {**spec, "not": no}, guard_specs | broken, st.booleans())

rows = st.builds(
    lambda source, to, trigger, specs, hooks: {
        "from": source,
        "to": to,
        "trigger": trigger.model_dump(mode="json"),
        "guards": specs,
        "hooks": [{"type": name} for name in hooks],
    },
    st.one_of(statuses, st.just("*")),
    st.one_of(statuses, st.just("$origin")),
    triggers(),
    st.lists(negatable, max_size=2),
    st.lists(st.sampled_from([*REGISTRY.hooks, "nobody_knows"]), max_size=1),
)
pipelines_of_any_shape = st.lists(rows, max_size=8).map(lambda found: unchecked(*found))

facts = st.builds(
    Facts,
    fired=st.builds(
        Fired,
        trigger=triggers(any=False),
        to=st.one_of(st.none(), statuses, st.just("$origin"), st.text(max_size=3)),
        payload=st.one_of(st.none(), st.just({"answers": []})),
        prompt_type=st.one_of(st.none(), st.sampled_from(PromptType)),
    ),
    plan=st.one_of(st.none(), st.just("plan")),
    live_run=st.one_of(st.none(), st.just(RunId("r"))),
    rounds=st.dictionaries(statuses, st.integers(0, 4)),
    review=st.one_of(
        st.none(),
        st.sampled_from(["approved", "changes_requested"]).map(lambda d: {"decision": d}),
    ),
    spent_usd=st.one_of(st.none(), st.floats(0, 20)),
    admin=st.booleans(),
)


@settings(max_examples=300, deadline=None)
@given(
    graph=pipelines_of_any_shape,
    status=statuses,
    origin=st.one_of(st.none(), statuses, st.just("of_an_older_version")),
    known=facts,
)
def test_the_decision_is_total_and_keeps_to_the_graph(
    graph: Pipeline, status: str, origin: str | None, known: Facts
) -> None:
    plain = decide(graph, status, origin, known, REGISTRY)
    forced = decide(graph, status, origin, known, REGISTRY, force=True)
    for decision in (plain, forced):
        if isinstance(decision, Moved):
            assert decision.to in STATUSES
            assert decision.transition in graph.leaving(status)
            assert decision.forced is not all(c.passed for c in decision.checks)
        else:
            assert decision.reasons
            assert all(decision.reasons)
    if isinstance(plain, Moved):
        assert not plain.forced
        assert forced == plain
    elif isinstance(forced, Moved):
        assert plain.kind is Refusal.GUARDS
        assert forced.forced
    assert plain == decide(graph, status, origin, known, REGISTRY)
