"""Staged orchestration: loop-backs and their caps, restarts, questions, what agents get wrong."""

from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.run import ErrorClass
from agents_manager.domain.stages import table
from agents_manager.domain.task import Task
from agents_manager.flow import tasks
from tests.integration.test_staged import TRIES, context, told
from tests.postgres import fresh_database
from tests.repos import make_repo
from tests.staged_walk import (
    FAILING,
    FILES,
    begun,
    builder,
    changes,
    ends,
    failing,
    modes,
    patiently,
    sample,
    script,
    until,
)
from tests.worlds import World, working

pytestmark = pytest.mark.slow


def asking(target: str, reason: str, priority: str = "normal") -> str:
    return f"REQUEST: {target} - {reason}\nContext: see the log\nPriority: {priority}"


async def stopped(world: World, task: Task, status: str) -> str:
    """Why the task stands there, and waits for somebody to choose."""
    asked = f"a choice in {status}"
    view = await patiently(
        world, task, lambda v: v.task.status == status and bool(v.prompts), asked
    )
    return str(view.prompts[0].payload["reason"])


async def test_what_is_critical_overtakes_what_is_normal(shop: World) -> None:
    fails = sample(
        "pre_flight_check",
        environment=[{"check": "Python", "status": "FAIL"}],
        status="FAIL",
        blockers=[{"title": "No Python", "check": "Python", "issue": "none", "fix": "install"}],
    )
    both = "\n\n".join(
        [asking("code-discovery", "It is not known"), asking("plan-agent", "No", "critical")]
    )
    made = script(
        pre_flight_checker=[ends("pre_flight_check", fails, both), ends("pre_flight_check")]
    )
    task = await begun(shop, made)
    await until(shop, task, "pr_review")
    assert (await modes(shop, task))[5:9] == [
        *("pre-flight-checker", "plan-agent", "code-discovery", "pre-flight-checker"),
    ]
    triggers = (await context(shop, task)).loop_back_triggers
    assert [(t.trigger_id, t.priority, t.status) for t in triggers] == [
        ("LB1", "normal", "completed"),
        ("LB2", "critical", "completed"),
    ]
    sent = [e.data["trigger"] for e in await told(shop, task, "loop_back.dispatched")]
    assert sent == ["LB2", "LB1"]
    back = [e.data["trigger"] for e in await told(shop, task, "loop_back.returned")]
    assert back == ["LB1"]
    retried = (await context(shop, task)).retry_history
    assert [(r.agent, r.attempt, r.issue) for r in retried] == [
        ("plan-agent", 2, "No"),
        ("code-discovery", 2, "It is not known"),
    ]


def mending(times: int) -> list[Any]:
    return [[*changes("app.py", f"try {n}\n"), *ends("debug_report")] for n in range(times)]


async def test_a_loop_that_is_gone_too_often_goes_to_a_person(shop: World) -> None:
    fails = [ends("test_report", failing(f"test_{name}")) for name in ("a", "b", "c", "d")]
    made = script(test_agent=[*fails, ends("test_report")], debugger=mending(5))
    task = await begun(shop, made)
    why = await stopped(shop, task, "testing")
    assert why == "test-agent → debugger was gone 3 times; at most 3 are allowed."
    assert [t.status for t in (await context(shop, task)).loop_back_triggers] == [
        *["completed"] * 3,
        "pending",
    ]
    await shop.choose(task, "grant")
    await until(shop, task, "pr_review")
    assert (await modes(shop, task)).count("debugger") == 4


async def test_a_loop_that_does_not_converge_is_stopped_by_what_fails(shop: World) -> None:
    made = script(test_agent=[ends("test_report", FAILING)], debugger=mending(5))
    task = await begun(shop, made)
    why = await stopped(shop, task, "testing")
    assert why == "test-agent → debugger failed 3 times in a row in the same way."
    assert (await modes(shop, task)).count("debugger") == 2
    await shop.choose(task, "onward")
    await until(shop, task, "pr_review")
    assert [t.status for t in (await context(shop, task)).loop_back_triggers] == ["completed"] * 3


