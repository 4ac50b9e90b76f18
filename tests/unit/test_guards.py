from datetime import UTC, datetime
from typing import Any

import pytest

from agents_manager.domain import guards
from agents_manager.domain.course import StageFacts
from agents_manager.domain.guards import BUILT_IN, Facts, Fired, check, matches
from agents_manager.domain.ids import ProjectId, RunId, TaskId
from agents_manager.domain.phase import Phase, PhaseStatus
from agents_manager.domain.pipeline import GuardSpec, PromptType, Trigger, TriggerType
from agents_manager.domain.task import PullRequest, PullState

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CAP = {"statusId": "in_progress", "max": 5}
HEAD = "1111111122222222"


def pull(state: PullState = PullState.OPEN) -> PullRequest:
    return PullRequest(
        id="pull-1",
        project_id=ProjectId("p"),
        task_id=TaskId("t"),
        number=7,
        title="",
        body="",
        head_branch="agent/x",
        base_branch="main",
        head_sha=HEAD,
        state=state,
        merge_sha=None,
        created_at=NOW,
        updated_at=NOW,
    )


def fired(kind: TriggerType = TriggerType.MANUAL, **fields: Any) -> Fired:
    outcome = "pr_ready" if kind is TriggerType.AGENT_OUTCOME else None
    return Fired(trigger=Trigger(type=kind, outcome=outcome), **fields)


def answer_to(prompt_type: PromptType | None, payload: Any = ()) -> dict[str, Any]:
    answered = fired(TriggerType.PROMPT_RESPONSE, prompt_type=prompt_type, payload=payload)
    return {"fired": answered}


def review(decision: str, head_sha: str | None = None) -> dict[str, Any]:
    return {"review": {"decision": decision, "head_sha": head_sha}}


def phase(number: int, status: PhaseStatus) -> Phase:
    return Phase(
        id=f"ph{number}",
        task_id=TaskId("t"),
        position=number,
        number=number,
        name=f"Part {number}",
        description="",
        complexity="low",
        status=status,
        created_at=NOW,
    )


ACTIVE, PENDING = phase(1, PhaseStatus.ACTIVE), phase(2, PhaseStatus.PENDING)
DONE, SKIPPED = phase(3, PhaseStatus.DONE), phase(4, PhaseStatus.SKIPPED)
MERGED = pull(PullState.MERGED)


def split(decision: str) -> dict[str, Any]:
    return answer_to(PromptType.SPLIT_PROPOSAL, {"decision": decision})


PHASES: list[tuple[str, dict[str, Any], dict[str, Any], bool, str]] = [
    ("split_approved", {}, split("approved"), True, "The split was approved."),
    ("split_approved", {}, split("rejected"), False, "The split was rejected."),
    ("split_approved", {}, {}, False, "No split was decided on."),
    ("split_rejected", {}, split("rejected"), True, "The split was rejected."),
    ("split_rejected", {}, split("approved"), False, "The split was approved."),
    ("pr_merged", {}, {"phases": (DONE,), "pull": MERGED}, False, "There is no pull request yet."),
    (
        "pr_merged",
        {},
        {"phases": (DONE,), "final_pull": MERGED},
        True,
        "Pull request #7 is merged.",
    ),
    ("current_phase_has_pr", {}, {"phase_pull": pull()}, True, "Pull request #7 exists."),
    ("current_phase_has_pr", {}, {}, False, "The current phase has no pull request yet."),
    (
        "current_phase_pr_merged",
        {},
        {"phases": (ACTIVE,), "phase_pull": MERGED},
        True,
        "Pull request #7 is merged.",
    ),
    (
        "current_phase_pr_merged",
        {},
        {"phases": (ACTIVE,), "phase_pull": pull()},
        False,
        "Pull request #7 is not merged.",
    ),
    ("current_phase_pr_merged", {}, {"phase_pull": MERGED}, False, "No phase is at work."),
    (
        "phases_remain",
        {},
        {"phases": (ACTIVE, PENDING)},
        True,
        'The phase "Part 2" has not been begun.',
    ),
    ("phases_remain", {}, {"phases": (ACTIVE, DONE)}, False, "No phase is left to begin."),
    (
        "all_phases_completed",
        {},
        {"phases": (DONE, SKIPPED, ACTIVE), "phase_pull": MERGED},
        True,
        "Every phase is completed.",
    ),
    (
        "all_phases_completed",
        {},
        {"phases": (DONE, ACTIVE), "phase_pull": pull()},
        False,
        'The phase "Part 1" is not completed.',
    ),
    (
        "all_phases_completed",
        {},
        {"phases": (ACTIVE, PENDING), "phase_pull": MERGED},
        False,
        'The phase "Part 2" is not completed.',
    ),
    ("all_phases_completed", {}, {}, False, "The task has no phases."),
    ("has_final_pr", {}, {"final_pull": pull()}, True, "The final pull request is #7."),
    ("has_final_pr", {}, {}, False, "There is no final pull request yet."),
    ("checks_passed", {}, {"checks_passed": True}, True, "The checks passed."),
    ("checks_passed", {}, {"checks_passed": False}, False, "The checks failed."),
    ("checks_passed", {}, {}, False, "No checks were run on the work as it stands."),
    ("has_document", {}, {"documents": True}, True, "There is a document."),
    ("has_document", {}, {}, False, "There is no document yet."),
]

