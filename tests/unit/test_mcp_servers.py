"""What configuration may say about MCP servers, and what becomes of it for a turn."""

import sys
from typing import Any

import pytest
from pydantic import ValidationError

from agents_manager.agents import mcp_servers
from agents_manager.agents.config import ClaudeCodeConfig
from agents_manager.agents.mcp_servers import Owner
from agents_manager.errors import AgentNotInstalled, InvalidConfig
from agents_manager.flow.ports import Needs

PROGRAM = {"command": sys.executable, "args": ["-V"]}
SECRET = "s3cret-of-the-server"


def config(server: str, **entry: Any) -> ClaudeCodeConfig:
    return ClaudeCodeConfig.model_validate({"mcpServers": {server: entry}})


@pytest.mark.parametrize(
    "name", ["agents-manager", "Agents_Manager", "agents_manager_2", "a__b", ""]
)
def test_names_that_collide_with_the_own_server_are_refused(name: str) -> None:
    with pytest.raises(ValidationError, match=r"reserved|cannot be the name"):
        config(name, **PROGRAM)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({}, "either a command or a url"),
        ({**PROGRAM, "url": "https://x.example"}, "either a command or a url"),
        ({"type": "http", **PROGRAM}, "no such address"),
        ({"url": "ftp://x.example"}, "pattern"),
        ({"url": "https://x.example", "env": {"A": "b"}}, "args and env are for a command"),
        ({**PROGRAM, "headers": {"A": "b"}}, "headers are for a url"),
        ({**PROGRAM, "args": ["--token", "${TOKEN}"]}, "put the variable into env"),
        ({**PROGRAM, "env": {"AM_RUN_ID": "x"}}, "cannot be a variable"),
    ],
)
def test_entries_that_cannot_work_are_refused(entry: Any, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        config("tools", **entry)


def test_variables_are_expanded_and_their_values_are_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOKEN", SECRET)
    monkeypatch.delenv("REGION", raising=False)
    headers = {"Authorization": "Bearer ${TOKEN}"}
    entry = {"url": "https://x.example/${REGION:-eu}", "headers": headers}
    found = mcp_servers.ready(config("tools", **entry).mcp_servers, Owner("a", "/usr/bin"))
    (server,) = found
    assert server.url == "https://x.example/eu"
    assert server.headers == {"Authorization": f"Bearer {SECRET}"}
    assert mcp_servers.secrets(found) == (SECRET,)
    assert SECRET not in repr(server)
    assert mcp_servers.needed(Needs(), found).addresses == ("https://x.example/eu",)


def test_a_variable_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOKEN", raising=False)
    servers = config("tools", **PROGRAM, env={"A": "${TOKEN}"}).mcp_servers
    with pytest.raises(InvalidConfig, match=r'MCP server "tools" of agent "a" needs .*"TOKEN"'):
        mcp_servers.ready(servers, Owner("a", "/usr/bin"))


def test_a_program_that_is_missing_is_named() -> None:
    servers = config("tools", command="no-such-program").mcp_servers
    with pytest.raises(AgentNotInstalled, match='"no-such-program" of MCP server "tools"'):
        mcp_servers.ready(servers, Owner("a", "/usr/bin"))


def test_variables_of_the_project_come_before_those_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOKEN", "of-the-server")
    servers = config("tools", **PROGRAM, env={"A": "${TOKEN}"}).mcp_servers
    (server,) = mcp_servers.ready(servers, Owner("a", "/usr/bin", {"TOKEN": SECRET}))
    assert (server.env, server.secrets) == ({"A": SECRET}, [SECRET])