async def test_a_review_that_fails_has_a_fresh_builder_work(shop: World) -> None:
    fails = sample(
        "review_report",
        status="FAIL",
        issues=[{"severity": "BLOCKER", "description": "It is slow.", "location": "app.py:1"}],
        counts={"blocker": 1, "major": 0, "minor": 0},
    )
    made = script(
        review_agent=[ends("review_report", fails), ends("review_report")],
        build_agent=[
            builder(1, "F1", "app.py"),
            builder(2, "F2", "README.md"),
            builder(3, "F1", "app.py"),
        ],
    )
    task = await begun(shop, made)
    view = await until(shop, task, "pr_review")
    assert (await modes(shop, task))[12:] == [
        *("review-agent", "build-agent", "test-writer", "logical-agent", "test-agent"),
        *("integration-agent", "review-agent", "decide-agent"),
    ]
    fresh = [run for run in view.runs if run.mode == "build-agent"][-1]
    assert "You are build-agent-3." in (fresh.prompt or "")
    assert "It is slow." in (fresh.prompt or "")


async def test_the_specification_is_confirmed_by_a_person(shop: World) -> None:
    again = sample("task_spec", summary="A better one.")
    made = script(task_breakdown=[ends("task_spec"), ends("task_spec", again)])
    task = await shop.start(made, pipeline="staged")
    view = await shop.until(task, "confirming")
    assert view.prompts[0].payload["document"].startswith("# Specification\n\nA health check")
    await shop.review(task, "changes_requested", summary="Say more.")
    view = await shop.wait(
        task, lambda v: len(v.runs) == 3 and bool(v.prompts), "asked a second time"
    )
    assert "Say more." in (view.runs[-1].prompt or "")
    assert "A better one." in view.prompts[0].payload["document"]
    await shop.review(task, "approved")
    await until(shop, task, "pr_review")


async def test_a_restart_begins_again_with_its_goal_and_is_capped(shop: World) -> None:
    restart = sample(
        "decision",
        decision="RESTART",
        restart={"goal": "Make it fast", "items": ["A cache"], "context": ""},
    )
    both = [builder(1, "F1", "app.py"), builder(2, "F2", "README.md")]
    made = script(decide_agent=[ends("decision", restart)], build_agent=both * 3)
    task = await begun(shop, made)
    why = await stopped(shop, task, "deciding")
    assert 'To "pr_review" or "escalated": The decision is RESTART.' in why
    assert 'To "restarting": Maximum review iterations (1) reached.' in why
    view = await shop.view(task)
    assert f"was refused: {why}" in view.why
    assert [run.mode for run in view.runs].count("decide-agent") == 3
    second = [run for run in view.runs if run.mode == "plan-agent"][1]
    assert 'goal: "Make it fast"' in (second.prompt or "")


async def test_an_escalation_asks_a_person(shop: World) -> None:
    made = script(decide_agent=[ends("decision", sample("decision", decision="ESCALATE"))])
    task = await begun(shop, made)
    await until(shop, task, "escalated")
    await shop.choose(task, "review_anyway")
    await until(shop, task, "pr_review")


async def test_a_plan_without_batches_skips_what_depends_on_work(shop: World) -> None:
    made = script(plan_agent=[ends("implementation_plan", {"batches": []})])
    task = await begun(shop, made)
    await until(shop, task, "escalated")
    skipped = {e.data["stage"]: e.data["reason"] for e in await told(shop, task, "stage.skipped")}
    assert skipped == {
        None: "Nobody is asked to confirm the task specification (staged.confirmSpec).",
        4: "The plan has no batch that is still to be built.",
        4.5: "No file changed.",
        5: "No builder needs debugging, and nobody requested it.",
        5.5: "No file changed.",
    }


async def test_a_builder_whose_checks_fail_is_debugged(shop: World) -> None:
    shop.configure(
        {
            "staged": {"confirmSpec": False},
            "maxFixRounds": 1,
            "checks": {"unit": {"command": "! grep -q broken app.py"}},
        }
    )
    shop.project = await tasks.trust_project(shop.s, shop.project)
    broken = [
        {"modify": {"path": "app.py", "append": "broken\n"}},
        {"commit": "Break it"},
        builder(1, "F1", "app.py")[-1],
    ]
    first = {"steps": broken, "fix": [[builder(1, "F1", "app.py")[-1]]]}
    other = builder(2, "F2", "README.md")
    mends = [
        {"modify": {"path": "app.py", "replace": "broken\n", "with": ""}},
        {"commit": "Mend it"},
        *ends("debug_report"),
    ]
    made = script(
        build_agent=[first, {"steps": other, "fix": [other[-1:]]}],
        test_writer=[ends("test_writing_report")],
        debugger=[mends],
    )
    task = await shop.start(made, pipeline="staged")
    await until(shop, task, "pr_review")
    results = (await context(shop, task)).stage_outputs.sub_pipeline_results
    assert [(r.final_status, r.post_check_passed, r.debug_iterations) for r in results] == [
        ("needs_external_debug", False, 1),
        ("success", True, 0),
    ]
    assert "debugger" in await modes(shop, task)


