"""The real Claude Code and the real Codex call a tool of a project's MCP server, which has a secret
that is named in the settings."""

import json
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.flow import agents, tasks
from agents_manager.flow.views import TaskView
from agents_manager.testing.scripted_model import (
    CODEX_KEY,
    CODEX_MODEL,
    ModelServer,
    Structured,
    Use,
    codex_settings,
)
from tests import mcp_echo, sandboxes
from tests.agents.codex_desk import CODEX, READY
from tests.claude import SCENARIO, SETTINGS, account, server
from tests.repos import own_home
from tests.worlds import ANN, World, repo, world

__all__ = ["account", "own_home", "repo", "server", "world"]

ECHO = Path(__file__).parent.parent / "mcp_echo.py"
SECRET = "s3cret-of-the-echo-server"
DONE = Structured({"text": "Done.", "outcome": "pr_ready", "payload": None})
HANDED_OVER = ("mcp.json", "job.json", "sandbox.json", "config.toml")
"""Files by which an agent gets its servers, which nobody else may read."""


@pytest.fixture(autouse=True)
def kept(no_sandbox: None, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sandbox of this machine, and a program in a home that it hides."""
    monkeypatch.setattr(bootstrap, "LEVELS", sandboxes.levels())
    monkeypatch.setenv("MY_ECHO", SECRET)
    program = own_home / "tools" / "echo-server"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable} -IS\n{ECHO.read_text()}")
    program.chmod(0o755)


def servers(own_home: Path) -> Mapping[str, Any]:
    program = str(own_home / "tools" / "echo-server")
    return {"echo": {"command": program, "args": ["--x"], "env": {"ECHO_TOKEN": "${MY_ECHO}"}}}


async def ran(world: World, config: Mapping[str, Any]) -> TaskView:
    (world.s.home / "config.json").write_text(json.dumps({"sandbox": {"hosts": []}}))
    world.configure(config)
    world.project = await agents.consent(world.s, world.project, given=False)
    world.project = await tasks.trust_project(world.s, world.project)
    new = tasks.NewTask(title="Look", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    return await world.wait(task, lambda v: bool(v.runs) and not v.runs[0].status.live, "ended")


def no_secret_is_kept(world: World) -> None:
    """In what the agent printed, and in files that others can read."""
    files = [*world.s.jobs_dir.rglob("*"), *world.s.agent_homes_dir.rglob("config.toml")]
    holding = [file for file in files if file.is_file() and SECRET.encode() in file.read_bytes()]
    assert holding, "the agent got it by a file"
    for file in holding:
        assert file.name in HANDED_OVER, file
        assert file.stat().st_mode & 0o077 == 0


async def test_claude_code_calls_a_server_of_the_project(
    account: ModelServer, world: World, own_home: Path
) -> None:
    account.script(SCENARIO, [Use("mcp__echo__whoami", {}), DONE])
    config = {"defaultAgentType": "claude-code", "agents": {"claude-code": SETTINGS}}
    view = await ran(world, {**config, "mcpServers": servers(own_home)})
    assert view.runs[0].error is None, view.runs[0].error
    assert view.runs[0].sandbox == "S3"
    first, last = account.requests(SCENARIO)[0], account.requests(SCENARIO)[-1]
    assert "mcp__echo__whoami" in {tool["name"] for tool in first.body["tools"]}
    told = json.dumps(last.body["messages"])
    assert f"ECHO args=['--x'] token-length={len(SECRET)}" in told
    no_secret_is_kept(world)


@pytest.fixture
def address() -> Iterator[str]:
    """An MCP server on this machine, which wants the secret."""
    handler = type("Handler", (mcp_echo.Handler,), {"token": SECRET})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}/mcp"
        serving.shutdown()
        thread.join()


@pytest.mark.slow
async def test_claude_code_calls_a_server_by_its_address(
    account: ModelServer, world: World, address: str
) -> None:
    """The secret is a variable of the project's runs."""
    account.script(SCENARIO, [Use("mcp__echo__whoami", {}), DONE])
    headers = {"Authorization": "Bearer ${ECHO_KEY}"}
    config = {
        "defaultAgentType": "claude-code",
        "agents": {"claude-code": SETTINGS},
        "env": {"ECHO_KEY": {"name": "MY_ECHO"}},
        "mcpServers": {"echo": {"type": "http", "url": address, "headers": headers}},
    }
    view = await ran(world, config)
    assert view.runs[0].error is None, view.runs[0].error
    told = json.dumps(account.requests(SCENARIO)[-1].body["messages"])
    assert "ECHO args=" in told
    no_secret_is_kept(world)
    (one,) = await agents.examine(world.s, world.project, "claude-code", try_servers=True)
    (state,) = one.diagnosis.servers
    assert (state.tools, state.problem) == (1, "")


@pytest.mark.slow
async def test_codex_calls_a_server_of_the_agent(
    account: ModelServer, world: World, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CODEX_KEY, "scripted")
    account.script(SCENARIO, [Use("mcp__echo.whoami", {}), Structured(READY)])
    entry = {
        "command": [CODEX],
        "model": CODEX_MODEL,
        "env": [CODEX_KEY],
        "settings": codex_settings(account, SCENARIO),
        "mcpServers": servers(own_home),
    }
    view = await ran(world, {"defaultAgentType": "codex", "agents": {"codex": entry}})
    assert view.runs[0].error is None, view.runs[0].error
    told = json.dumps(account.requests(SCENARIO)[-1].body["input"])
    assert f"token-length={len(SECRET)}" in told
    no_secret_is_kept(world)


@pytest.mark.slow
async def test_nothing_is_started_before_the_project_is_trusted(
    account: ModelServer, world: World, own_home: Path
) -> None:
    world.configure({"defaultAgentType": "claude-code", "mcpServers": servers(own_home)})
    new = tasks.NewTask(title="Look", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    view = await world.wait(task, lambda v: bool(v.runs) and not v.runs[0].status.live, "ended")
    error = view.runs[0].error
    assert error is not None
    assert "agents.*.mcpServers" in error.error
    (one,) = await agents.examine(world.s, world.project, "claude-code", try_servers=True)
    assert one.diagnosis.servers == ()


@pytest.mark.slow
async def test_doctor_tells_the_state_of_each_server(
    account: ModelServer, world: World, own_home: Path
) -> None:
    silent = {"command": "sleep", "args": ["60"]}
    broken = {"command": "false"}
    gone = {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer ${MY_ECHO}"}}
    lacking = {"command": "cat", "env": {"A": "${NOT_THERE}"}}
    more = {"silent": silent, "broken": broken, "gone": gone, "lacking": lacking}
    world.configure({"mcpServers": {**servers(own_home), **more}})
    world.project = await tasks.trust_project(world.s, world.project)
    (one,) = await agents.examine(world.s, world.project, "claude-code", try_servers=True)
    states = {state.name: state for state in one.diagnosis.servers}
    assert states.pop("echo").tools == 1
    assert all(state.tools is None for state in states.values())
    assert "did not answer within" in states["silent"].problem
    assert "NOT_THERE" in states["lacking"].problem
    assert all(state.problem and SECRET not in state.problem for state in states.values())
