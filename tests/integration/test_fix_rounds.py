"""Checks that fail are put to the agent in the same session, round by round; what is then still
broken ends the run, and what is only a warning is told."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agents_manager.cli.pages import run as pages
from agents_manager.cli.render import to_text
from agents_manager.domain.run import ErrorClass, RunStatus
from agents_manager.flow import tasks
from agents_manager.flow.runs import checking, places
from tests import repos
from tests.worlds import ANN, World, lives

TEST = {"command": "cat word.txt; [ ! -e word.txt ] || grep -q right word.txt"}
"""Passes on the base commit, which has no such file."""
COST = {"usage": {"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.25}}


def writes(word: str) -> list[dict[str, Any]]:
    return [
        {"write": {"path": "word.txt", "text": f"{word}\n"}},
        {"commit": f"Write {word}"},
        COST,
        {"outcome": "pr_ready"},
    ]


async def started(world: World, config: Mapping[str, Any], *fix: list[dict[str, Any]]) -> Any:
    world.configure(config)
    world.project = await tasks.trust_project(world.s, world.project)
    visit = {"steps": writes("wrong"), "fix": list(fix)}
    return await world.start({"implement": [visit]}, pipeline="simple")


async def summaries(world: World, task: Any, kind: str) -> list[str]:
    return [e.summary for e in await world.events(task) if e.type == kind]


async def test_a_failing_test_is_fixed_in_the_second_round(world: World) -> None:
    task = await started(world, {"checks": {"test": TEST}}, writes("worse"), writes("right"))
    view = await world.until(task, "review")
    (run,) = view.runs
    assert (run.outcome, run.cost_usd) == ("pr_ready", 0.75)
    assert await summaries(world, task, "agent.fix_requested") == [
        "Checks failed after pr_ready: test. The agent is asked to mend it (round 1 of 3).",
        "Checks failed after pr_ready: test. The agent is asked to mend it (round 2 of 3).",
    ]
    assert await summaries(world, task, "agent.checks_passed") == [
        "Checks passed: no-secrets, test."
    ]
    rounds = checking.of_run(world.s, run.id)
    assert [[c["passed"] for c in checks] for checks in rounds] == [[True, False]] * 2 + [
        [True, True]
    ]
    assert rounds[1][1]["output"] == "worse\n"
    _, first, second = places.told(world.s, run)
    assert "`test` (exit code 1):\n\n```text\nwrong\n\n```" in first
    assert "worse" in second
    assert view.prompts[0].payload["checks_passed"] is True
    page = to_text(pages.page(run, "x", rounds))
    assert "Checks    passed, after 2 rounds of fixing" in page
    assert "After round 1 of fixing\n  no-secrets: passed" in to_text(pages.checks(rounds))


async def test_after_the_last_round_the_run_fails_and_says_with_what(world: World) -> None:
    task = await started(world, {"checks": {"test": TEST}, "maxFixRounds": 1}, writes("worse"))
    view = await world.until(task, "needs_decision")
    (run,) = view.runs
    assert run.error is not None
    assert run.error.error_class is ErrorClass.CHECKS_FAILED
    assert run.error.error == "Checks failed: test (exit code 1)."
    assert await summaries(world, task, "agent.checks_failed") == [
        "Checks failed after pr_ready: test."
    ]
    assert len(await summaries(world, task, "agent.fix_requested")) == 1
    assert view.prompts[0].payload["evidence"] == "worse\n"


async def test_a_round_may_end_with_a_question_or_need_a_repair(world: World) -> None:
    bad = [{"malformed": "<<<OUTCOME:pr_ready>>>"}]
    world.configure({"checks": {"test": TEST}})
    world.project = await tasks.trust_project(world.s, world.project)
    visit = {"steps": bad, "repair": writes("wrong"), "fix": [bad, [{"ask": {"question": "How?"}}]]}
    task = await world.start({"implement": [visit]}, pipeline="simple")
    view = await world.until(task, "needs_info")
    assert [r.outcome for r in view.runs] == ["needs_info"]
    assert len(await summaries(world, task, "agent.output_refused")) == 2
    assert len(places.told(world.s, view.runs[0])) == 5


async def test_warnings_and_errors_that_only_count_as_told_reach_the_reviewer(
    world: World,
) -> None:
    checks = {"lint": {"command": "echo ugly; exit 2", "severity": "warning"}, "test": TEST}
    task = await started(world, {"checks": checks, "failOnError": False})
    view = await world.until(task, "review")
    payload = view.prompts[0].payload
    assert payload["warnings"] == ["lint (exit code 2)", "test (exit code 1)"]
    assert payload["checks_passed"] is False
    assert await summaries(world, task, "agent.checks_passed") == [
        "Checks passed: no-secrets; failed, which is only told: test, lint."
    ]


async def test_warnings_stop_where_they_are_told_to(world: World) -> None:
    lint = {"command": "[ ! -e word.txt ]", "severity": "warning"}
    config = {"checks": {"lint": lint}, "failOnWarning": True, "maxFixRounds": 0}
    task = await started(world, config)
    view = await world.until(task, "needs_decision")
    assert view.runs[0].error is not None
    assert view.runs[0].error.error == "Checks failed: lint (exit code 1)."


async def test_a_secret_is_found_without_any_configuration_and_taken_back(world: World) -> None:
    token = "gh" + "p_" + "k3Jd9" * 8
    again = [*writes("right")[:1], {"commit": "Take it back"}, {"outcome": "pr_ready"}]
    visit = {"steps": writes(f"t={token}"), "fix": [again]}
    task = await world.start({"implement": [visit]}, pipeline="simple")
    view = await world.until(task, "needs_decision")
    assert view.runs[0].error is not None
    assert "no-secrets (something that looks like a secret" in view.runs[0].error.error
    asked = places.told(world.s, view.runs[0])[1]
    assert "word.txt:1: GitHub token" in asked
    base = repos.sha(world.repo, "main")
    assert f"git reset --soft {base}" in asked
    events = str([e.data for e in await world.events(task)])
    stored = [*world.s.jobs_dir.rglob("checks.json"), *world.s.jobs_dir.rglob("asked.md")]
    assert token[4:] not in events + "".join(file.read_text() for file in stored)


@pytest.mark.slow
async def test_a_run_is_stopped_while_its_checks_go_on(world: World, tmp_path: Path) -> None:
    spot = tmp_path / "pid"
    slow = {"test": {"command": f"echo $$ > '{spot}'; exec sleep 60"}}
    task = await started(world, {"checks": slow})
    async with asyncio.timeout(20):
        while not spot.exists() or not spot.read_text():
            await asyncio.sleep(0.05)
    view = await world.view(task)
    assert view.run is not None
    await tasks.stop_run(world.s, view.run.id, ANN)
    view = await world.wait(task, lambda v: v.run is None, "stopped")
    assert view.runs[0].status is RunStatus.CANCELLED
    await world.settled(task)
    assert not lives(spot.read_text())
    assert "agent.fix_requested" not in await world.types(task)


async def test_what_a_check_does_to_its_checkout_is_thrown_away(world: World) -> None:
    meddle = {"command": "echo right > word.txt; rm -rf README.md; git commit -qam x; exit 0"}
    task = await started(world, {"checks": {"test": meddle}})
    view = await world.until(task, "review")
    branch = view.runs[0].branch
    assert branch is not None
    assert repos.run(world.repo, "show", f"{branch}:word.txt") == "wrong"
    assert repos.run(world.repo, "log", "-1", "--format=%s", branch) == "Write wrong"
    assert (world.repo / "README.md").exists()


async def test_an_agent_without_sessions_is_not_asked_again(world: World, tmp_path: Path) -> None:
    program = repos.executable(tmp_path / "agent.sh", "echo wrong > word.txt")
    world.configure(
        {
            "agents": {"mine": {"adapter": "command", "command": [str(program)]}},
            "defaultAgentType": "mine",
            "checks": {"test": TEST},
        }
    )
    world.project = await tasks.trust_project(world.s, world.project)
    task = await world.start({}, pipeline="simple")
    view = await world.until(task, "needs_decision")
    assert view.runs[0].error is not None
    assert view.runs[0].error.error_class is ErrorClass.CHECKS_FAILED
    assert "agent.fix_requested" not in await world.types(task)
