"""MCP servers that people give to agents, as they are configured."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from agents_manager.flow.ports.config_bases import Keys

ServerType = Literal["stdio", "http", "sse"]
OWN_SERVER = "agents_manager"
"""The server of the product in every run, with hyphens as underscores."""
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,62}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _server_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(
            f'"{name}" cannot be the name of an MCP server: use at most 63 letters, digits, "-" and'
            ' single "_"'
        )
    if name.lower().replace("-", "_").startswith(OWN_SERVER):
        raise ValueError(f'"{name}" is reserved for the server of Agents Manager; choose another')
    return name


def _variable_name(name: str) -> str:
    if not _VARIABLE.fullmatch(name) or name.startswith("AM_"):
        raise ValueError(f'"{name}" cannot be a variable of an MCP server')
    return name


def _literal(text: str) -> str:
    if "${" in text or "\x00" in text:
        raise ValueError(
            "variables are not expanded here, as everyone on the machine can read a command line;"
            " put the variable into env"
        )
    return text


class McpServer(Keys):
    """An MCP server for agents, in the form of `.mcp.json`."""

    type: ServerType | None = None
    """`stdio` is a program, `http` and `sse` are addresses; by default `stdio` with a command and
    `http` with a URL."""
    command: Annotated[str, AfterValidator(_literal)] | None = Field(default=None, min_length=1)
    """The program. One with a slash is looked for from the folder of the project, or of the data
    directory when named there; others on the PATH."""
    args: tuple[Annotated[str, AfterValidator(_literal)], ...] = ()
    """Arguments of the program."""
    env: Mapping[Annotated[str, AfterValidator(_variable_name)], str] = Field(
        default_factory=dict[str, str]
    )
    """Variables of the program. `${NAME}` stands for a variable of the project's runs or of the
    server of Agents Manager, `${NAME:-default}` for one that may be missing."""
    url: str | None = Field(default=None, pattern=r"^(https?://|\$\{)")
    """The address; variables are expanded as in `env`."""
    headers: Mapping[Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")], str] = Field(
        default_factory=dict[str, str]
    )
    """Headers of every request; variables are expanded as in `env`."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("an MCP server has either a command or a url")
        if (self.kind == "stdio") != (self.command is not None):
            raise ValueError(f'an MCP server of type "{self.kind}" has no such address')
        if self.url is None and self.headers:
            raise ValueError("headers are for a url")
        if self.command is None and (self.args or self.env):
            raise ValueError("args and env are for a command")
        return self

    @property
    def kind(self) -> ServerType:
        return self.type or ("http" if self.command is None else "stdio")


McpServers = Mapping[Annotated[str, AfterValidator(_server_name)], McpServer]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """What an attempt to use an MCP server came to."""

    name: str
    type: ServerType
    place: str
    """The program or the address, as it is configured."""
    tools: int | None = None
    """How many tools it offers; None if it could not be used."""
    problem: str = ""