async def test_an_agent_that_asks_gets_its_answer_and_keeps_its_batch(shop: World) -> None:
    question = {"questions": [{"id": "q1", "question": "Which status?", "input_type": "text"}]}
    made = script(
        build_agent=[
            ends("needs_info", question),
            builder(2, "F2", "README.md"),
            builder(1, "F1", "app.py"),
        ]
    )
    task = await begun(shop, made)
    view = await until(shop, task, "needs_info")
    await shop.answer(view.prompts[0], {"answers": [{"question_id": "q1", "text": "All of them"}]})
    view = await until(shop, task, "pr_review")
    given = [e.data["agent"] for e in await told(shop, task, "builder.assigned")]
    assert given == ["build-agent-1", "build-agent-2", "build-agent-1"]
    assert "All of them" in (view.runs[8].prompt or "")


async def test_changes_that_a_person_asks_for_go_to_a_fresh_builder(shop: World) -> None:
    made = script(
        build_agent=[
            builder(1, "F1", "app.py"),
            builder(2, "F2", "README.md"),
            builder(3, "F1", "app.py"),
        ]
    )
    task = await begun(shop, made)
    await until(shop, task, "pr_review")
    await shop.review(task, "changes_requested", summary="Name it better.")
    view = await patiently(
        shop,
        task,
        lambda v: v.task.status == "pr_review" and len(v.runs) > 20,
        "a second review",
    )
    fresh = [run for run in view.runs if run.mode == "build-agent"][-1]
    assert "You are build-agent-3." in (fresh.prompt or "")
    assert "Name it better." in (fresh.prompt or "")
    assert fresh.session is None or fresh.session == fresh.id


# --------------------------------------------------------------------------- what agents get wrong


async def failed(world: World, task: Task) -> str:
    await until(world, task, "failed")
    [error] = [run.error for run in (await world.view(task)).runs if run.error]
    assert error.error_class is ErrorClass.BAD_OUTPUT
    return (await told(world, task, "stage.retried"))[-1].data["issue"]


WRONG: list[tuple[str, Any, str]] = [
    (
        "test_agent",
        ends("test_report", FAILING, asking("debuger", "3 tests fail")),
        'There is no agent "debuger". Did you mean "debugger"?',
    ),
    (
        "decide_agent",
        ends("decision", None, asking("debugger", "look again")),
        "decide-agent may request nobody.",
    ),
    (
        "review_agent",
        ends("review_report", None, asking("decide-agent", "decide")),
        "Nobody may request decide-agent.",
    ),
    (
        "code_discovery",
        ends("repo_profile", None, "REQUEST: task-breakdown because"),
        '"REQUEST: task-breakdown because" cannot be read; write "REQUEST: agent - reason".',
    ),
    (
        "plan_agent",
        ends("implementation_plan", {"batches": [sample("implementation_plan")["batches"][0]]}),
        "Feature F2 of the TaskSpec is in no batch.",
    ),
    (
        "build_agent",
        [*changes("setup.py", "mine\n"), *builder(1, "F1", "app.py")],
        "You changed setup.py, which the report does not name.\n"
        "You changed setup.py, which is not in your batch; take it back, or say under deviations"
        " why it had to be.",
    ),
]


@pytest.mark.parametrize(("role", "says", "why"), WRONG, ids=[w[0] for w in WRONG])
async def test_what_cannot_be_taken_goes_back_to_the_agent(
    shop: World, role: str, says: Any, why: str
) -> None:
    visit = {"steps": says, "repair": says[-1:]}
    beside = [builder(2, "F2", "README.md")] if role == "build_agent" else []
    task = await begun(shop, script(**{role: [visit, *beside]}))
    assert await failed(shop, task) == why


async def test_a_request_in_a_code_block_is_not_one(shop: World) -> None:
    text = f"```\n{asking('debugger', 'no')}\n```"
    task = await begun(shop, script(test_agent=[ends("test_report", None, text)]))
    await until(shop, task, "pr_review")
    assert (await context(shop, task)).loop_back_triggers == ()


async def test_an_output_that_cannot_be_read_is_mended_in_a_second_turn(shop: World) -> None:
    wrong = sample("implementation_plan")
    wrong["batches"][0]["features"][0]["create"] = ["a.py", "b.py"]
    plan = {"steps": ends("implementation_plan", wrong), "repair": ends("implementation_plan")}
    task = await begun(shop, script(plan_agent=[plan]))
    await until(shop, task, "pr_review")
    (record,) = (await context(shop, task)).retry_history
    assert (record.stage, record.agent, record.attempt) == (2, "plan-agent", 2)
    assert "batch 1 has 3 files to modify or create" in record.issue


