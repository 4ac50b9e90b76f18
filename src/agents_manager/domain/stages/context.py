"""The PipelineContext of a task: what its stages gave back and asked of each other. It is computed
from what happened, and kept nowhere."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Literal, Self, cast

from pydantic import AwareDatetime, Field, TypeAdapter, model_validator

from agents_manager.domain.stages import outputs, table
from agents_manager.domain.stages.request import Priority
from agents_manager.domain.value import Value


class SubPipelineResult(Value):
    build_agent: str = Field(min_length=1)
    files_targeted: tuple[str, ...] = Field(min_length=1, max_length=outputs.FILES_OF_A_BATCH)
    pre_check_passed: bool
    build_completed: bool
    post_check_passed: bool
    debug_iterations: int = Field(ge=0)
    final_status: Literal["success", "needs_external_debug"]


class StageOutputs(Value):
    stage_neg1_prompt: str | None = None
    stage_0_taskspec: outputs.TaskSpec | None = None
    stage_1_repoprofile: outputs.RepoProfile | None = None
    stage_2_plan: outputs.ImplementationPlan | None = None
    stage_3_docs: outputs.DocsResearchOutput | None = None
    stage_3_5_preflight: outputs.PreFlightCheck | None = None
    stage_4_builds: tuple[outputs.BuildReport, ...] = ()
    stage_4_5_test_writing: outputs.TestWritingReport | None = None
    stage_5_debug: tuple[outputs.DebugReport, ...] = ()
    stage_5_5_logic: outputs.LogicVerification | None = None
    stage_6_tests: outputs.TestReport | None = None
    stage_6_5_integration: outputs.IntegrationTestReport | None = None
    stage_7_review: outputs.ReviewReport | None = None
    sub_pipeline_results: tuple[SubPipelineResult, ...] = ()

    def of(self, stage: table.Stage) -> object:
        """What the stage gave back; None or empty: nothing."""
        return getattr(self, stage.field) if stage.field else None


class LoopBackTrigger(Value):
    trigger_id: str = Field(pattern=r"^LB[1-9]\d*$")
    source_agent: str = Field(min_length=1)
    source_stage: float
    target_agent: str = Field(min_length=1)
    target_stage: float
    reason: str = Field(min_length=1)
    context: str | None = None
    priority: Priority
    status: Literal["pending", "dispatched", "completed"]


class RetryRecord(Value):
    stage: float
    agent: str = Field(min_length=1)
    attempt: int = Field(ge=1)
    issue: str = Field(min_length=1)
    improvement: str = Field(min_length=1)
    timestamp: AwareDatetime


class ContextMetadata(Value):
    pipeline_start: AwareDatetime
    last_updated: AwareDatetime
    total_agent_calls: int = Field(ge=0)
    build_agent_cycle: int | None = Field(default=None, ge=1, le=outputs.WAVES)
    build_agent_index: int | None = Field(default=None, ge=1, le=outputs.WAVE)


class PipelineContext(Value):
    user_request: str = Field(min_length=1)
    current_stage: float
    completed_stages: tuple[float, ...] = Field(default=(), exclude=True)
    """What the outputs are held to; it is not part of the document."""
    stage_outputs: StageOutputs
    loop_back_triggers: tuple[LoopBackTrigger, ...] = ()
    retry_history: tuple[RetryRecord, ...] = ()
    metadata: ContextMetadata

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.current_stage not in table.BY_NUMBER:
            raise ValueError(f"current_stage: there is no stage {self.current_stage:g}")
        for stage in table.STAGES:
            if self.stage_outputs.of(stage) and stage.number not in self.completed_stages:
                raise ValueError(
                    f"stage_outputs.{stage.field}: stage {stage.number:g} has not been completed"
                )
        ids = [trigger.trigger_id for trigger in self.loop_back_triggers]
        if len(set(ids)) != len(ids):
            raise ValueError("loop_back_triggers: a trigger_id stands there twice")
        times = [record.timestamp for record in self.retry_history]
        if times != sorted(times):
            raise ValueError("retry_history: the records are not in the order of their times")
        return self


def given_to(stage: table.Stage, made: StageOutputs) -> dict[str, Any]:
    """What the passing table lets a stage have of the outputs, by their fields."""
    fields: dict[str, Any] = {}
    for number in stage.given:
        other = table.BY_NUMBER[number]
        output = made.of(other)
        if other.field and output:
            fields[other.field] = output
    return fields


def markdown(context: PipelineContext, agent: str) -> str:
    """In the form of the seed; `agent` is whose turn it is."""
    parts = [
        "## PipelineContext",
        f"### User Request\n{context.user_request}",
        f"### Current Stage\n{context.current_stage:g} ({agent})",
        "### Stage Outputs",
    ]
    for stage in table.STAGES:
        output = context.stage_outputs.of(stage)
        if output:
            parts.append(f"#### Stage {stage.number:g}: {stage.title}\n{shown(output)}")
    results = context.stage_outputs.sub_pipeline_results
    if results:
        parts.append(f"#### Sub-Pipeline Results\n{shown(results)}")
    parts += [
        "### Loop-Back Triggers\n"
        + _listed((_trigger(t) for t in context.loop_back_triggers), "None pending"),
        "### Retry History\n" + _listed(_retry(r) for r in context.retry_history),
        "### Metadata\n" + _listed(_metadata(context.metadata)),
    ]
    return "\n\n".join(parts) + "\n"


def shown(output: object) -> str:
    """As data that nothing can be mistaken in; what is empty is left out."""
    if isinstance(output, str):
        return output
    plain = TypeAdapter(object).dump_python(output, mode="json")
    return f"```json\n{json.dumps(_full(plain), ensure_ascii=False, indent=1)}\n```"


def _full(value: Any) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {name: _full(one) for name, one in fields.items() if one not in (None, "", [], {})}
    if isinstance(value, list):
        return [_full(one) for one in cast("list[Any]", value)]
    return value


def _trigger(trigger: LoopBackTrigger) -> str:
    way = f"{trigger.source_agent} → {trigger.target_agent}"
    return f"{trigger.trigger_id} ({trigger.priority}, {trigger.status}): {way} - {trigger.reason}"


def _retry(record: RetryRecord) -> str:
    where = f"Stage {record.stage:g} ({record.agent})"
    return f"{where}: Attempt {record.attempt} - {record.improvement}"


def _metadata(about: ContextMetadata) -> Iterable[str]:
    yield f"Pipeline Start: {_time(about.pipeline_start)}"
    yield f"Last Updated: {_time(about.last_updated)}"
    yield f"Total Agent Calls: {about.total_agent_calls}"
    if about.build_agent_cycle is not None:
        yield f"Build Agent Cycle: {about.build_agent_cycle}"
    if about.build_agent_index is not None:
        yield f"Build Agent Index: {about.build_agent_index}"


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _listed(lines: Iterable[str], none: str = "None") -> str:
    return "\n".join(f"- {line}" for line in lines) or f"- {none}"
