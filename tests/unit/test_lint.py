"""Every kind of finding, each from the smallest change to a pipeline that has none."""

import json
from dataclasses import dataclass
from importlib import resources
from typing import Any

import pytest

from agents_manager.domain import lint, registry
from agents_manager.domain import pipeline as pipelines
from agents_manager.domain.finding import Finding, Severity
from agents_manager.errors import InvalidPipeline
from tests.unit.pipeline_documents import STARTS, document, edge, status

REGISTRY = registry.built_in()


def findings(of: object) -> list[Finding]:
    return lint.check_document(of, REGISTRY)[1]


def told(of: object) -> list[tuple[str, str, str]]:
    return [(f.severity.value, f.code, f.position) for f in findings(of)]


BUILT_IN = sorted(
    file.name
    for file in resources.files("agents_manager").joinpath("pipelines").iterdir()
    if file.name.endswith(".json")
)


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_pipelines_have_no_findings(name: str) -> None:
    file = resources.files("agents_manager").joinpath("pipelines", name)
    assert findings(json.loads(file.read_text())) == []


def test_the_pipeline_that_the_others_are_made_from_has_no_findings() -> None:
    assert findings(document()) == []


@dataclass(frozen=True)
class Case:
    of: dict[str, Any]
    code: str
    position: str
    severity: str = "error"
    says: str = ""