CAPS = {"edge": 3, "task": 15}
LOOP = Fired(
    trigger=Trigger(type=TriggerType.LOOP_BACK),
    payload={"source_agent": "test-agent", "target_agent": "debugger"},
)


def looped(**stages: Any) -> dict[str, Any]:
    return {"fired": LOOP, "stages": StageFacts(**stages)}


def ended_with(payload: dict[str, Any]) -> dict[str, Any]:
    trigger = Trigger(type=TriggerType.AGENT_OUTCOME, outcome="decision")
    return {"fired": Fired(trigger=trigger, payload=payload)}


IS = {"field": "decision", "value": "RESTART"}
STAGES: list[tuple[str, dict[str, Any], dict[str, Any], bool, str]] = [
    ("payload_is", IS, ended_with({"decision": "RESTART"}), True, "The decision is RESTART."),
    ("payload_is", IS, ended_with({"decision": "COMPLETE"}), False, "The decision is COMPLETE."),
    ("payload_is", IS, {}, False, 'There is no "decision".'),
    ("work_changed", {}, {"files": 2}, True, "2 files changed."),
    ("work_changed", {}, {}, False, "No file changed."),
    (
        "batches_remain",
        {},
        {"stages": StageFacts(batches=(2, 3))},
        True,
        "Batch 2 has not been built.",
    ),
    ("batches_remain", {}, {}, False, "The plan has no batch that is still to be built."),
    (
        "tests_can_be_written",
        {},
        {"files": 1, "stages": StageFacts(test_command="pytest")},
        True,
        "Tests are run by: pytest",
    ),
    ("tests_can_be_written", {}, {}, False, "No file changed."),
    (
        "tests_can_be_written",
        {},
        {"files": 1},
        False,
        "The profile of the repository has no test command.",
    ),
    (
        "tests_are_due",
        {},
        {"files": 1, "stages": StageFacts(test_command="pytest", untested=True)},
        True,
        "Something was built, and no tests were written since.",
    ),
    (
        "tests_are_due",
        {},
        {"files": 1, "stages": StageFacts(test_command="pytest")},
        False,
        "Tests were written since the last builder.",
    ),
    ("tests_are_due", {}, {"stages": StageFacts(untested=True)}, False, "No file changed."),
    (
        "needs_debugging",
        {},
        {"stages": StageFacts(to_debug=("build-agent-1",))},
        True,
        "build-agent-1 ended in trouble.",
    ),
    ("needs_debugging", {}, {}, False, "No builder needs debugging, and nobody requested it."),
    (
        "confirms_spec",
        {},
        {"confirms_spec": True},
        True,
        "A person confirms the task specification.",
    ),
    (
        "confirms_spec",
        {},
        {},
        False,
        "Nobody is asked to confirm the task specification (staged.confirmSpec).",
    ),
    (
        "was_requested",
        {},
        {"stages": StageFacts(requester="testing")},
        True,
        "The agent in testing had asked for it.",
    ),
    ("was_requested", {}, {}, False, "No agent waits for it."),
    (
        "loop_backs_within",
        CAPS,
        looped(on_edge=2, loop_backs=14),
        True,
        "test-agent → debugger: 3 of 3; 15 of 15 in all.",
    ),
    (
        "loop_backs_within",
        CAPS,
        looped(on_edge=3),
        False,
        "test-agent → debugger was gone 3 times; at most 3 are allowed.",
    ),
    (
        "loop_backs_within",
        CAPS,
        looped(loop_backs=15),
        False,
        "There were 15 loop-backs; a task has at most 15.",
    ),
    (
        "loop_backs_within",
        CAPS,
        looped(alike=3),
        False,
        "test-agent → debugger failed 3 times in a row in the same way.",
    ),
]

