"""The real Claude Code and the real Codex are told what the repository says on its base branch, all
of it once, and start nothing that the repository names."""

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
    claude_read,
    codex_run,
)
from tests import instruction_files
from tests.agents.codex_desk import READY, Desk
from tests.claude import SCENARIO, SETTINGS, account, server
from tests.instruction_files import markers, once
from tests.repos import own_home, run
from tests.worlds import ANN, World, repo, world

__all__ = ["account", "own_home", "repo", "server", "world"]

DONE = Structured({"text": "Done.", "outcome": "pr_ready", "payload": None})


async def test_claude_code_is_told_the_instructions_of_the_base_commit_once(
    account: ModelServer, world: World
) -> None:
    """It also reads a file of a folder with instructions of its own, which it must not load."""
    instruction_files.add_to(world.repo)
    config = {"defaultAgentType": "claude-code", "agents": {"claude-code": SETTINGS}}
    (world.s.home / "config.json").write_text(json.dumps({**config, "sandbox": {"level": "none"}}))
    new = tasks.NewTask(title="Change web/app.ts", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    view = await world.wait(task, lambda v: bool(v.runs), "a run")
    skills = world.s.jobs_dir / view.runs[0].id / "skills"
    account.script(
        SCENARIO,
        [
            claude_read(Path("docs/style.md")),
            claude_read(skills / "greet" / "SKILL.md"),
            claude_bash("echo STEERED > AGENTS.md && git commit -qam 'Steer'"),
            DONE,
            When(asked("Once more."), [DONE]),
        ],
    )
    view = await world.until(task, "review")
    assert view.runs[0].error is None, view.runs[0].error
    assert run(world.repo, "show", f"{view.runs[0].branch}:AGENTS.md") == "STEERED"
    first, _, third, *_ = account.requests(SCENARIO)
    listed = ("MARK-greet-LISTED", "MARK-wave-LISTED")
    once(markers(first), "MARK-ROOT", "MARK-WEB", "MARK-IMPORTED", *listed)
    assert "MARK-greet-BODY" in markers(third)
    await world.review(task, "changes_requested", summary="Once more.")
    await world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "a second run")
    last = json.dumps(account.requests(SCENARIO)[-1].body["messages"][-1])
    assert "MARK-ROOT" in last
    assert "STEERED" not in last
    assert instruction_files.started(world.repo) == []


@pytest.mark.slow
async def test_codex_is_told_the_instructions_of_the_base_commit_once(desk: Desk) -> None:
    instruction_files.add_to(desk.world.repo)
    task = await desk.start([codex_run("cat README.md"), Structured(READY)])
    done = await desk.one_run(task)
    assert done.error is None, done.error
    for request in desk.model.requests("x"):
        once(markers(request), "MARK-ROOT", "MARK-greet-LISTED", "MARK-wave-LISTED")
    assert instruction_files.started(desk.world.repo) == []
