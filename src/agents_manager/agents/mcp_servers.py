"""The MCP servers of an agent for one turn: programs found, variables put in."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agents_manager import redaction
from agents_manager.agents import programs
from agents_manager.errors import AgentNotInstalled, InvalidConfig
from agents_manager.flow.ports import McpServer, Needs, ServerType

_EXPANSION = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyServer:
    """A server whose program was found and whose variables have their values."""

    name: str
    type: ServerType
    command: str = ""
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    secrets: Sequence[str] = field(default=(), repr=False)
    """The values of variables, to keep out of what is printed."""

    def as_json(self) -> Mapping[str, Any]:
        """The entry of an `.mcp.json`."""
        if self.type == "stdio":
            return {
                "type": "stdio",
                "command": self.command,
                "args": list(self.args),
                "env": dict(self.env),
            }
        return {"type": self.type, "url": self.url, "headers": dict(self.headers)}


@dataclass(frozen=True, slots=True)
class Owner:
    """The agent that gets servers, and where their programs and variables are looked for."""

    agent: str
    path: str
    variables: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Those of the project's runs, before those of this process."""


def ready(servers: Mapping[str, McpServer], owner: Owner) -> list[ReadyServer]:
    """Returns the servers of an agent; raises AgentNotInstalled if a program is missing and
    InvalidConfig if a variable is."""
    return [_ready(name, server, owner) for name, server in servers.items()]


def needed(needs: Needs, servers: Sequence[ReadyServer]) -> Needs:
    """Returns what a job needs in a sandbox to use the servers, too."""
    return replace(
        needs,
        programs=(*needs.programs, *(s.command for s in servers if s.command)),
        addresses=(*needs.addresses, *(s.url for s in servers if s.url)),
    )


def secrets(servers: Sequence[ReadyServer]) -> tuple[str, ...]:
    return tuple(secret for server in servers for secret in server.secrets)


def _ready(name: str, server: McpServer, owner: Owner) -> ReadyServer:
    values = _Values(f'MCP server "{name}" of agent "{owner.agent}"', owner.variables)
    command = ""
    if server.command is not None:
        found = programs.look_for(server.command, owner.path)
        if found is None:
            raise AgentNotInstalled(
                f'The program "{server.command}" of {values.owner} was not found. Install it, or'
                " correct mcpServers."
            )
        command = found
    return ReadyServer(
        name=name,
        type=server.kind,
        command=command,
        args=server.args,
        env={key: values.expand(value) for key, value in server.env.items()},
        url=values.expand(server.url or ""),
        headers={key: values.expand(value) for key, value in server.headers.items()},
        secrets=values.secrets,
    )


class _Values:
    """Expands variables and remembers their values."""

    def __init__(self, owner: str, variables: Mapping[str, str]) -> None:
        self.owner = owner
        self._variables = {**os.environ, **variables}
        self._used: dict[str, None] = {}

    @property
    def secrets(self) -> list[str]:
        return sorted({s for value in self._used for s in redaction.secrets_of({"KEY": value})})

    def expand(self, text: str) -> str:
        return _EXPANSION.sub(self._value, text)

    def _value(self, match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        value = self._variables.get(name)
        if value is not None:
            self._used[value] = None
        elif default is None:
            raise InvalidConfig(
                f'{self.owner} needs the variable "{name}", which is not set. Set it where the'
                " server is started and restart the server, or name it in env of the project."
            )
        return default if value is None else value
