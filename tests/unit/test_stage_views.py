"""How a staged task stands, for people, from its runs and its log alone."""

from dataclasses import replace
from typing import Any

from agents_manager.domain.run import AgentError, ErrorClass, RunStatus
from agents_manager.domain.stages import table
from agents_manager.flow import stage_views
from agents_manager.flow.stage_views import Standing
from tests.stage_samples import SAMPLES
from tests.unit.test_course import asked, assigned, course, run, sent

DIED = AgentError(error="It died.", error_class=ErrorClass.CRASH)


def skipped(
    stage: float, minute: int, reason: str = "No file changed."
) -> tuple[int, str, dict[str, Any]]:
    return minute, "stage.skipped", {"stage": stage, "status": "s", "role": "r", "reason": reason}


def test_each_stage_stands_as_its_last_run_or_its_skipping_says() -> None:
    known = course(
        [
            run("a", "prompt-optimizer", 0),
            run("b", "task-breakdown", 1),
            run("c", "code-discovery", 2, outcome="needs_info", payload={}),
            run("d", "plan-agent", 3, outcome=None, payload=None, error=DIED),
            run("e", "docs-researcher", 4),
            run("f", "docs-researcher", 6),
            run("g", "debugger", 7),
        ],
        skipped(5, 5, "Nobody needs it."),
        skipped(5.5, 8),
    )
    seen = {one.number: one for one in stage_views.of_stages(known)}
    assert list(seen) == [stage.number for stage in table.STAGES]
    assert {number: one.standing for number, one in seen.items() if one.runs} == {
        **{-1: Standing.DONE, 0: Standing.DONE, 1: Standing.ASKING, 2: Standing.FAILED},
        **{3: Standing.DONE, 5: Standing.DONE},
    }
    assert (seen[5.5].standing, seen[5.5].reason) == (Standing.SKIPPED, "No file changed.")
    assert (seen[2].reason, seen[5].reason) == ("It died.", None)
    assert [seen[number].again for number in (0, 3)] == [0, 1]
    assert seen[8].standing is Standing.WAITING
    assert seen[-1].output == SAMPLES["optimized_prompt"]["prompt"]
    assert seen[2].output is None


def test_a_stage_that_is_left_out_after_it_ran_is_left_out() -> None:
    known = course([run("a", "debugger", 0)], skipped(5, 3))
    seen = stage_views.of_stages(known)[table.STAGES.index(table.BY_ROLE["debugger"])]
    assert (seen.standing, len(seen.runs), len(seen.output)) == (Standing.SKIPPED, 1, 1)


def test_builders_are_no_second_try_of_each_other() -> None:
    builders = [run(name, "build-agent", n * 2) for n, name in enumerate("abc")]
    live = replace(builders[2], status=RunStatus.RUNNING, outcome=None)
    known = course(
        [*builders[:2], live],
        assigned("a", "build-agent-1", 1, 0),
        assigned("b", "build-agent-2", 2, 2),
        assigned("c", "build-agent-1", 1, 4),
    )
    seen = stage_views.of_stages(known)[table.STAGES.index(table.BY_ROLE["build-agent"])]
    assert (seen.standing, seen.again) == (Standing.LIVE, 0)
    assert [one.agent for one in seen.runs] == ["build-agent-1", "build-agent-2", "build-agent-1"]
    delivered = stage_views.of_stages(course(builders, *((0, e.type, e.data) for e in known.log)))
    assert delivered[table.STAGES.index(table.BY_ROLE["build-agent"])].again == 1


def test_what_ran_again_for_a_request_ends_with_who_asked() -> None:
    known = course(
        [
            run("a", "test-agent", 0),
            run("b", "debugger", 2),
            run("c", "logical-agent", 4),
            run("d", "test-agent", 6),
            run("e", "integration-agent", 8),
        ],
        asked(1, "test-agent", "debugger", 1, by="a", implied=True),
        sent(1, "b", 2),
        (3, "loop_back.completed", {"trigger": "LB1", "note": "debugger ended."}),
        asked(2, "integration-agent", "debugger", 9, by="e"),
        (10, "loop_back.stopped", {"trigger": "LB2", "reason": "Too often."}),
    )
    first, second = stage_views.of_loop_backs(known)
    assert [(one.id, one.trigger) for one in first.ran] == [("b", "LB1"), ("c", None), ("d", None)]
    assert (first.implied, first.note, first.stopped) == (True, "debugger ended.", None)
    assert (first.trigger.status, second.trigger.status) == ("completed", "pending")
    assert (second.ran, second.implied, second.stopped) == ([], False, "Too often.")
