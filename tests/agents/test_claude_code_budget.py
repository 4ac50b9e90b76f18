"""The real Claude Code is stopped within one request of using up a budget. Its work is kept, and
after a grant the same session goes on with it."""

import json
from pathlib import Path

import pytest

from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.run import ErrorClass
from agents_manager.flow import snapshots, tasks
from agents_manager.testing.scripted_model import (
    ModelServer,
    Say,
    claude_bash,
    claude_write,
    outcome,
)
from tests.claude import SCENARIO, SETTINGS, account, server
from tests.repos import run
from tests.worlds import ANN, World

pytestmark = pytest.mark.slow

__all__ = ["account", "server"]

ONE_REQUEST = 0.0003
"""What the messages of a request tell before it is over: 100 tokens of input."""


async def test_a_budget_stops_claude_code_and_a_grant_lets_it_go_on(
    account: ModelServer, world: World, tmp_path: Path
) -> None:
    config = {
        "defaultAgentType": "claude-code",
        "agents": {"claude-code": SETTINGS},
        "budgets": {"taskUsd": 1.5 * ONE_REQUEST},
    }
    (tmp_path / "home" / "config.json").write_text(json.dumps(config))
    account.script(
        SCENARIO,
        [
            claude_write(Path("draft.txt"), "half\n"),
            # Asked for once more where the session was cut before it was written down.
            claude_bash("sleep 6"),
            claude_bash("git add draft.txt && git commit -qm 'Take it up'"),
            outcome("pr_ready"),
            Say("As I said."),
        ],
    )
    new = tasks.NewTask(title="Add a draft", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)

    view = await world.wait(task, lambda v: v.run is None and bool(v.prompts), "held")
    (prompt,) = view.prompts
    (first,) = view.runs
    assert prompt.type is PromptType.BUDGET
    assert first.error is not None
    assert first.error.error_class is ErrorClass.BUDGET
    assert len(account.requests(SCENARIO)) == 2
    [saved] = await snapshots.of_task(world.s, task.id)
    assert saved.files == ("draft.txt",)

    await world.answer(prompt, {"decision": "grant", "usd": 1})
    view = await world.until(task, "review")
    second = view.runs[1]
    assert first.session is not None
    assert second.session == first.session
    assert run(world.repo, "show", f"{second.branch}:draft.txt") == "half"