CASES = {
    "unreachable": Case(
        document(edge("island", "done"), statuses=(status("island", "open"),)),
        "unreachable",
        "statuses.8",
        "warning",
        'No transition leads to "island" from "open".',
    ),
    "dead-end": Case(
        document(edge("stuck", "pit"), without="cancel", statuses=(status("pit", "active"),)),
        "dead_end",
        "statuses.8",
        says='Nothing leads out of "pit", and it is not final.',
    ),
    "only-the-way-from-everywhere": Case(
        document(edge("stuck", "pit"), statuses=(status("pit", "active"),)),
        "dead_end",
        "statuses.8",
        "warning",
    ),
    "no-end": Case(
        document(
            edge("stuck", "a"),
            edge("a", "b"),
            edge("b", "a"),
            without="cancel",
            statuses=(status("a", "open"), status("b", "open")),
        ),
        "no_end",
        "statuses.8",
        says='No final status can be reached from "a".',
    ),
    "final-can-fail": Case(
        document(edge("open", "done", hooks=[{"type": "notify"}, {"type": "merge_pr"}])),
        "final_can_fail",
        "transitions.12.hooks.1",
        says='"done" is final, and merge_pr may still fail',
    ),
    "leaves-final": Case(document(edge("done", "working")), "leaves_final", "transitions.12.from"),
    "wait-without-exit": Case(
        document(without="asking-prompt_response-$origin"),
        "wait_without_exit",
        "statuses.2",
        says="no transition takes the answer",
    ),
    "choice-without-choices": Case(
        document(without="stuck-manual-$origin"), "wait_without_exit", "statuses.5"
    ),
    "wait-without-prompt": Case(
        document(
            edge("working", "lost", "merge_failed"),
            edge("lost", "done"),
            statuses=(status("lost", "waiting"),),
        ),
        "wait_without_prompt",
        "statuses.8",
    ),
    "entered-without-question": Case(
        document(edge("open", "asking")),
        "nothing_to_ask",
        "transitions.12",
        says='"open-manual-asking" brings no info_request',
    ),
    "entered-without-any-question": Case(
        document(
            edge("working", "lost", "options_proposed"),
            edge("working", "lost", "merge_failed"),
            edge("lost", "working", "prompt_response", **STARTS),
            statuses=(status("lost", "waiting"),),
        ),
        "nothing_to_ask",
        "transitions.13",
    ),
    "answer-without-edge": Case(
        document(without="reviewing-review_submitted-working"),
        "answer_without_edge",
        "statuses.3",
        says="the answer changes_requested",
    ),
    "no-error-edge": Case(
        document(without="working-agent_error-stuck"),
        "no_error_edge",
        "statuses.1",
        says='An agent works in "working"',
    ),
    "agent-in-a-wait": Case(
        document(edge("working", "asking", "options_proposed", **STARTS)),
        "agent_not_active",
        "statuses.2",
        says='An agent is started in "asking", which waits for a person.',
    ),
    "agent-at-the-end": Case(
        document(edge("open", "done", **STARTS)), "agent_not_active", "statuses.6"
    ),
    "outcome-without-edge": Case(
        document(without="working-no_changes-stuck"),
        "outcome_without_edge",
        "statuses.1",
        "warning",
        says="can end with no_changes",
    ),
    "handoff-without-agent": Case(
        document(statuses=({**status("parked", "waiting"), "handoff": "required"},)),
        "handoff_without_agent",
        "statuses.8",
        "warning",
        says='"parked" says whether a run leaves a handoff',
    ),
    "uncapped": Case(
        document(edge("working", "merging", "approved"), edge("merging", "working", "auto")),
        "uncapped_cycle",
        "transitions.12",
        says='"working" → "merging" → "working" can go round for ever',
    ),
    "uncapped-to-itself": Case(
        document(edge("working", "working", "approved", **STARTS)),
        "uncapped_cycle",
        "transitions.12",
    ),
    "cap-of-another-status": Case(
        document(edge("working", "working", "approved", "max_iterations:merging", **STARTS)),
        "uncapped_cycle",
        "transitions.12",
        says='counts "merging" in vain',
    ),
    "cap-that-errors-do-not-count": Case(
        document(
            edge("working", "pausing", "agent_error"),
            edge("pausing", "working", "auto", "max_iterations:working", **STARTS),
            without="working-agent_error-stuck",
            statuses=(status("pausing", "active"),),
        ),
        "uncapped_cycle",
        "transitions.12",
        says="in vain",
    ),
    "contradiction": Case(
        document(edge("open", "done", "manual", "has_plan", "not has_plan")),
        "never_passes",
        "transitions.12.guards",
        says="has_plan and not has_plan do not pass together",
    ),
    "known-contradiction": Case(
        document(
            edge(
                "reviewing",
                "done",
                "review_submitted",
                "review_approved",
                "review_changes_requested",
            )
        ),
        "never_passes",
        "transitions.12.guards",
    ),
    "no-answer-in-the-trigger": Case(
        document(edge("working", "done", "approved", "has_payload_response")),
        "never_passes",
        "transitions.12.guards.0",
        says="agent_outcome carries no answer",
    ),
    "nothing-asked": Case(
        document(edge("open", "done", "manual", "has_payload_response")),
        "never_passes",
        "transitions.12.guards.0",
        says='nothing is asked in "open"',
    ),
    "answer-to-something-else": Case(
        document(
            edge(
                "asking",
                "done",
                "prompt_response",
                guards=[{"type": "has_payload_response", "params": {"payloadType": "review"}}],
            )
        ),
        "never_passes",
        "transitions.12.guards.0",
        says='"asking" asks info_request, not review',
    ),
    "no-review": Case(
        document(edge("stuck", "done", "manual", "review_approved")),
        "never_passes",
        "transitions.12.guards.0",
        says="carries no review",
    ),
    "no-split": Case(
        document(edge("asking", "done", "prompt_response", "split_approved")),
        "never_passes",
        "transitions.12.guards.0",
        says="no split is proposed",
    ),
    "no-decision-on-a-split": Case(
        document(edge("working", "done", "approved", "split_approved")),
        "never_passes",
        "transitions.12.guards.0",
        says="no decision on a split",
    ),
    "nobody-is-admin": Case(
        document(edge("working", "done", "approved", "is_admin")),
        "never_passes",
        "transitions.12.guards.0",
        says="is fired by no person",
    ),
    "competing": Case(
        document(edge("working", "done", "pr_ready")),
        "competing",
        "transitions.12",
        says="both take pr_ready",
    ),
    "competing-if-all-pass": Case(
        document(
            edge("working", "done", "approved", "has_plan"),
            edge("working", "merging", "approved", "has_branch"),
        ),
        "competing",
        "transitions.13",
        "warning",
    ),
    "competing-for-any": Case(
        document(edge("working", "done", "any")), "competing", "transitions.12"
    ),
    "competing-by-hand": Case(
        document(edge("open", "working", id="second", **STARTS)), "competing", "transitions.12"
    ),
    "competing-for-the-answer": Case(
        document(edge("asking", "done", "manual", "has_payload_response")),
        "competing",
        "transitions.12",
    ),
    "competing-from-everywhere": Case(
        document(
            edge("*", "done", "approved", id="one"), edge("*", "cancelled", "approved", id="two")
        ),
        "competing",
        "transitions.13",
    ),
    "auto-from-wait": Case(
        document(edge("asking", "done", "auto")), "auto_from_wait", "transitions.12.trigger"
    ),
    "no-origin": Case(document(edge("open", "$origin")), "no_origin", "transitions.12.to"),
    "never-fires": Case(
        document(edge("working", "done", "review_submitted")),
        "never_fires",
        "transitions.12.trigger",
        "warning",
    ),
    "unknown-guard": Case(
        document(edge("open", "done", "manual", "has_plans")),
        "unknown_name",
        "transitions.12.guards.0.type",
        says='There is no guard "has_plans". Did you mean "has_plan"?',
    ),
    "unknown-hook": Case(
        document(edge("open", "done", hooks=[{"type": "notfy"}])),
        "unknown_name",
        "transitions.12.hooks.0.type",
        says='Did you mean "notify"?',
    ),
    "unknown-outcome": Case(
        document(edge("working", "done", "pr_redy")),
        "unknown_name",
        "transitions.12.trigger.outcome",
    ),
    "bad-params": Case(
        document(edge("open", "done", guards=[{"type": "max_iterations", "params": {"max": 1}}])),
        "bad_params",
        "transitions.12.guards.0.params.statusId",
    ),
    "too-many-from-everywhere": Case(
        document(*(edge("*", "done", id=str(n)) for n in range(20))),
        "too_many",
        "transitions",
        says='"*" is left by 21 transitions; at most 20',
    ),
    "too-many-from-one": Case(
        document(*(edge("stuck", "done", id=str(n)) for n in range(100))),
        "too_many",
        "transitions",
    ),
    "shape": Case(
        document(edge("open", "dome")),
        "shape",
        "transitions.12.to",
        says='There is no status "dome". Did you mean "done"?',
    ),
    "unknown-key": Case(
        {**document(), "statusses": []},
        "shape",
        "statusses",
        says='Did you mean "statuses"?',
    ),
    "unknown-key-within": Case(
        document(edge("open", "done", gards=[])),
        "shape",
        "transitions.12.gards",
        says='Did you mean "guards"?',
    ),
    "no-document": Case([], "shape", "document"),  # pyright: ignore[reportArgumentType]
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_what_is_wrong_is_found_with_its_place_and_the_way_out(case: Case) -> None:
    wanted = (case.severity, case.code, case.position)
    assert wanted in told(case.of)
    for found in findings(case.of):
        if (found.severity, found.code, found.position) == wanted:
            assert case.says in found.message
        for text in (found.message, found.fix):
            assert text.endswith((".", "?"))
            assert text[0].isupper() or text[0] == '"'


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(edge("reviewing", "done", "prompt_response"), id="another-trigger"),
        pytest.param(edge("open", "done"), id="by-hand-to-another-target"),
        pytest.param(edge("*", "done", "pr_ready"), id="from-everywhere"),
        pytest.param(
            edge("merging", "cancelled", "auto", "not pr_merged", "has_plan"), id="other-guards"
        ),
        pytest.param(
            edge("working", "working", "approved", "max_iterations:working"), id="capped-circle"
        ),
        pytest.param(edge("merging", "done", "approved", "review_approved"), id="after-a-review"),
    ],
)
def test_what_is_right_is_not_taken_for_a_fault(row: dict[str, Any]) -> None:
    wrong = {f.code for f in findings(document(row)) if f.severity is Severity.ERROR}
    assert wrong == set()


