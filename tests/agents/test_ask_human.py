"""The real Claude Code and the real Codex ask a person in the middle of a run: answered from the
command line while they wait, or after their run has paused."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.task import Task
from agents_manager.flow import tasks
from agents_manager.flow.views import TaskView
from agents_manager.testing.scripted_model import (
    ModelServer,
    Say,
    Structured,
    Use,
    When,
    asked,
    claude_bash,
    claude_write,
)
from tests.agents.codex_desk import Desk
from tests.api.scenes import serving
from tests.claude import SCENARIO, SETTINGS, account, server
from tests.worlds import ANN, World

__all__ = ["account", "server"]

QUESTION = {
    "questions": [
        {"id": "q1", "question": "Which greeting?", "options": [{"label": "Moin"}, {"label": "Hi"}]}
    ]
}
MOIN = {"answers": [{"question_id": "q1", "option": "Moin"}]}
CLAUDE_ASKS = Use("mcp__agents-manager__ask_human", QUESTION)
CODEX_ASKS = Use("mcp__agents_manager.ask_human", QUESTION)


def done(reason: str) -> Structured:
    return Structured({"text": "", "outcome": "no_changes", "payload": {"reason": reason}})


def configure(tmp_path: Path, **settings: Any) -> None:
    said = {"defaultAgentType": "claude-code", "agents": {"claude-code": SETTINGS}, **settings}
    (tmp_path / "home" / "config.json").write_text(json.dumps(said))


async def begun(world: World) -> tuple[Task, TaskView]:
    new = tasks.NewTask(title="Add greeting", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    return task, await world.wait(task, lambda v: bool(v.prompts), "a question")


async def am(home: Path, *arguments: str) -> str:
    """The command, as somebody types it beside the server."""
    command = [str(Path(sys.executable).with_name("am")), *arguments]
    env = {**os.environ, "AM_HOME": str(home)}
    done = await asyncio.to_thread(
        subprocess.run, command, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


async def test_claude_code_waits_and_is_answered_from_the_command_line(
    account: ModelServer, world: World, tmp_path: Path
) -> None:
    configure(tmp_path)
    account.script(SCENARIO, [CLAUDE_ASKS, done("It says Moin.")])
    async with serving(world.program):
        task, view = await begun(world)
        (prompt,) = view.prompts
        assert view.run is not None
        assert view.next_mover.text.startswith("The agent waits until a person answers: Which")
        listed = json.loads(await am(tmp_path / "home", "prompt", "list", "--json"))
        assert [one["prompt"]["id"] for one in listed] == [prompt.id]
        await am(tmp_path / "home", "prompt", "answer", prompt.id[:8], "--option", "Moin")
        view = await world.wait(task, lambda v: v.run is None, "ended")
    assert [r.outcome for r in view.runs] == ["no_changes"]
    heard = str(account.requests(SCENARIO)[1].body["messages"])
    assert "Answer: Moin" in heard


@pytest.mark.slow
async def test_claude_code_pauses_and_goes_on_in_its_session(
    account: ModelServer, world: World, tmp_path: Path
) -> None:
    configure(tmp_path, askHumanTimeout=0)
    end = Structured({"text": "I wait.", "outcome": "no_changes", "payload": {"reason": "-"}})
    account.script(
        SCENARIO, [CLAUDE_ASKS, end, When(asked("Answer: Moin"), [done("It says Moin.")])]
    )
    async with serving(world.program):
        task, _ = await begun(world)
        view = await world.wait(task, lambda v: v.run is None, "paused")
        assert (view.task.status, [r.outcome for r in view.runs]) == ("in_progress", ["needs_info"])
        await world.answer(view.prompts[0], MOIN)
        view = await world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "ended")
    first, second = view.runs
    assert (second.outcome, second.session) == ("no_changes", first.session)
    assert "This run pauses now" in str(account.requests(SCENARIO)[1].body["messages"])


@pytest.mark.slow
async def test_claude_code_waits_longer_than_it_would_by_itself(
    account: ModelServer, world: World, tmp_path: Path
) -> None:
    """Without a limit of ours it gives up after a minute."""
    configure(tmp_path)
    account.script(SCENARIO, [CLAUDE_ASKS, done("It says Moin.")])
    async with serving(world.program):
        task, view = await begun(world)
        await asyncio.sleep(75)
        await world.answer(view.prompts[0], MOIN)
        view = await world.wait(task, lambda v: v.run is None, "ended")
    assert [r.outcome for r in view.runs] == ["no_changes"]
    assert "Answer: Moin" in str(account.requests(SCENARIO)[1].body["messages"])


@pytest.mark.slow
async def test_claude_code_has_a_person_asked_for_what_lies_outside(
    account: ModelServer, world: World, tmp_path: Path
) -> None:
    asks = {"claude-code": {**SETTINGS, "permissions": "workspace"}}
    configure(tmp_path, agents=asks)
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    account.script(
        SCENARIO, [claude_write(good, "x"), claude_write(bad, "x"), done("It is written.")]
    )
    async with serving(world.program):
        task, view = await begun(world)
        first = view.prompts[0]
        assert (first.type, first.payload["tool"]) == (PromptType.PERMISSION, "Write")
        await world.answer(first, {"allow": True})
        view = await world.wait(
            task, lambda v: bool(v.prompts) and v.prompts[0].id != first.id, "the other question"
        )
        await world.answer(view.prompts[0], {"allow": False})
        view = await world.wait(task, lambda v: v.run is None, "ended")
    assert [r.outcome for r in view.runs] == ["no_changes"]
    assert (good.exists(), bad.exists()) == (True, False)
    assert "A person did not allow it." in str(account.requests(SCENARIO)[2].body["messages"])


@pytest.mark.slow
async def test_claude_code_has_a_person_asked_for_every_command(
    account: ModelServer, world: World, tmp_path: Path
) -> None:
    configure(tmp_path, agents={"claude-code": {**SETTINGS, "permissions": "ask"}})
    account.script(SCENARIO, [claude_bash("echo x > made.txt"), done("It is made.")])
    async with serving(world.program):
        task, view = await begun(world)
        (prompt,) = view.prompts
        assert (prompt.payload["tool"], prompt.payload["action"]) == ("Bash", "echo x > made.txt")
        await world.answer(prompt, {"allow": False})
        view = await world.wait(task, lambda v: v.run is None, "ended")
    assert [r.outcome for r in view.runs] == ["no_changes"]
    assert "A person did not allow it." in str(account.requests(SCENARIO)[1].body["messages"])


async def test_codex_waits_and_is_answered(desk: Desk) -> None:
    async with serving(desk.world.program):
        task = await desk.start([CODEX_ASKS, done("It says Moin.")])
        view = await desk.world.wait(task, lambda v: bool(v.prompts), "a question")
        await desk.world.answer(view.prompts[0], MOIN)
        view = await desk.world.wait(task, lambda v: v.run is None, "ended")
    assert [r.outcome for r in view.runs] == ["no_changes"]
    assert "Answer: Moin" in desk.results()


@pytest.mark.slow
async def test_codex_pauses_and_goes_on_in_its_session(desk: Desk, tmp_path: Path) -> None:
    home = tmp_path / "home" / "config.json"
    home.write_text(json.dumps({**json.loads(home.read_text()), "askHumanTimeout": 0}))
    async with serving(desk.world.program):
        task = await desk.start(
            [CODEX_ASKS, Say("{}"), When(asked("Answer: Moin"), [done("It says Moin.")])]
        )
        view = await desk.world.wait(task, lambda v: v.run is None and bool(v.runs), "paused")
        await desk.world.answer(view.prompts[0], MOIN)
        view = await desk.world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "ended")
    first, second = view.runs
    assert (first.outcome, second.outcome) == ("needs_info", "no_changes")
    assert first.session == second.session
