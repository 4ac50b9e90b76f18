"""What a stage gives back is held to the rules of its table: each rule refuses what breaks it, and
says which."""

import copy
from typing import Any

import pytest
from pydantic import ValidationError

from agents_manager.domain.pipeline import faults
from agents_manager.domain.stages.table import BY_OUTCOME, STAGES
from tests.stage_samples import SAMPLES


def changed(sample: dict[str, Any], place: str, value: Any) -> dict[str, Any]:
    """The sample with something else at the place; `...` takes it away."""
    whole = copy.deepcopy(sample)
    at: Any = whole
    *way, last = [int(part) if part.isdigit() else part for part in place.split(".")]
    for part in way:
        at = at[part]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return whole


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.outcome)
def test_there_is_a_sound_one_of_each(stage: Any) -> None:
    stage.output.model_validate(SAMPLES[stage.outcome])
    with pytest.raises(ValidationError, match="Extra inputs"):
        stage.output.model_validate({**SAMPLES[stage.outcome], "surprise": 1})


BATCH = {"number": 1, "features": [{"id": "F1", "modify": ["a.py"]}]}
CHECK = {"check": "c", "status": "FAIL", "details": ""}
BLOCKER = {"title": "t", "check": "c", "issue": "i", "fix": "f"}
FAILED = {"test": "test_a", "error": "boom"}
RULES = [
    ("task_spec", "features.1.id", "F1", "F1 stands there twice"),
    ("task_spec", "features.0.id", "1", "pattern"),
    ("task_spec", "features.0.acceptance_criteria", [], "at least 1"),
    ("task_spec", "features.0.acceptance_criteria", ["It works"], "cannot be tested"),
    ("task_spec", "features", [], "at least 1"),
    ("repo_profile", "commands.test.verified", ..., "verified"),
    ("repo_profile", "commands.test.verified", "yes", "valid boolean"),
    ("repo_profile", "commands.test", ..., "commands.test"),
    ("implementation_plan", "batches.0.features.0.modify", ["a", "b", "c"], "has 3 files"),
    ("implementation_plan", "batches.0.features.0.modify", [], "has 0 files"),
    ("implementation_plan", "batches.1.number", 3, "numbered 1, 2, 3"),
    (
        "implementation_plan",
        "batches",
        [{**BATCH, "number": n} for n in range(1, 17)],
        "at most 15",
    ),
    ("docs_research_output", "findings.0.relevance", "", "at least 1 character"),
    ("pre_flight_check", "status", "FAIL", "when a check is, and only then"),
    ("pre_flight_check", "environment.0.status", "FAIL", "when a check is, and only then"),
    ("build_report", "changes.0.id", "1", "pattern"),
    ("build_report", "features.0.status", "PARTIAL", "what is in the way"),
    ("test_writing_report", "placeholders.found", 1, "each is a violation"),
    ("test_writing_report", "placeholders.violations", ["assert True"], "each is a violation"),
    ("test_writing_report", "criteria.0.covered_by", [], "names the tests"),
    ("test_writing_report", "criteria.0.status", "PARTIAL", "what is missing"),
    ("debug_report", "verification.status", "PARTIAL", "says what comes next"),
    ("debug_report", "fixes.0.id", "F1", "pattern"),
    ("logic_verification", "counts.minor", 2, "MINOR is 2, but 1"),
    ("logic_verification", "status", "MAYBE", "PASS"),
    ("test_report", "passed", 12, "are 13, not 12"),
    ("test_report", "failing", [FAILED], "does not pass"),
    ("test_report", "total", "12", "valid integer"),
    ("test_report", "coverage", 101, "less than or equal to 100"),
    ("integration_test_report", "suites.0.failed", 4, "cannot fail"),
    ("integration_test_report", "suites.0.failed", 1, "only then"),
    ("review_report", "counts.blocker", 1, "BLOCKER is 1, but 0"),
    ("review_report", "criteria.0.verdict", "NOT_MET", "does not pass"),
    ("review_report", "criteria.0.evidence", "", "at least 1 character"),
    ("decision", "decision", "RESTART", "says what for"),
    ("decision", "restart", {"goal": "g", "items": ["i"]}, "nothing else does"),
    ("decision", "evidence.tests", ..., "evidence.tests"),
]


@pytest.mark.parametrize(("outcome", "place", "value", "said"), RULES)
def test_what_breaks_a_rule_is_refused(outcome: str, place: str, value: Any, said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        BY_OUTCOME[outcome].output.model_validate(changed(SAMPLES[outcome], place, value))
    assert said in "; ".join(faults(refused.value))


def test_a_failure_that_is_told_in_full_is_taken() -> None:
    checks = changed(SAMPLES["pre_flight_check"], "environment.0", CHECK)
    failed = {**checks, "status": "FAIL", "blockers": [BLOCKER]}
    BY_OUTCOME["pre_flight_check"].output.model_validate(failed)
    with pytest.raises(ValidationError, match="needs a blocker"):
        BY_OUTCOME["pre_flight_check"].output.model_validate({**failed, "blockers": []})
    tests = {**SAMPLES["test_report"], "status": "FAIL", "passed": 10, "failed": 1}
    BY_OUTCOME["test_report"].output.model_validate({**tests, "failing": [FAILED]})
    with pytest.raises(ValidationError, match="name them"):
        BY_OUTCOME["test_report"].output.model_validate(tests)
    with pytest.raises(ValidationError, match="2 failing tests are named, of 1"):
        BY_OUTCOME["test_report"].output.model_validate({**tests, "failing": [FAILED] * 2})


def test_tests_do_not_count_to_the_files_of_a_batch() -> None:
    tests = [{"path": f"tests/test_{n}.py"} for n in range(5)]
    plan = changed(SAMPLES["implementation_plan"], "batches.0.features.0.tests", tests)
    batch = BY_OUTCOME["implementation_plan"].output.model_validate(plan)
    assert batch.batches[0].files == ("app.py",)  # type: ignore[attr-defined]
