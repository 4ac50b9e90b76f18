"""The PipelineContext: the five validations of the seed, its Markdown, and who is given what."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from agents_manager.domain.stages import table
from agents_manager.domain.stages.context import PipelineContext, StageOutputs, given_to, markdown
from tests.stage_samples import SAMPLES

START = datetime(2025, 2, 3, 10, 0, tzinfo=UTC)
TRIGGER = {
    **{"trigger_id": "LB1", "source_agent": "test-agent", "source_stage": 6},
    **{"target_agent": "debugger", "target_stage": 5, "reason": "3 test failures"},
    **{"priority": "high", "status": "pending"},
}
RETRY = {
    **{"stage": 2, "agent": "plan-agent", "attempt": 2, "issue": "no tests"},
    **{"improvement": "Added test file paths per feedback", "timestamp": START},
}


def outputs() -> dict[str, Any]:
    made: dict[str, Any] = {}
    for stage in table.STAGES:
        if stage.field:
            sample: Any = SAMPLES[stage.outcome]
            made[stage.field] = [sample] if stage.many else sample
    made["stage_neg1_prompt"] = SAMPLES["optimized_prompt"]["prompt"]
    return made


def document(**more: Any) -> dict[str, Any]:
    return {
        "user_request": "Add a REST API health check endpoint.",
        "current_stage": 8,
        "completed_stages": [s.number for s in table.STAGES if s.field],
        "stage_outputs": outputs(),
        "metadata": {
            **{"pipeline_start": START, "last_updated": START + timedelta(seconds=330)},
            "total_agent_calls": 5,
        },
        **more,
    }


def test_a_whole_one_is_sound() -> None:
    context = PipelineContext.model_validate(document())
    assert "completed_stages" not in context.model_dump(mode="json")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"user_request": ""}, "user_request"),
        ({"current_stage": 9}, "there is no stage 9"),
        ({"current_stage": -2}, "there is no stage -2"),
        ({"completed_stages": [-1, 0]}, "stage_1_repoprofile: stage 1 has not been completed"),
        ({"loop_back_triggers": [TRIGGER, TRIGGER]}, "stands there twice"),
        (
            {"retry_history": [RETRY, {**RETRY, "timestamp": START - timedelta(seconds=1)}]},
            "not in the order",
        ),
        ({"loop_back_triggers": [{**TRIGGER, "reason": ""}]}, "reason"),
        ({"retry_history": [{**RETRY, "timestamp": "yesterday"}]}, "timestamp"),
    ],
)
def test_what_the_seed_forbids_is_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        PipelineContext.model_validate(document(**more))


GIVEN = {
    -1: [],
    0: [],
    1: ["stage_0_taskspec"],
    2: ["stage_0_taskspec", "stage_1_repoprofile"],
    3: ["stage_0_taskspec", "stage_2_plan"],
    3.5: ["stage_0_taskspec", "stage_1_repoprofile", "stage_2_plan", "stage_3_docs"],
    4: ["stage_0_taskspec", "stage_1_repoprofile", "stage_2_plan", "stage_3_docs"],
    4.5: ["stage_0_taskspec", "stage_1_repoprofile", "stage_4_builds"],
    5: ["stage_0_taskspec", "stage_4_builds", "stage_6_tests"],
    5.5: ["stage_0_taskspec", "stage_4_builds"],
    6: ["stage_0_taskspec", "stage_1_repoprofile", "stage_4_builds"],
    6.5: ["stage_0_taskspec", "stage_1_repoprofile", "stage_4_builds", "stage_6_tests"],
    7: [stage.field for stage in table.STAGES if stage.field],
    8: [stage.field for stage in table.STAGES if stage.field],
}


@pytest.mark.parametrize("number", GIVEN)
def test_each_stage_is_given_what_the_table_says(number: float) -> None:
    made = StageOutputs.model_validate(outputs())
    assert list(given_to(table.BY_NUMBER[number], made)) == GIVEN[number]
    assert given_to(table.BY_NUMBER[number], StageOutputs()) == {}, "nothing that is not there"


def test_the_markdown_of_the_seed() -> None:
    made = {k: v for k, v in outputs().items() if k in ("stage_0_taskspec", "stage_2_plan")}
    context = PipelineContext.model_validate(
        document(
            current_stage=4,
            completed_stages=[0, 2],
            stage_outputs=made,
            retry_history=[RETRY],
            metadata={
                **document()["metadata"],
                **{"build_agent_cycle": 1, "build_agent_index": 1},
            },
        )
    )
    text = markdown(context, "build-agent-1")
    parts = [line for line in text.splitlines() if line.startswith(("#", "- ", "4 (", "Add a"))]
    assert parts == [
        "## PipelineContext",
        "### User Request",
        "Add a REST API health check endpoint.",
        "### Current Stage",
        "4 (build-agent-1)",
        "### Stage Outputs",
        "#### Stage 0: TaskSpec",
        "#### Stage 2: Implementation Plan",
        "### Loop-Back Triggers",
        "- None pending",
        "### Retry History",
        "- Stage 2 (plan-agent): Attempt 2 - Added test file paths per feedback",
        "### Metadata",
        "- Pipeline Start: 2025-02-03T10:00:00Z",
        "- Last Updated: 2025-02-03T10:05:30Z",
        "- Total Agent Calls: 5",
        "- Build Agent Cycle: 1",
        "- Build Agent Index: 1",
    ]
    assert '"acceptance_criteria"' in text
