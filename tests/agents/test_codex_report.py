"""The real Codex reports its outcome by our tool, and does without where nobody listens."""

import pytest

from agents_manager.testing.scripted_model import Say, Structured, codex_add, codex_report
from tests.agents.codex_desk import READY, SCENARIO, Desk
from tests.api.scenes import serving
from tests.repos import own_home
from tests.worlds import repo, world

__all__ = ["own_home", "repo", "world"]


async def test_a_wrong_report_is_corrected_and_counts_before_the_words(desk: Desk) -> None:
    async with serving(desk.world.program):
        task = await desk.start(
            [
                codex_report("no_changes", {"why": "It is there."}),
                codex_report("no_changes", {"reason": "It is there."}),
                codex_add("a.txt", "a"),
                Structured(READY),
            ]
        )
        done = await desk.one_run(task)
    desk.model.check()
    assert "Not taken: The payload of outcome" in desk.results()
    assert (done.outcome, done.payload) == ("no_changes", {"reason": "It is there."})
    tools = str(desk.model.requests(SCENARIO)[0].body["tools"])
    assert "mcp__agents_manager" in tools


@pytest.mark.slow
async def test_without_a_server_the_tool_is_not_offered(desk: Desk) -> None:
    task = await desk.start([codex_add("a.txt", "a"), Structured(READY)])
    assert (await desk.one_run(task)).outcome == "pr_ready"
    assert "mcp__agents_manager" not in str(desk.model.requests(SCENARIO)[0].body["tools"])


@pytest.mark.slow
async def test_a_server_that_went_does_not_break_the_run(desk: Desk) -> None:
    desk.world.s.reachable.url = "http://127.0.0.1:9"
    task = await desk.start([codex_add("a.txt", "a"), Structured(READY)])
    assert (await desk.one_run(task)).outcome == "pr_ready"


@pytest.mark.slow
async def test_a_report_of_a_run_that_then_fails_does_not_count(desk: Desk) -> None:
    async with serving(desk.world.program):
        task = await desk.start([codex_report("pr_ready"), Say("x")], maxTurns=1)
        error = await desk.failed(task)
    assert error.startswith("budget: ")