async def test_a_file_in_two_batches_is_built_one_after_the_other(shop: World) -> None:
    plan = sample("implementation_plan")
    plan["batches"][1]["features"][0]["modify"] = ["app.py"]
    made = script(
        plan_agent=[ends("implementation_plan", plan)],
        build_agent=[builder(1, "F1", "app.py"), builder(2, "F2", "app.py")],
    )
    task = await begun(shop, made)
    await until(shop, task, "pr_review")
    (serial,) = await told(shop, task, "plan.serial")
    assert serial.summary == "Batches 1, 2 share app.py and are built one after the other."


async def test_an_agent_that_dies_is_tried_again_with_what_failed(shop: World) -> None:
    shop.configure(
        {
            "staged": {"confirmSpec": False},
            "retries": {"crash": {"tries": 1, "delay": 0}},
        }
    )
    first = builder(1, "F1", "app.py")
    dies = [*first[:-1], {"crash": "KILL"}]
    # Its work is committed, so that whoever goes on has only to report it.
    made = script(build_agent=[dies, builder(2, "F2", "README.md"), first[-1:]])
    task = await shop.start(made, pipeline="staged")
    view = await until(shop, task, "pr_review")
    builders = [run for run in view.runs if run.mode == "build-agent"]
    assert len(builders) == 3
    assert "# What failed" in (builders[2].prompt or "")
    (record,) = (await context(shop, task)).retry_history
    assert (record.agent, record.attempt, record.issue[:6]) == ("build-agent-1", 2, "crash:")


async def test_what_a_reader_commits_is_taken_back_and_does_not_count(shop: World) -> None:
    cheats = [*changes("app.py", "all is well\n"), *ends("test_report")]
    task = await begun(shop, script(test_agent=[cheats, ends("test_report")]))
    await until(shop, task, "failed")
    assert [e.data["role"] for e in await told(shop, task, "work.discarded")] == ["test-agent"]
    await shop.choose(task, "retry")
    await until(shop, task, "pr_review")
    await shop.review(task, "approved")
    await until(shop, task, "done")
    assert (shop.repo / "app.py").read_text() == "app\nbuilt 1\n"


async def test_without_the_rule_a_reader_could_change_the_work(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the test before this one shows is the measure's doing."""
    monkeypatch.setattr(table, "READERS", frozenset())
    cheats = [*changes("app.py", "all is well\n"), *ends("test_report")]
    task = await begun(shop, script(test_agent=[cheats]))
    await until(shop, task, "pr_review")
    await shop.review(task, "approved")
    await until(shop, task, "done")
    assert "all is well" in (shop.repo / "app.py").read_text()


async def test_without_the_rule_a_reader_could_change_what_it_reports_on(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the test before this one shows is the measure's doing."""
    monkeypatch.setattr(table, "READERS", frozenset())
    wrong = sample("task_spec", summary="")
    fails = {"steps": ends("task_spec", wrong), "repair": ends("task_spec", wrong)}
    tries = [[TRIES, *ends("optimized_prompt")]]
    task = await begun(shop, script(prompt_optimizer=tries, task_breakdown=[fails]))
    view = await until(shop, task, "failed")
    assert view.runs[0].outcome == "optimized_prompt"
    assert await told(shop, task, "reader.changed") == []


async def test_tests_that_test_nothing_are_told(shop: World) -> None:
    empty = sample(
        "test_writing_report",
        placeholders={"checked": 2, "found": 1, "violations": ["test_later"]},
    )
    task = await begun(shop, script(test_writer=[ends("test_writing_report", empty)]))
    await until(shop, task, "pr_review")
    (told_of,) = await told(shop, task, "tests.placeholders")
    assert told_of.summary == "Tests that test nothing: test_later."


async def test_a_loop_back_on_postgres(tmp_path: Path, own_home: Path, postgres_url: str) -> None:
    made = script(test_agent=[ends("test_report", FAILING), ends("test_report")])
    address = fresh_database(postgres_url)
    async with working(tmp_path / "home", make_repo(tmp_path / "shop", FILES), address) as world:
        task = await begun(world, made)
        await until(world, task, "pr_review")
        (trigger,) = (await context(world, task)).loop_back_triggers
        assert (trigger.trigger_id, trigger.status) == ("LB1", "completed")
