"""The settings of an agent, as they stand under `agents` in a configuration file."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, cast

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from agents_manager.agents.acp_gate import Policy
from agents_manager.agents.acp_profiles import PROFILES
from agents_manager.agents.command_profiles import COMMANDS
from agents_manager.domain.host import LABEL
from agents_manager.domain.run import Limits
from agents_manager.domain.run_settings import RunSettings
from agents_manager.errors import closest

PLACEHOLDERS = ("prompt_file", "prompt", "mode", "model", "home")
CODEX_FIXED = (
    *("approval_policy", "default_permissions", "mcp_servers", "permissions", "profile"),
    *("sandbox_mode", "sandbox_workspace_write", "shell_environment_policy"),
)
"""Settings of Codex that say what its commands may do."""


Label = Annotated[str, Field(pattern=f"^{LABEL}$")]


class AgentConfig(RunSettings):
    """What every agent can be told."""

    display_name: str | None = None
    """How people see it called; its own name where left out."""
    base_branch: str | None = Field(default=None, min_length=1)
    """Where the work of tasks is merged to that it is the first to work at; the project's where
    left out."""
    branch_prefix: str | None = None
    """What the branches of these tasks begin with; as the project's do where left out."""
    auto_push: bool | None = None
    """Push its branches where there is a remote; as the project does where left out."""
    branch_strategy: Literal["new-per-task"] | None = None
    """As the project's."""
    runs_on: tuple[Label, ...] = ()
    """The labels that a machine must have for it, beside those of the project, where several share
    a Postgres database."""

    @property
    def limits(self) -> Limits:
        silence_ms = self.silence_timeout_ms
        return Limits(
            timeout_s=self.timeout_ms / 1000,
            silence_s=None if silence_ms is None else silence_ms / 1000,
            turns=self.max_turns,
            output_bytes=self.output_bytes,
        )


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


class AcpConfig(AgentConfig):
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


class ClaudeCodeConfig(AgentConfig):
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


class CodexConfig(AgentConfig):
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


CONFIGS: Mapping[str, type[AgentConfig]] = {
    "scripted": ScriptedConfig,
    "command": CommandConfig,
    "claude-code": ClaudeCodeConfig,
    "codex": CodexConfig,
    "acp": AcpConfig,
}
"""The model of each adapter. An agent with the name of an adapter need not name it again."""

BUILT_IN: Mapping[str, AgentConfig] = {
    "scripted": ScriptedConfig(),
    "claude-code": ClaudeCodeConfig(),
    "codex": CodexConfig(),
    **{name: AcpConfig.model_validate({"profile": name}) for name in PROFILES},
    **{name: CommandConfig.model_validate({"profile": name}) for name in COMMANDS},
}
"""Agents that need no configuration."""

KNOWN: Mapping[str, Mapping[str, str]] = {
    **{name: {"adapter": name} for name in CONFIGS},
    **{name: {"adapter": "acp", "profile": name} for name in PROFILES},
    **{name: {"adapter": "command", "profile": name} for name in COMMANDS},
}
"""What the name of an agent says by itself."""

AnyConfig: TypeAlias = Annotated[
    ScriptedConfig | CommandConfig | ClaudeCodeConfig | CodexConfig | AcpConfig,
    Field(discriminator="adapter"),
]


def _named(value: object) -> object:
    """Says the adapter and the profile where the name of an agent does."""
    if not isinstance(value, dict):
        return value
    agents = cast("dict[str, Any]", value)
    return {
        name: _completed(name, cast("dict[str, Any]", entry)) if isinstance(entry, dict) else entry
        for name, entry in agents.items()
    }


def _completed(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    known = KNOWN.get(name, {})
    return {**known, **entry} if entry.get("adapter") in (None, known.get("adapter")) else entry


AgentConfigs: TypeAlias = Annotated[Mapping[str, AnyConfig], BeforeValidator(_named)]
