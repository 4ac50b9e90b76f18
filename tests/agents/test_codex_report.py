"""The real Codex reports its outcome by our tool, and does without where nobody listens."""

import pytest

from agents_manager.domain.run import RunStatus
from agents_manager.testing.scripted_model import Cut, Say, Structured, codex_add, codex_report
from tests.agents.codex_desk import READY, SCENARIO, Desk
from tests.agents.test_ask_human import CODEX_ASKS, MOIN
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
@pytest.mark.parametrize(
    "name", ["gpt-5.5", pytest.param("gpt-5.6-sol", id="a model that calls tools by scripts")]
)
async def test_models_that_search_for_tools_are_offered_ours_directly(
    desk: Desk, name: str
) -> None:
    no_changes = codex_report("no_changes", {"reason": "It is there."})
    async with serving(desk.world.program):
        task = await desk.start([CODEX_ASKS, no_changes, Say("{}")], model=name)
        view = await desk.world.wait(task, lambda v: bool(v.prompts), "a question")
        await desk.world.answer(view.prompts[0], MOIN)
        view = await desk.world.wait(task, lambda v: v.run is None, "ended")
    desk.model.check()
    assert [(run.model, run.outcome) for run in view.runs] == [(name, "no_changes")]
    assert "Answer: Moin" in desk.results()
    (ours,) = desk.offered("mcp__agents_manager")
    assert {"ask_human", "report_outcome"} <= {tool["name"] for tool in ours["tools"]}


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


async def test_a_report_counts_when_the_response_breaks_off_after_it(desk: Desk) -> None:
    async with serving(desk.world.program):
        task = await desk.start([codex_add("a.txt", "a"), codex_report("pr_ready"), *[Cut()] * 9])
        done = await desk.one_run(task)
    assert (done.status, done.outcome) == (RunStatus.COMPLETED, "pr_ready")
    (broke,) = [e for e in await desk.world.events(task) if e.type == "agent.interrupted"]
    assert broke.summary.startswith(
        "The agent's response broke off after it had reported its outcome: interrupted: stream"
    )