def test_errors_refuse_the_save_and_warnings_are_given_back() -> None:
    broken = pipelines.parse(document(without="working-agent_error-stuck"))
    with pytest.raises(InvalidPipeline) as caught:
        lint.refuse_errors(broken, REGISTRY)
    assert caught.value.message == 'Pipeline "p" has errors.'
    [line] = caught.value.details
    assert line.startswith('statuses.1: An agent works in "working"')
    fine = pipelines.parse(document(without="working-no_changes-stuck"))
    assert [f.code for f in lint.refuse_errors(fine, REGISTRY)] == ["outcome_without_edge"]


def test_errors_come_first_and_in_the_order_of_the_document() -> None:
    rows = [edge("open", "done", "manual", "has_plans", id=str(i)) for i in range(12)]
    found = told(document(*rows, without="working-no_changes-stuck"))
    names = [position for _, code, position in found if code == "unknown_name"]
    assert names == [f"transitions.{i}.guards.0.type" for i in range(11, 23)]
    assert [severity for severity, _, _ in found][-1] == "warning"


def codes(of: object) -> list[str]:
    return [finding.code for finding in findings(of)]


def test_the_way_back_to_whoever_asked_needs_a_loop_back() -> None:
    made = document(edge("working", "$requester", "approved", "was_requested"))
    assert "no_requester" in codes(made)
    asks = edge("*", "working", "loop_back", "loop_backs_within")
    asks["guards"][0]["params"] = {"edge": 3, "task": 15}
    made = document(edge("working", "$requester", "approved", "was_requested"), asks)
    assert codes(made) == []


def test_a_loop_back_without_a_cap_goes_round_for_ever() -> None:
    assert "uncapped_cycle" in codes(document(edge("*", "working", "loop_back")))


def test_two_values_of_one_field_do_not_compete() -> None:
    ways = [edge("working", to, "approved", "payload_is") for to in ("stuck", "merging")]
    for way, value in zip(ways, ("a", "b"), strict=True):
        way["guards"][0]["params"] = {"field": "kind", "value": value}
    assert codes(document(*ways)) == []
    ways[1]["guards"][0]["params"]["value"] = "a"
    assert "competing" in codes(document(*ways))