TABLE: list[tuple[str, dict[str, Any], dict[str, Any], bool, str]] = [
    ("has_plan", {}, {"plan": "1. Do it"}, True, "There is a plan."),
    ("has_plan", {}, {}, False, "There is no plan yet."),
    ("has_plan", {}, {"plan": ""}, False, "There is no plan yet."),
    ("has_branch", {}, {"branch": "agent/x"}, True, "The branch is agent/x."),
    ("has_branch", {}, {}, False, "There is no branch yet."),
    ("has_pr", {}, {"pull": pull()}, True, "Pull request #7 exists."),
    ("has_pr", {}, {}, False, "There is no pull request yet."),
    (
        "pr_merged",
        {},
        {"pull": pull(PullState.MERGED)},
        True,
        "Pull request #7 is merged.",
    ),
    ("pr_merged", {}, {"pull": pull()}, False, "Pull request #7 is not merged."),
    (
        "pr_merged",
        {},
        {"pull": pull(PullState.CLOSED)},
        False,
        "Pull request #7 is not merged.",
    ),
    ("pr_merged", {}, {}, False, "There is no pull request yet."),
    ("no_running_agent", {}, {}, True, "No agent is running."),
    (
        "no_running_agent",
        {},
        {"live_run": RunId("r1")},
        False,
        "Run r1 is still going on; stop it first.",
    ),
    ("dependencies_resolved", {}, {}, True, "Nothing it depends on is open."),
    (
        "dependencies_resolved",
        {},
        {"unresolved": ('"A"', '"B"')},
        False,
        'It waits for "A", "B".',
    ),
    (
        "dependencies_resolved",
        {},
        {"unresolved": ('"A"',), "blockers": ("It is blocked.",)},
        False,
        'It waits for "A". It is blocked.',
    ),
    ("max_iterations", CAP, {}, True, "Round 1 of 5."),
    ("max_iterations", CAP, {"rounds": {"in_progress": 4}}, True, "Round 5 of 5."),
    (
        "max_iterations",
        CAP,
        {"rounds": {"in_progress": 5}},
        False,
        "Maximum review iterations (5) reached. Manual intervention required.",
    ),
    ("max_iterations", CAP, {"rounds": {"planning": 9}}, True, "Round 1 of 5."),
    (
        "has_payload_response",
        {},
        answer_to(PromptType.INFO_REQUEST),
        True,
        "The question has been answered.",
    ),
    ("has_payload_response", {}, {}, False, "The question has not been answered."),
    (
        "has_payload_response",
        {},
        answer_to(PromptType.INFO_REQUEST, None),
        False,
        "The question has not been answered.",
    ),
    (
        "has_payload_response",
        {"payloadType": "changes_requested"},
        answer_to(PromptType.INFO_REQUEST),
        False,
        "The answer is to info_request, not to changes_requested.",
    ),
    ("review_approved", {}, {}, False, "There is no review yet."),
    ("review_approved", {}, review("approved"), True, "The review says approved."),
    (
        "review_approved",
        {},
        review("changes_requested"),
        False,
        "The review says changes_requested.",
    ),
    (
        "review_approved",
        {},
        {"head_sha": HEAD, **review("approved", HEAD)},
        True,
        "The review says approved.",
    ),
    (
        "review_approved",
        {},
        {"head_sha": HEAD, **review("approved", "0000000099999999")},
        False,
        "The approval was for 00000000, but the work is now at 11111111.",
    ),
    (
        "review_approved",
        {},
        review("approved", HEAD),
        True,
        "The review says approved.",
    ),
    (
        "review_approved",
        {},
        {"head_sha": HEAD, **review("approved")},
        True,
        "The review says approved.",
    ),
    ("review_changes_requested", {}, {}, False, "There is no review yet."),
    (
        "review_changes_requested",
        {},
        {"head_sha": HEAD, **review("changes_requested", "0000000099999999")},
        True,
        "The review says changes_requested.",
    ),
    (
        "review_changes_requested",
        {},
        review("approved"),
        False,
        "The review says approved.",
    ),
    ("within_budget", {}, {"spent_usd": None}, True, "No budget is set."),
    (
        "within_budget",
        {"taskUsd": 5},
        {"spent_usd": 4.99},
        True,
        "$4.99 of $5.00 are spent.",
    ),
    (
        "within_budget",
        {"taskUsd": 5},
        {"spent_usd": 5.0},
        False,
        "$5.00 of $5.00 are spent.",
    ),
    (
        "within_budget",
        {"taskUsd": 5},
        {"spent_usd": None},
        False,
        "The cost so far is unknown, so a budget of $5.00 cannot be held.",
    ),
    ("agent_reviews", {}, {"agent_reviews": True}, True, "An agent reviews first."),
    ("agent_reviews", {}, {}, False, "No agent is set to review."),
    *STAGES,
    ("is_admin", {}, {"admin": True}, True, "An admin asked."),
    ("is_admin", {}, {}, False, "Only an admin may do this."),
    *PHASES,
]


