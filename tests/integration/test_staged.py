"""Staged orchestration on the real engine, with the scripted agent in every role. The straight path
and one loop-back are in every run of the tests; the rest of the walks is in `test_staged_walks`."""

import pytest

from agents_manager.domain.event import Logged
from agents_manager.domain.run import ErrorClass
from agents_manager.domain.stages import table
from agents_manager.domain.stages.context import PipelineContext
from agents_manager.domain.task import Task
from agents_manager.flow import contexts
from tests.staged_walk import FAILING, begun, ends, modes, script, until
from tests.worlds import World

STRAIGHT = [
    *("prompt-optimizer", "task-breakdown", "code-discovery", "plan-agent", "docs-researcher"),
    *("pre-flight-checker", "build-agent", "build-agent", "test-writer", "logical-agent"),
    *("test-agent", "integration-agent", "review-agent", "decide-agent"),
]


async def context(world: World, task: Task) -> PipelineContext:
    view = await world.s.store.read(lambda tx: contexts.of_task(tx, world.s, task.id))
    return view.context


async def told(world: World, task: Task, type: str) -> list[Logged]:
    return [e for e in await world.events(task) if e.type == type]


async def test_the_straight_path_ends_in_a_merge(shop: World) -> None:
    task = await begun(shop)
    view = await until(shop, task, "pr_review")
    assert await modes(shop, task) == STRAIGHT

    found = await context(shop, task)
    assert found.completed_stages == tuple(
        stage.number for stage in table.STAGES if stage.role != "debugger"
    )
    assert [b.agent for b in found.stage_outputs.stage_4_builds] == [
        "build-agent-1",
        "build-agent-2",
    ]
    assert [r.final_status for r in found.stage_outputs.sub_pipeline_results] == ["success"] * 2
    assert found.metadata.total_agent_calls == len(STRAIGHT)
    assert (found.metadata.build_agent_cycle, found.metadata.build_agent_index) == (1, 2)
    assert (found.loop_back_triggers, found.retry_history) == ((), ())

    skipped = await told(shop, task, "stage.skipped")
    assert [(e.data["status"], e.data["stage"]) for e in skipped] == [
        ("confirming", None),
        ("debugging", 5),
    ]
    for run in view.runs:
        assert run.prompt is not None
        assert task.description.splitlines()[1] in run.prompt  # The request, word for word.
        stage = table.BY_ROLE[run.mode]
        given = await shop.s.store.read(
            lambda tx, run=run: contexts.given(tx, shop.s, task.id, run.id)
        )
        headings = {line[2:] for line in run.prompt.splitlines() if line.startswith("# Stage ")}
        assert headings == set(given.outputs)
        skips_debugger = {table.BY_NUMBER[n] for n in stage.given} - {table.BY_ROLE["debugger"]}
        later = {s for s in skips_debugger if s.number >= stage.number}
        assert headings == {f"Stage {s.number:g}: {s.title}" for s in skips_debugger - later}
    first, second = [run.prompt or "" for run in view.runs if run.mode == "build-agent"]
    assert '"modify":["app.py"]' in first
    assert '"modify":["README.md"]' not in first
    assert '"modify":["README.md"]' in second
    assert '"modify":["app.py"]' not in second

    await shop.review(task, "approved")
    await until(shop, task, "done")
    assert (shop.repo / "app.py").read_text() == "app\nbuilt 1\n"


@pytest.mark.slow
async def test_a_failed_test_has_the_debugger_run_and_then_succeeds(shop: World) -> None:
    made = script(test_agent=[ends("test_report", FAILING), ends("test_report")])
    task = await begun(shop, made)
    view = await until(shop, task, "pr_review")
    assert (await modes(shop, task))[10:] == [
        *("test-agent", "debugger", "logical-agent", "test-agent"),
        *("integration-agent", "review-agent", "decide-agent"),
    ]
    (trigger,) = (await context(shop, task)).loop_back_triggers
    assert trigger.model_dump() == {
        **{"trigger_id": "LB1", "source_agent": "test-agent", "source_stage": 6},
        **{"target_agent": "debugger", "target_stage": 5, "priority": "high"},
        "reason": "1 of 12 tests fail",
        "context": "test_health: KeyError: status",
        "status": "completed",
    }
    debugger = next(run for run in view.runs if run.mode == "debugger")
    assert "LB1 (high): 1 of 12 tests fail" in (debugger.prompt or "")
    assert "# Stage 6: Tests" in (debugger.prompt or "")
    assert [e.summary for e in await told(shop, task, "loop_back.dispatched")] == [
        "LB1: debugger runs for test-agent."
    ]


TRIES = {"modify": {"path": "app.py", "append": "tried\n"}}
REFUSED = (
    "You only read, and you changed app.py. Take that back (git restore), look at the work as it"
    " stands, and report again."
)


async def test_what_a_reader_changes_and_does_not_commit_makes_its_output_void(shop: World) -> None:
    back = {"modify": {"path": "app.py", "replace": "tried\n", "with": ""}}
    # What a run of the tests leaves beside the tracked files.
    cache = {"write": {"path": ".cache/tests", "text": "1"}}
    mends = {
        "steps": [TRIES, *ends("optimized_prompt")],
        "repair": [back, cache, *ends("optimized_prompt")],
    }
    stays = {"steps": [TRIES, *ends("task_spec")], "repair": ends("task_spec")}
    task = await begun(shop, script(prompt_optimizer=[mends], task_breakdown=[stays]))
    view = await until(shop, task, "failed")
    assert [(run.mode, run.outcome) for run in view.runs] == [
        ("prompt-optimizer", "optimized_prompt"),
        ("task-breakdown", None),
    ]
    error = view.runs[-1].error
    assert error is not None
    assert (error.error_class, error.error) == (ErrorClass.BAD_OUTPUT, REFUSED)
    assert [e.summary for e in await told(shop, task, "reader.changed")] == [
        f"{role} only reads, and it changed app.py; its output does not count."
        for role in ("prompt-optimizer", "task-breakdown")
    ]
    retried = (await context(shop, task)).retry_history
    assert [r.issue for r in retried] == [REFUSED, REFUSED]
