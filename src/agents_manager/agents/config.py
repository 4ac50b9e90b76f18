"""The settings of an agent, as they stand under `agents` in a configuration file."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from agents_manager.agents.acp_gate import Policy
from agents_manager.agents.acp_profiles import PROFILES
from agents_manager.agents.command_profiles import COMMANDS
from agents_manager.errors import closest
from agents_manager.flow.ports import AgentConfig, McpServer, McpServers

PLACEHOLDERS = ("prompt_file", "prompt", "mode", "model", "home")
CODEX_FIXED = (
    *("approval_policy", "default_permissions", "mcp_servers", "permissions", "profile"),
    *("sandbox_mode", "sandbox_workspace_write", "shell_environment_policy"),
)
"""Settings of Codex that say what its commands may do."""


class ScriptedConfig(AgentConfig):
    """The scripted agent."""

    adapter: Literal["scripted"] = "scripted"
    """The scripted agent."""
    script: Mapping[str, Any] | None = None
    """A script for every task that brings none of its own."""
    script_file: str | None = None
    """The same as a YAML or JSON file, absolute or relative to the project."""


def _argument(argument: str) -> str:
    if "\x00" in argument:
        raise ValueError("an argument cannot hold a NUL character")
    for name in re.findall(r"\{(\w+)\}", argument):
        meant = closest(name, PLACEHOLDERS)
        if name not in PLACEHOLDERS and meant:
            raise ValueError(f'there is no placeholder "{name}".{meant}')
    return argument


def _with_command(value: object, known: Mapping[str, Sequence[str]]) -> object:
    """The command line of the profile where none is given."""
    if not isinstance(value, dict):
        return value
    entry = cast("dict[str, Any]", value)
    name = entry.get("profile")
    if not isinstance(name, str):
        return entry
    if name not in known:
        raise ValueError(f'there is no profile "{name}".{closest(name, list(known))}')
    return {"command": list(known[name]), **entry}


def _passed_on(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f'"{name}" cannot be the name of an environment variable')
    if name.startswith("AM_"):
        raise ValueError(f'"{name}" belongs to Agents Manager and is not passed on')
    return name


class CommandConfig(AgentConfig):
    """A program of your own."""

    adapter: Literal["command"] = "command"
    """A program of your own."""
    profile: str | None = None
    """A program whose command line is known: `aider`."""
    command: tuple[Annotated[str, AfterValidator(_argument)], ...] = Field(min_length=1)
    """The program and its arguments; `{prompt_file}`, `{prompt}`, `{mode}`, `{model}` and `{home}`
    are replaced. A program with a slash is looked for in the folder of the project, or of the data
    directory when named there; others on the PATH. Those of the profile where left out."""
    env: tuple[Annotated[str, AfterValidator(_passed_on)], ...] = ()
    """Names of environment variables that are passed on to it, beside the usual ones."""

    @model_validator(mode="before")
    @classmethod
    def _profiled(cls, value: object) -> object:
        return _with_command(value, {name: known.command for name, known in COMMANDS.items()})


class McpAgentConfig(AgentConfig):
    """What agents can be told that take MCP servers."""

    mcp_servers: McpServers = Field(default_factory=dict[str, McpServer])
    """MCP servers for it, by name, beside those of the key `mcpServers`."""


class AcpConfig(McpAgentConfig):
    """An agent that speaks the Agent Client Protocol."""

    adapter: Literal["acp"] = "acp"
    """An agent that speaks the Agent Client Protocol."""
    profile: str | None = None
    """Which agent it is, where its own name does not say so: `gemini`, `opencode`, `qwen`,
    `copilot`, `kimi`, `claude-acp`, `codex-acp`, `cursor` or `goose`."""
    command: tuple[Annotated[str, AfterValidator(_argument)], ...] = Field(min_length=1)
    """The program and its arguments; those of the profile where left out."""
    env: tuple[Annotated[str, AfterValidator(_passed_on)], ...] = ()
    """Names of environment variables that are passed on to it, beside the usual ones and those of
    its profile."""
    permissions: Policy = Policy.WORKSPACE
    """`workspace`: what it wants to change in the workspace and the commands it wants to run are
    allowed, and a person is asked for the rest. `ask`: a person is asked for all of that."""
    max_permissions: int = Field(default=500, gt=0)
    """How often it may ask for a permission in a turn."""
    start_timeout_ms: int = Field(default=60_000, gt=0, alias="startTimeout")
    """How long it may take to begin a session, in milliseconds."""

    @model_validator(mode="before")
    @classmethod
    def _profiled(cls, value: object) -> object:
        return _with_command(value, {name: known.command for name, known in PROFILES.items()})


class ClaudeCodeConfig(McpAgentConfig):
    """Claude Code."""

    adapter: Literal["claude-code"] = "claude-code"
    """Claude Code, by its SDK."""
    gateway: bool = False
    """Whether it asks its model through the server, so that it does not get your key
    (`ANTHROPIC_API_KEY` or `ANTHROPIC_AUTH_TOKEN` of the server), but one for its run alone."""
    env: tuple[Annotated[str, AfterValidator(_passed_on)], ...] = ()
    """Names of environment variables that are passed on to it, beside the usual ones and those of
    its account."""
    permissions: Literal["refuse", "workspace", "ask"] = "refuse"
    """Of runs that work: `refuse`: files outside of the workspace are not written. `workspace`: a
    person is asked for those. `ask`: a person is asked for every change and every command."""


def _codex_setting(key: str) -> str:
    if key.split(".")[0] in CODEX_FIXED:
        raise ValueError(f'"{key}" is set by Agents Manager, so that the sandbox stays as it is')
    return key


class CodexConfig(McpAgentConfig):
    """Codex."""

    adapter: Literal["codex"] = "codex"
    """Codex."""
    command: tuple[Annotated[str, AfterValidator(_argument)], ...] = Field(
        default=("codex",), min_length=1
    )
    """The program, with arguments that come before `exec`."""
    gateway: bool = False
    """Whether it asks its model through the server, so that it does not get your key
    (`CODEX_API_KEY` or `OPENAI_API_KEY` of the server, or the variable that the `env_key` of its
    model provider names), but one for its run alone."""
    env: tuple[Annotated[str, AfterValidator(_passed_on)], ...] = ("CODEX_API_KEY",)
    """Names of environment variables that are passed on to it, beside the usual ones; the commands
    it runs do not see them."""
    settings: Mapping[Annotated[str, AfterValidator(_codex_setting)], Any] = Field(
        default_factory=dict[str, Any]
    )
    """Settings of Codex's own, as in its `config.toml`, by dotted keys."""


class LostConfig(AgentConfig):
    """An agent whose adapter may be that of a plugin that could not be used."""

    model_config = ConfigDict(extra="ignore")

    adapter: Literal["lost"] = "lost"
    named: str
    """The adapter that was asked for."""