@pytest.mark.parametrize(("name", "params", "facts", "passes", "reason"), TABLE)
def test_guards_answer_with_a_reason(
    name: str, params: dict[str, Any], facts: dict[str, Any], passes: bool, reason: str
) -> None:
    known = Facts(**{"fired": fired(), **facts})
    plain = check(GuardSpec(type=name, params=params), known, BUILT_IN)
    assert (plain.name, plain.passed, plain.reason) == (name, passes, reason)
    negated = GuardSpec.model_validate({"type": name, "params": params, "not": True})
    turned = check(negated, known, BUILT_IN)
    assert (turned.name, turned.passed, turned.reason) == (f"not {name}", not passes, reason)


@pytest.mark.parametrize("wanted", ["needs_info", "options_proposed", "info_request"])
def test_three_names_of_a_question_are_one(wanted: str) -> None:
    known = Facts(**answer_to(PromptType.INFO_REQUEST))
    assert guards.has_payload_response(known, {"payloadType": wanted})[0]


def test_every_guard_passes_somewhere_and_fails_somewhere() -> None:
    seen = {(name, passes) for name, _, _, passes, _ in TABLE}
    assert seen == {(name, passes) for name in BUILT_IN for passes in (True, False)}


@pytest.mark.parametrize("negate", [False, True])
def test_a_guard_whose_plugin_is_gone_lets_nothing_pass(negate: bool) -> None:
    spec = GuardSpec.model_validate({"type": "of_a_plugin", "not": negate})
    answer = check(spec, Facts(fired=fired()), BUILT_IN)
    assert not answer.passed
    assert '"of_a_plugin"' in answer.reason


# ----------------------------------------------------------------------- who listens to what


def listens(trigger: str, kind: TriggerType, *guard_specs: GuardSpec) -> bool:
    outcome = "pr_ready" if trigger == "agent_outcome" else None
    return matches(Trigger(type=TriggerType(trigger), outcome=outcome), guard_specs, fired(kind))


@pytest.mark.parametrize("kind", [k for k in TriggerType if k is not TriggerType.ANY])
def test_any_listens_to_people_and_outcomes_only(kind: TriggerType) -> None:
    expected = kind.value in {"manual", "agent_outcome", "prompt_response", "review_submitted"}
    assert listens("any", kind) is expected


@pytest.mark.parametrize("kind", [k for k in TriggerType if k is not TriggerType.ANY])
def test_the_others_listen_to_their_own_kind_only(kind: TriggerType) -> None:
    heard = [t.value for t in TriggerType if t is not TriggerType.ANY and listens(t.value, kind)]
    assert heard == [kind.value]


def test_outcomes_are_told_apart() -> None:
    other = Trigger(type=TriggerType.AGENT_OUTCOME, outcome="no_changes")
    assert not matches(other, (), fired(TriggerType.AGENT_OUTCOME))


def test_a_manual_transition_that_asks_for_the_response_is_the_older_form_of_an_answer() -> None:
    asks = GuardSpec(type="has_payload_response")
    assert listens("manual", TriggerType.PROMPT_RESPONSE, asks)
    assert not listens("manual", TriggerType.REVIEW_SUBMITTED, asks)
    assert not listens("auto", TriggerType.PROMPT_RESPONSE, asks)
    refuses = GuardSpec.model_validate({"type": "has_payload_response", "not": True})
    assert not listens("manual", TriggerType.PROMPT_RESPONSE, refuses)


def test_what_fired_names_itself() -> None:
    assert str(fired(TriggerType.AGENT_OUTCOME)) == "pr_ready"
    assert str(fired(TriggerType.AUTO)) == "auto"
