"""What outputs are held to beyond their own form, and what is asked for where an agent did not."""

from typing import Any

import pytest

from agents_manager.domain import stage_rules as rules
from agents_manager.domain.course import Assignment
from agents_manager.domain.stages import outputs, summary, table
from agents_manager.domain.stages.context import StageOutputs
from agents_manager.domain.stages.request import Request
from tests.stage_samples import SAMPLES
from tests.staged_walk import FAILING, sample

SPEC = outputs.TaskSpec.model_validate(SAMPLES["task_spec"])
MADE = StageOutputs(stage_0_taskspec=SPEC)
PLAN = outputs.ImplementationPlan.model_validate(SAMPLES["implementation_plan"])
MINE = Assignment(agent="build-agent-1", batch=PLAN.batches[0], files=("app.py",), trigger=None)


def output(name: str, **fields: Any) -> Any:
    return table.BY_OUTCOME[name].output.model_validate(sample(name, **fields))


def faults(name: str, changed: tuple[str, ...] = ("app.py",), **fields: Any) -> list[str]:
    role = table.BY_OUTCOME[name].role
    said = output(name, **fields)
    given = MINE if name == "build_report" else None
    return rules.problems(role, said, MADE, [], assignment=given, changed=changed)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_sound_output_has_no_faults(name: str) -> None:
    assert faults(name) == []


def test_a_plan_covers_every_feature_and_no_other() -> None:
    first = {**SAMPLES["implementation_plan"]["batches"][0]}
    unknown = {"number": 2, "features": [{"id": "F7", "modify": ["x"]}]}
    assert faults("implementation_plan", batches=[first, unknown]) == [
        "Feature F2 of the TaskSpec is in no batch.",
        "The TaskSpec has no feature F7.",
    ]
    assert faults("implementation_plan", batches=[]) == []


def test_a_failed_pre_flight_requests_somebody() -> None:
    failed = output(
        "pre_flight_check",
        environment=[{"check": "c", "status": "FAIL"}],
        status="FAIL",
        blockers=[{"title": "t", "check": "c", "issue": "i", "fix": "f"}],
    )
    wanted = Request(target="plan-agent", reason="no")
    assert rules.problems("pre-flight-checker", failed, MADE, [wanted]) == []
    assert rules.problems("pre-flight-checker", failed, MADE, []) == [
        "FAIL needs a REQUEST: say who mends the blocker."
    ]


def test_a_builder_is_asked_for_by_its_number_only_if_it_was_there() -> None:
    wanted, report = Request(target="build-agent-2", reason="no"), output("review_report")
    there = ["build-agent-1", "build-agent-2"]
    assert rules.problems("review-agent", report, MADE, [wanted], builders=there) == []
    assert rules.problems("review-agent", report, MADE, [wanted], builders=there[:1]) == [
        "There was no build-agent-2; request build-agent for a fresh one."
    ]


def test_a_builder_is_held_to_its_batch_and_to_what_it_changed() -> None:
    assert faults("build_report", agent="build-agent-2") == [
        'You are build-agent-1, not "build-agent-2".'
    ]
    assert faults("build_report", features=[{"id": "F2", "status": "COMPLETE"}]) == [
        "Feature F1 of your batch is not in the report.",
        "Feature F2 is not in your batch.",
    ]
    assert faults("build_report", ()) == ["The report names app.py, which you did not change."]
    stray = ("app.py", "setup.py")
    assert faults("build_report", stray, files_modified=["app.py", "setup.py"]) == [
        "You changed setup.py, which is not in your batch; take it back, or say under deviations"
        " why it had to be."
    ]
    said = {"files_modified": ["app.py", "setup.py"], "deviations": ["setup.py names the module"]}
    assert faults("build_report", stray, **said) == []
    tests = ("app.py", "tests/test_app.py")
    assert faults("build_report", tests, files_modified=list(tests)) == []


def test_a_review_judges_every_feature() -> None:
    criteria = SAMPLES["review_report"]["criteria"][:1]
    assert faults("review_report", criteria=criteria) == ["No criterion of feature F2 is judged."]


def test_a_failure_asks_for_whom_the_table_names() -> None:
    wanted = rules.implied(outputs.TestReport.model_validate(FAILING))
    assert wanted
    assert (wanted.target, wanted.reason) == ("debugger", "1 of 12 tests fail")
    assert wanted.context == "test_health: KeyError: status"
    assert rules.implied(output("test_report")) is None
    assert rules.implied(output("review_report")) is None


def test_what_varies_makes_no_other_signature() -> None:
    def signed(error: str) -> str:
        said = {**FAILING, "failing": [{"test": "test_a", "error": error}]}
        report = outputs.TestReport.model_validate(said)
        return rules.signature(report, Request(target="debugger", reason="no"))

    assert signed("Timeout after 12 s at 0x7f00aa") == signed("timeout after  31 s at 0x7fbbcc")
    assert signed("KeyError: a") != signed("KeyError: b")


def test_what_does_not_fit_is_summarised_and_says_so() -> None:
    report = output("test_report", lint="x" * 5_000)
    assert summary.within(report, 10_000) == summary.whole(report)
    short = summary.within(report, 1_000)
    assert len(short) <= 1_000
    assert "more characters)" in short
    many = output("test_report", violations=[f"violation {n}" for n in range(400)])
    assert "… and 3" in summary.within(many, 1_000)
