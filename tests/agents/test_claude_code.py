"""The real Claude Code under the detached runner, against a scripted model. What it does must be
what the adapter says it did."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents_manager.agents.claude_code import ClaudeCodeAgent
from agents_manager.agents.config import ClaudeCodeConfig
from agents_manager.domain.run import ErrorClass
from agents_manager.engine.runners import DetachedRunners
from agents_manager.flow.ports import Ended, Job, Said, Turn
from agents_manager.testing.scripted_model import (
    Broken,
    Cut,
    Garbled,
    Hang,
    ModelServer,
    Say,
    Status,
    claude_bash,
    claude_write,
)
from agents_manager.testing.scripted_model import Turn as Answer
from agents_manager.testing.scripted_model.steps import Step
from tests.claude import SCENARIO, SETTINGS, account, server
from tests.repos import make_repo, own_home, write
from tests.runner_jobs import processes_of
from tests.turns import turn

__all__ = ["account", "own_home", "server"]

HALF = Answer([Say("Now I write."), Say("word " * 60)])
"""Half of it is one whole block and the beginning of another."""
LONG = pytest.mark.slow
"""Tried by `make test-agents`."""


@dataclass
class Ran:
    ended: Ended
    said: Said
    shown: list[Any]


Play = Callable[..., Awaitable[Ran]]


@pytest.fixture
async def runners(tmp_path: Path) -> AsyncIterator[DetachedRunners]:
    runners = DetachedRunners()
    yield runners
    await runners.stop(tmp_path / "run-1")


@pytest.fixture
def work(tmp_path: Path, account: ModelServer) -> Path:
    return make_repo(tmp_path / "work")


def job_of(taken: Turn, **settings: Any) -> tuple[ClaudeCodeAgent, Job]:
    config = ClaudeCodeConfig.model_validate({**SETTINGS, **settings})
    agent = ClaudeCodeAgent("claude-code", config)
    return agent, agent.job(taken)


@pytest.fixture
def play(runners: DetachedRunners, tmp_path: Path) -> Play:
    async def play(*, settings: Any = None, **fields: Any) -> Ran:
        agent, job = job_of(turn(tmp_path, **fields), **(settings or {}))
        await runners.start_or_adopt(job)
        ended = await runners.wait(job.dir)
        lines = (job.dir / "output").read_bytes().splitlines()
        return Ran(ended, agent.read(job.dir), [m for line in lines for m in agent.parse(line)])

    return play


async def test_files_are_written_in_the_workspace_only(
    account: ModelServer, play: Play, work: Path, tmp_path: Path
) -> None:
    """By the file tools, however the path is written and wherever a link of the agent's own
    leads."""
    outside = tmp_path / "outside"
    outside.mkdir()
    places = [
        *("../outside/a.txt", "way/b.txt", "way/new/c.txt", "~/e.txt"),
        *(".git/hooks/pre-commit", "sub/.GIT/config", str(outside / "f.txt")),
    ]
    account.script(
        SCENARIO,
        [
            claude_bash(f"ln -s '{outside}' way"),
            Answer([claude_write(Path(place), "x") for place in places]),
            claude_write(work / "good.txt", "good\n"),
            Say("Done."),
        ],
    )
    ran = await play()
    assert (ran.ended.exit_code, ran.said.error) == (0, None)
    assert (work / "good.txt").read_text() == "good\n"
    assert list(outside.iterdir()) == []
    assert not (work / ".git/hooks/pre-commit").exists()
    assert not (work / "sub").exists()
    assert not (tmp_path / "user home/e.txt").exists()
    told = [m["text"] for m in ran.shown if m["type"] == "output"]
    assert [text.split(". ")[0] for text in told] == ["Refused: Write"] * len(places)
    heard = str(account.requests(SCENARIO)[2].body["messages"])
    assert "lies outside of the workspace. Files can only be written below" in heard
    assert "Use git commands to change them." in heard


@pytest.mark.slow
async def test_a_mode_that_reads_writes_nothing(
    account: ModelServer, play: Play, work: Path
) -> None:
    account.script(
        SCENARIO,
        [
            Answer(
                [
                    claude_bash("git log --format=%s"),
                    claude_bash("echo x > made.txt"),
                    claude_bash("git commit --allow-empty -m x"),
                    claude_write(work / "made.txt", "x"),
                ]
            ),
            Say("A plan."),
        ],
    )
    ran = await play(mode="plan")
    assert ran.said.final_text == "A plan."
    assert not (work / "made.txt").exists()
    heard = str(account.requests(SCENARIO)[1].body["messages"])
    assert "'content': 'First'" in heard
    assert "No such tool available: Write" in heard
    assert [m["text"][:14] for m in ran.shown if m["type"] == "output"] == ["Refused: Bash."] * 2


async def test_nothing_is_loaded_that_the_repository_or_the_prompt_brings(
    account: ModelServer, play: Play, work: Path, tmp_path: Path
) -> None:
    hook = {"hooks": [{"type": "command", "command": f"touch '{tmp_path}/hooked'"}]}
    (tmp_path / "secret.txt").write_text("a secret")
    brought = {
        ".claude/settings.json": json.dumps({"hooks": {"SessionStart": [hook]}}),
        ".mcp.json": json.dumps({"mcpServers": {"s": {"command": "touch", "args": ["served"]}}}),
        "CLAUDE.md": "a memory",
    }
    write(work, brought)
    account.script(SCENARIO, [Say("Done.")])
    prompt = f"/compact @{tmp_path}/secret.txt"
    ran = await play(prompt=prompt, settings={"systemPrompt": "Speak plainly."})
    assert ran.said.final_text == "Done."
    assert not (tmp_path / "hooked").exists()
    assert not (work / "served").exists()
    heard = str(account.requests(SCENARIO)[0].body)
    assert prompt in heard
    assert "Speak plainly." in heard
    assert "a secret" not in heard
    assert "a memory" not in heard


@pytest.mark.slow
async def test_a_session_that_is_gone_is_begun_anew_with_the_whole_prompt(
    account: ModelServer, play: Play, work: Path
) -> None:
    account.script(SCENARIO, [Say("Fresh.")])
    gone = "00000000-0000-4000-8000-000000000000"
    ran = await play(session=gone, prompt="Go on.", fresh_prompt="The whole task.")
    assert (ran.said.final_text, ran.said.error) == ("Fresh.", None)
    assert ran.said.session_lost
    assert ran.said.session not in (gone, None)
    assert "The whole task." in str(account.requests(SCENARIO)[0].body["messages"])


async def test_a_stopped_agent_says_so_and_is_gone(
    account: ModelServer, runners: DetachedRunners, work: Path, tmp_path: Path
) -> None:
    account.script(SCENARIO, [Hang(Say("Never said to its end."), midway=True)])
    agent, job = job_of(turn(tmp_path))
    await runners.start_or_adopt(job)
    await asyncio.to_thread(
        account.wait_for, SCENARIO, lambda seen: bool(seen) and seen[-1].state == "hanging"
    )
    await runners.stop(job.dir)
    assert processes_of(job.run_id) == []
    ended, said = await runners.wait(job.dir), agent.read(job.dir)
    assert ended.reason == "cancelled"
    assert (said.error, said.error_class) == ("The agent was stopped.", ErrorClass.CANCELLED)
    assert said.session is not None


@pytest.mark.slow
async def test_a_program_that_dies_is_a_crash(account: ModelServer, play: Play, work: Path) -> None:
    account.script(SCENARIO, [claude_bash("kill -9 $PPID"), Say("Never.")])
    ran = await play()
    assert ran.ended.exit_code == 1
    assert ran.said.error_class is ErrorClass.CRASH
    assert "exit code" in (ran.said.error or "")


@pytest.mark.slow
async def test_a_driver_that_is_killed_has_told_what_was_used(
    account: ModelServer, play: Play, work: Path
) -> None:
    driver = "$(cut -d' ' -f4 /proc/$PPID/stat)"
    account.script(
        SCENARIO, [claude_bash("echo 1"), claude_bash(f"kill -9 {driver}"), Say("Never.")]
    )
    ran = await play()
    assert ran.ended.exit_code == -signal.SIGKILL
    assert ran.said.usage is not None
    assert ran.said.usage.input_tokens == 200
    assert ran.said.usage.cost_usd is None


@LONG
async def test_a_refused_key_is_told_with_the_way_out(
    account: ModelServer, play: Play, work: Path
) -> None:
    account.script(SCENARIO, [Status(401)])
    ran = await play()
    assert ran.said.error_class is ErrorClass.AUTH
    assert "401" in (ran.said.error or "")
    assert "set ANTHROPIC_API_KEY" in (ran.said.error or "")
    assert ran.said.usage is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "error_class", "says"),
    [
        pytest.param(Status(429), ErrorClass.RATE_LIMIT, "429", id="429", marks=LONG),
        pytest.param(Status(529), ErrorClass.OVERLOADED, "529", id="529", marks=LONG),
        pytest.param(Cut(), ErrorClass.INTERRUPTED, "Connection", id="cut"),
        pytest.param(Broken(), ErrorClass.OVERLOADED, "529", id="error event", marks=LONG),
        pytest.param(
            Broken(HALF), ErrorClass.INTERRUPTED, "mid-response", id="late error event", marks=LONG
        ),
        pytest.param(Garbled(), ErrorClass.INTERRUPTED, "JSON", id="garbled", marks=LONG),
        pytest.param(
            Garbled(HALF), ErrorClass.INTERRUPTED, "mid-response", id="late garbled", marks=LONG
        ),
        pytest.param(
            Status(400, "prompt is too long: 250000 tokens > 200000 maximum"),
            ErrorClass.CONTEXT_TOO_LONG,
            "too long",
            id="prompt too long",
            marks=LONG,
        ),
        pytest.param(
            Answer([Say("No.")], stop="refusal"),
            ErrorClass.REFUSAL,
            "can't help",
            id="refusal",
            marks=LONG,
        ),
        pytest.param(
            Answer([Say("I was going to")], stop="max_tokens"),
            ErrorClass.MAX_TOKENS,
            "output token maximum",
            id="max tokens",
            marks=LONG,
        ),
        pytest.param(
            Status(400, "Your credit balance is too low to access the Anthropic API."),
            ErrorClass.QUOTA,
            "Credit balance",
            id="no credit",
            marks=LONG,
        ),
    ],
)
async def test_what_the_model_refuses_has_its_class(
    account: ModelServer,
    play: Play,
    work: Path,
    step: Step,
    error_class: ErrorClass,
    says: str,
) -> None:
    account.script(SCENARIO, [step] * 10)
    ran = await play()
    assert ran.said.error_class is error_class
    assert says in (ran.said.error or "")


@LONG
async def test_a_model_that_nobody_serves_is_told(
    account: ModelServer, play: Play, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    ran = await play()
    assert ran.said.error_class is ErrorClass.CRASH
    assert "connect" in (ran.said.error or "").lower()


@LONG
async def test_turns_are_limited(account: ModelServer, play: Play, work: Path) -> None:
    account.script(SCENARIO, [claude_bash("echo 1"), claude_bash("echo 2"), Say("Never.")])
    ran = await play(settings={"maxTurns": 1})
    assert (ran.ended.reason, ran.said.error_class) == ("exited", ErrorClass.BUDGET)
    assert ran.said.usage is not None
    assert len(account.requests(SCENARIO)) == 1
