"""A test that fails is fixed by the real Claude Code, in its second round and in one session,
against a scripted model."""

import json
from pathlib import Path

import pytest

from agents_manager.flow import tasks
from agents_manager.testing.scripted_model import (
    ModelServer,
    Structured,
    When,
    asked,
    claude_bash,
)
from agents_manager.testing.scripted_model.steps import Step
from tests.claude import SCENARIO, SETTINGS, account, server
from tests.repos import run
from tests.worlds import ANN, World

__all__ = ["account", "server"]

PASSES = "[ ! -e word.txt ] || grep -q right word.txt"
READY = Structured({"text": "Done.", "outcome": "pr_ready", "payload": None})


def writes(word: str) -> list[Step]:
    command = f"echo {word} > word.txt && git add word.txt && git commit -qm 'Write {word}'"
    return [claude_bash(command), READY]


@pytest.mark.slow
async def test_a_failing_test_is_fixed_in_the_second_round(
    account: ModelServer, world: World, tmp_path: Path
) -> None:
    agents = {"defaultAgentType": "claude-code", "agents": {"claude-code": SETTINGS}}
    (tmp_path / "home" / "config.json").write_text(json.dumps(agents))
    world.configure({"checks": {"test": {"command": f"echo got $(cat word.txt); {PASSES}"}}})
    world.project = await tasks.trust_project(world.s, world.project)
    account.script(
        SCENARIO,
        [
            *writes("wrong"),
            When(asked("got worse"), writes("right")),
            When(asked("got wrong"), writes("worse")),
        ],
    )
    new = tasks.NewTask(title="Write a word", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)

    view = await world.until(task, "review")
    (done,) = view.runs
    assert done.outcome == "pr_ready"
    assert done.branch
    log = run(world.repo, "log", "--reverse", "--format=%s", f"main..{done.branch}")
    assert log.splitlines() == ["Write wrong", "Write worse", "Write right"]
    types = await world.types(task)
    assert types.count("agent.fix_requested") == 2
    assert types.count("agent.checks_passed") == 1
    assert done.usage
    assert done.usage.input_tokens == 100 * len(account.requests(SCENARIO))
    last = account.requests(SCENARIO)[-1].body["messages"]
    assert "Write wrong" in str(last), "it is one session"
