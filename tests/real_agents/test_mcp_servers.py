"""Real agents over the Agent Client Protocol offer the tools of a configured MCP server to their
model."""

import json
import sys
from pathlib import Path

import pytest

from agents_manager.flow import tasks
from agents_manager.testing.scripted_model import ModelServer, Say, When, asked, outcome
from tests.real_agents.desk import SCENARIO, Real
from tests.real_agents.test_acp_agents import name, real
from tests.worlds import ANN, World

__all__ = ["name", "real"]

pytestmark = [pytest.mark.usefixtures("programs"), pytest.mark.timeout(300)]
ECHO = Path(__file__).parent.parent / "mcp_echo.py"
NOT_OFFERED = ("qwen", "copilot")
"""Agents that take the server, but do not offer its tools with the first requests."""


async def test_the_tools_of_a_server_are_offered_to_the_model(
    name: str, real: Real, model: ModelServer, world: World
) -> None:
    if name in NOT_OFFERED:
        pytest.skip(f"{name} does not offer the tools with its first requests")
    entry = {"command": sys.executable, "args": ["-IS", str(ECHO)]}
    settings = {**real.settings, "mcpServers": {"echo": entry}}
    world.configure({"defaultAgentType": name, "agents": {name: settings}})
    world.project = await tasks.trust_project(world.s, world.project)
    steps = [real.run("cat README.md"), outcome("pr_ready")]
    model.script(SCENARIO, [When(asked("Title: Look"), steps)], side=Say("Nothing."))
    new = tasks.NewTask(title="Look", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    view = await world.wait(task, lambda v: bool(v.runs) and v.run is None, "ended")
    assert view.runs[0].error is None, view.runs[0].error
    requests = [r for r in model.requests(SCENARIO) if "Title: Look" in str(r.body)]
    assert any("whoami" in json.dumps(request.body) for request in requests)
