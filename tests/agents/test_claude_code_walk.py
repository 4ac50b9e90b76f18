"""A task goes from creation to its pull request with the real Claude Code and a scripted model:
an outcome that cannot be taken, its repair, a question, and its answer in the same session.
Outcomes come as structured output and, where the model does not use it, as a block."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.run import ErrorClass
from agents_manager.domain.task import Task
from agents_manager.flow import tasks
from agents_manager.flow.runs import places
from agents_manager.testing.scripted_model import (
    Broken,
    Garbled,
    ModelServer,
    Say,
    Status,
    Structured,
    Turn,
    When,
    asked,
    claude_bash,
    claude_write,
    outcome,
)
from tests.claude import SCENARIO, SETTINGS, account, server
from tests.repos import run
from tests.worlds import ANN, World

__all__ = ["account", "server"]

DONE = {"text": "Done.", "outcome": "pr_ready", "payload": None}
QUESTION = {"questions": [{"id": "q1", "question": "Which greeting?"}]}


def asks(payload: Any) -> Structured:
    return Structured({"text": "Hm.", "outcome": "needs_info", "payload": payload})


async def test_a_question_a_repair_and_an_answer(
    account: ModelServer, world: World, tmp_path: Path
) -> None:
    settings = {**SETTINGS, "systemPrompt": "Speak plainly."}
    (tmp_path / "home" / "config.json").write_text(
        json.dumps({"defaultAgentType": "claude-code", "agents": {"claude-code": settings}})
    )
    account.script(
        SCENARIO,
        [
            asks({"why": "I wonder."}),
            When(
                asked("Answer: Moin."),
                [
                    Turn([Say("I write."), claude_write(Path("hello.txt"), "moin\n")]),
                    claude_bash("git add hello.txt && git commit -qm 'Say moin'"),
                    # Claude Code asks for the form once more, and the block counts all the same.
                    outcome("pr_ready"),
                    Say("As I said."),
                ],
            ),
            When(asked("could not be taken"), [asks(QUESTION)]),
        ],
    )
    new = tasks.NewTask(title="Add greeting", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)

    view = await world.wait(task, lambda v: bool(v.prompts), "a question")
    await world.answer(view.prompts[0], {"answers": [{"question_id": "q1", "text": "Moin."}]})
    view = await world.until(task, "review")

    first, second = view.runs
    assert (first.outcome, second.outcome) == ("needs_info", "pr_ready")
    assert second.agent == "claude-code"
    assert first.session
    assert first.session == second.session
    assert [r.usage and r.usage.input_tokens for r in view.runs] == [200, 400]
    assert [r.usage and r.usage.cost_usd for r in view.runs] == [0.0009, 0.0018]
    assert second.branch
    assert run(world.repo, "show", f"{second.branch}:hello.txt") == "moin"
    assert run(world.repo, "log", "-1", "--format=%s", second.branch) == "Say moin"
    repair = str(account.requests(SCENARIO)[1].body["messages"])
    assert 'The payload of outcome "needs_info" is not valid' in repair
    messages = [m for m in account.requests(SCENARIO)[1].body["messages"] if m["role"] == "user"]
    heard = [words(m["content"]) for m in messages]
    assert places.system_prompt(world.s, first) == "Speak plainly."
    assert "Speak plainly." in str(account.requests(SCENARIO)[0].body["system"])
    told = places.told(world.s, first)
    assert len(told) == 2
    assert "by the tool StructuredOutput" in told[0]
    assert all(text in each for text, each in zip(told, heard, strict=True))


@pytest.mark.slow
async def test_a_session_that_is_gone_is_begun_anew_with_what_was_said(
    account: ModelServer, world: World, tmp_path: Path
) -> None:
    (tmp_path / "home" / "config.json").write_text(
        json.dumps({"defaultAgentType": "claude-code", "agents": {"claude-code": SETTINGS}})
    )
    done = {"text": "", "outcome": "no_changes", "payload": {"reason": "It is there."}}
    account.script(SCENARIO, [asks(QUESTION), When(asked("Answer: Moin."), [Structured(done)])])
    new = tasks.NewTask(title="Add greeting", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    view = await world.wait(task, lambda v: bool(v.prompts), "a question")
    (kept,) = (tmp_path / "home").glob(f"**/{view.runs[0].session}.jsonl")
    kept.unlink()
    await world.answer(view.prompts[0], {"answers": [{"question_id": "q1", "text": "Moin."}]})
    view = await world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "ended")
    first, second = view.runs
    assert second.outcome == "no_changes"
    assert second.session not in (first.session, None)
    [message] = [m for m in account.requests(SCENARIO)[-1].body["messages"] if m["role"] == "user"]
    assert second.prompt in words(message["content"]), "what was said is on record"
    assert "# Transcript of earlier runs" in (second.prompt or "")
    assert "agent.session_lost" in await world.types(task)


async def test_half_of_the_work_is_not_ready_when_every_response_breaks_off(
    account: ModelServer, world: World, tmp_path: Path
) -> None:
    configure(tmp_path, {"retries": {"overloaded": {"tries": 0}}})
    half = claude_bash("echo half > a.txt && git add a.txt && git commit -qm 'Add half'")
    account.script(SCENARIO, [half, *[Broken()] * 4])
    task = await start(world)
    view = await world.wait(task, lambda v: bool(v.prompts), "a question")
    [only] = view.runs
    assert (only.outcome, only.error and only.error.error_class) == (None, ErrorClass.OVERLOADED)
    assert run(world.repo, "log", "-1", "--format=%s", only.branch or "") == "Add half"
    assert view.task.status == "needs_decision"
    assert "Overloaded" in view.prompts[0].payload["reason"]


@pytest.mark.slow
async def test_an_interrupted_run_is_retried_and_never_taken_as_finished(
    account: ModelServer, world: World, tmp_path: Path
) -> None:
    configure(tmp_path, {"retries": {"interrupted": {"tries": 1, "delay": 0}}})
    broken = Garbled(Turn([Say("Now I write."), Say("word " * 60)]))
    account.script(
        SCENARIO,
        [
            claude_bash("echo half > a.txt && git add a.txt && git commit -qm 'Add half'"),
            *[broken] * 4,
            When(asked("mid-response"), [Structured(DONE)]),
        ],
    )
    task = await start(world)
    view = await world.until(task, "review")
    first, second = view.runs
    assert first.outcome is None
    assert first.error is not None
    assert first.error.error_class is ErrorClass.INTERRUPTED
    assert second.outcome == "pr_ready"


@pytest.mark.slow
async def test_a_session_that_is_too_long_is_retried_once_in_a_new_session(
    account: ModelServer, world: World, tmp_path: Path
) -> None:
    configure(tmp_path, {"retries": {"context_too_long": {"tries": 1}}})
    too_long = Status(400, "prompt is too long: 250000 tokens > 200000 maximum")
    # Claude Code itself tries to compact the conversation first, by a request without the answer.
    account.script(
        SCENARIO,
        [asks(QUESTION), *[too_long] * 9, When(asked("Answer: Moin."), [too_long] * 9)],
    )
    task = await start(world)
    view = await world.wait(task, lambda v: bool(v.prompts), "a question")
    await world.answer(view.prompts[0], {"answers": [{"question_id": "q1", "text": "Moin."}]})
    view = await world.wait(task, lambda v: len(v.runs) == 3 and v.run is None, "ended")
    _, second, third = view.runs
    assert [r.error and r.error.error_class for r in (second, third)] == ["context_too_long"] * 2
    assert "# Transcript of earlier runs" in (third.prompt or "")


def configure(tmp_path: Path, more: dict[str, Any]) -> None:
    settings = {"defaultAgentType": "claude-code", "agents": {"claude-code": SETTINGS}, **more}
    (tmp_path / "home" / "config.json").write_text(json.dumps(settings))


async def start(world: World) -> Task:
    task = await tasks.create(
        world.s, world.project, tasks.NewTask(title="Add greeting", pipeline="simple"), ANN
    )
    await tasks.move(world.s, task.id, ANN)
    return task


def words(content: Any) -> list[str]:
    """The texts of a message, each of them whole."""
    blocks = [{"text": content}] if isinstance(content, str) else content
    return [block["text"] for block in blocks if "text" in block]
