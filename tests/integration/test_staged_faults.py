"""Staged orchestration: agents that say nothing sound, stray or die, and the validations of the
seed, held to what a finished task came to."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from agents_manager.domain.stages.context import PipelineContext
from tests.integration.test_staged import context, told
from tests.integration.test_staged_walks import failed, mending
from tests.staged_walk import begun, builder, changes, ends, failing, sample, script, until
from tests.worlds import World

pytestmark = pytest.mark.slow

MALFORMED: Mapping[str, tuple[Any, str]] = {
    "no JSON": ({"malformed": '<<<OUTCOME:task_spec>>>\n{"summary":\n<<<END_PAYLOAD>>>'}, "JSON"),
    "no object": ({"outcome": {"name": "task_spec", "payload": "All of it."}}, "task_spec"),
    "nothing": ({"outcome": {"name": "task_spec"}}, "task_spec"),
    "no outcome": ({"say": "That is all."}, "No outcome was reported. Possible now: task_spec"),
    "another's": (ends("repo_profile")[0], "repo_profile"),
}


@pytest.mark.parametrize("kind", MALFORMED)
async def test_an_output_that_stays_malformed_fails_the_stage(shop: World, kind: str) -> None:
    says, why = MALFORMED[kind]
    visit = {"steps": [says], "repair": [says]}
    task = await begun(shop, script(task_breakdown=[visit]))
    assert why in await failed(shop, task)
    found = await context(shop, task)
    assert found.stage_outputs.stage_0_taskspec is None
    assert found.completed_stages == (-1,)


async def test_a_file_beside_the_batch_that_had_to_be_is_told(shop: World) -> None:
    report = builder(1, "F1", "app.py")[-1]["outcome"]["payload"]
    strays = {
        **report,
        "files_modified": ["app.py", "tests/test_app.py", "setup.cfg"],
        "deviations": ["setup.cfg names the module"],
    }
    first = [
        *changes("app.py", "built\n"),
        *changes("tests/test_app.py", "of the batch\n"),
        {"write": {"path": "setup.cfg", "text": "app\n"}},
        {"commit": "Name it"},
        *ends("build_report", strays),
    ]
    task = await begun(shop, script(build_agent=[first, builder(2, "F2", "README.md")]))
    await until(shop, task, "pr_review")
    (strayed,) = await told(shop, task, "builder.strayed")
    assert strayed.summary == "build-agent-1 changed files of no batch of its own: setup.cfg."


async def test_an_agent_that_dies_while_it_reads_is_tried_again_by_a_person(shop: World) -> None:
    made = script(code_discovery=[[{"crash": "KILL"}], ends("repo_profile")])
    task = await begun(shop, made)
    await until(shop, task, "failed")
    assert (await context(shop, task)).stage_outputs.stage_1_repoprofile is None
    await shop.choose(task, "retry")
    view = await until(shop, task, "pr_review")
    second = [run for run in view.runs if run.mode == "code-discovery"][1]
    assert "# What failed" in (second.prompt or "")
    (record,) = (await context(shop, task)).retry_history
    assert (record.stage, record.agent, record.attempt) == (1, "code-discovery", 2)
    assert record.issue.startswith("crash:")


Document = dict[str, Any]


def _no_request(document: Document) -> None:
    document["user_request"] = ""


def _no_stage(document: Document) -> None:
    document["current_stage"] = 8.5


def _not_completed(document: Document) -> None:
    document["completed_stages"] = [n for n in document["completed_stages"] if n != 7]


def _twice(document: Document) -> None:
    document["loop_back_triggers"][1]["trigger_id"] = "LB1"


def _out_of_order(document: Document) -> None:
    document["retry_history"].reverse()


BREAKS: Mapping[str, Callable[[Document], None]] = {
    "user_request": _no_request,
    "there is no stage 8.5": _no_stage,
    "stage_7_review: stage 7 has not been completed": _not_completed,
    "a trigger_id stands there twice": _twice,
    "not in the order of their times": _out_of_order,
}


async def test_the_context_of_a_finished_task_is_sound_and_would_not_be_otherwise(
    shop: World,
) -> None:
    """The five validations of the seed, on loop-backs and retries that there were."""
    wrong = sample("implementation_plan")
    wrong["batches"][0]["features"][0]["create"] = ["a.py", "b.py"]
    plan = {"steps": ends("implementation_plan", wrong), "repair": ends("implementation_plan")}
    fails = [ends("test_report", failing(f"test_{name}")) for name in ("a", "b")]
    made = script(plan_agent=[plan], test_agent=[*fails, ends("test_report")], debugger=mending(2))
    task = await begun(shop, made)
    await until(shop, task, "pr_review")
    await shop.review(task, "approved")
    view = await until(shop, task, "done")
    found = await context(shop, task)

    def document() -> Document:
        completed = [*found.completed_stages]
        return {**found.model_dump(mode="json"), "completed_stages": completed}

    whole = document()
    assert whole["user_request"] == f"{task.title}\n\n{task.description}"
    assert whole["current_stage"] == 8
    delivered = {run.mode for run in view.runs if run.outcome}
    assert len(found.completed_stages) == len(delivered) == 14
    assert [one["trigger_id"] for one in whole["loop_back_triggers"]] == ["LB1", "LB2"]
    times = [one["timestamp"] for one in whole["retry_history"]]
    assert len(times) >= 2
    assert times == sorted(times)
    PipelineContext.model_validate(whole)
    for said, breaks in BREAKS.items():
        broken = document()
        breaks(broken)
        with pytest.raises(ValidationError, match=said):
            PipelineContext.model_validate(broken)
