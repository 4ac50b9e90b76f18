"""What the flow may rely on, whichever adapter drives the agent."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain import outcome
from agents_manager.domain.run import ErrorClass
from agents_manager.engine.runners import DetachedRunners
from agents_manager.flow.ports import Agent, Ended, Said
from agents_manager.testing.contracts.agents import AgentContract
from tests.contract.agent_players import NAMES, PLAYERS, SILENT, claude_code
from tests.runner_jobs import eventually, processes_of
from tests.turns import turn

Make = Callable[..., Agent]
Run = Callable[[Agent], Awaitable[tuple[Ended, Said]]]

OUTCOME = {"name": "no_changes", "payload": {"reason": "It is there."}, "text": None}


@pytest.fixture(params=NAMES)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    (tmp_path / "work").mkdir()
    return lambda *steps, **settings: PLAYERS[request.param](tmp_path, *steps, **settings)


@pytest.fixture
async def runners(tmp_path: Path) -> AsyncIterator[DetachedRunners]:
    runners = DetachedRunners()
    yield runners
    await runners.stop(tmp_path / "run-1")


@pytest.fixture
def run(tmp_path: Path, runners: DetachedRunners) -> Run:
    async def run(agent: Agent) -> tuple[Ended, Said]:
        job = agent.job(turn(tmp_path))
        await runners.start_or_adopt(job)
        ended = await runners.wait(job.dir)
        return ended, agent.read(job.dir)

    return run


class TestPlayers(AgentContract):
    @pytest.fixture(params=NAMES)
    def speaking(self, request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Agent]:
        return lambda words: PLAYERS[request.param](tmp_path, {"say": words})


class TestClaudeCode(AgentContract):
    """What it says is up to a model."""

    test_its_last_words_are_read = None  # pyright: ignore[reportAssignmentType]

    @pytest.fixture
    def agent(self, tmp_path: Path) -> Agent:
        return claude_code(tmp_path)


async def test_the_outcome_is_read_from_the_final_message(make: Make, run: Run) -> None:
    tool = {"tool": {"name": "Bash", "input": {"command": "echo '<<<OUTCOME:approved>>>'"}}}
    ended, said = await run(make({"say": "Look."}, tool, {"outcome": OUTCOME}))
    assert (ended.reason, ended.exit_code) == ("exited", 0)
    known = {each.name: each for each in outcome.BUILT_IN}
    expected = outcome.Reported("no_changes", OUTCOME["payload"], "Look.")
    assert outcome.read_markers(said.final_text, list(known), known) == expected
    assert (said.error, said.error_class) == (None, None)


@pytest.mark.parametrize(
    "make", [name for name in NAMES if name.values[0] not in SILENT], indirect=True
)
async def test_what_was_used_is_told(make: Make, run: Run) -> None:
    usage = {"usage": {"input_tokens": 7, "cost_usd": 0.25}}
    _, said = await run(make({"say": "Look."}, usage, {"outcome": OUTCOME}))
    assert said.usage is not None
    assert (said.usage.input_tokens, said.usage.output_tokens) == (7, None)
    assert said.usage.cost_usd == 0.25


async def test_messages_for_people(make: Make, run: Run, tmp_path: Path) -> None:
    agent = make({"say": "Look."}, {"tool": {"name": "Bash", "input": {"command": "ls"}}})
    await run(agent)
    lines = (tmp_path / "run-1" / "output").read_bytes().splitlines()
    shown = [message for line in lines for message in agent.parse(line)]
    assert [message["type"] for message in shown] == ["assistant", "tool_use", "result"]
    assert shown[0]["text"] == "Look."
    assert (shown[1]["name"], shown[1]["input"]) == ("Bash", {"command": "ls"})


async def test_a_fault_has_its_class(make: Make, run: Run) -> None:
    ended, said = await run(make({"fail": {"error_class": "quota", "message": "No credit."}}))
    assert ended.exit_code != 0
    assert (said.error, said.error_class) == ("No credit.", ErrorClass.QUOTA)


@pytest.mark.parametrize(
    ("steps", "settings", "reason"),
    [
        pytest.param([{"sleep": 30}], {"timeout": 300}, "timeout", id="timeout"),
        pytest.param([{"sleep": 30}], {"silenceTimeout": 300}, "stalled", id="silence"),
        pytest.param(
            [{"say": "1"}, {"say": "2"}, {"say": "3"}, {"sleep": 30}],
            {"maxTurns": 2},
            "turns",
            id="turns",
        ),
    ],
)
async def test_limits(make: Make, run: Run, steps: Any, settings: Any, reason: str) -> None:
    ended, _ = await run(make(*steps, **settings))
    assert ended.reason == reason


async def test_output_is_kept_up_to_its_limit(make: Make, run: Run) -> None:
    ended, said = await run(
        make({"flood": {"bytes": 300_000, "lines": None, "line_bytes": 1000}}, outputBytes=100_000)
    )
    assert (ended.truncated, ended.output_bytes) == (True, 100_000)
    assert outcome.read_markers(said.final_text, [], {}) == outcome.Nothing()


async def test_a_stopped_agent_is_gone_with_all_it_started(
    make: Make, runners: DetachedRunners, tmp_path: Path
) -> None:
    job = make({"daemon": 60}, {"say": "Up."}, {"sleep": 60}).job(turn(tmp_path))
    await runners.start_or_adopt(job)
    output = job.dir / "output"
    await asyncio.to_thread(eventually, lambda: output.exists() and output.stat().st_size)
    await runners.stop(job.dir)
    assert processes_of(job.run_id) == []
    assert (await runners.wait(job.dir)).reason == "cancelled"
