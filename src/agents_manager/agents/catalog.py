"""Which agents there are: the adapters, under the names a project's configuration gives them."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from agents_manager.agents.acp import AcpAgent
from agents_manager.agents.claude_code import ClaudeCodeAgent
from agents_manager.agents.codex import CodexAgent
from agents_manager.agents.command import CommandAgent
from agents_manager.agents.config import (
    BUILT_IN,
    AcpConfig,
    AgentConfig,
    ClaudeCodeConfig,
    CodexConfig,
    CommandConfig,
    ScriptedConfig,
)
from agents_manager.agents.scripted import ScriptedAgent
from agents_manager.domain.task import Project
from agents_manager.errors import AgentNotFound, InvalidConfig, closest
from agents_manager.flow.ports import Agent

NOTHING: Mapping[str, Any] = {}


class AgentCatalog:
    def __init__(self, configured: Callable[[Project | None], Mapping[str, AgentConfig]]) -> None:
        self._configured = configured

    def get(
        self, name: str, project: Project | None, settings: Mapping[str, Any] = NOTHING
    ) -> Agent:
        known = self._configs(project)
        if name not in known:
            raise AgentNotFound(
                f'There is no agent "{name}".{closest(name, sorted(known))}'
                f" Known: {', '.join(sorted(known))}."
            )
        return _adapter(name, _with(name, known[name], settings))

    def known(self, project: Project | None) -> Mapping[str, Agent]:
        return {name: _adapter(name, config) for name, config in self._configs(project).items()}

    def _configs(self, project: Project | None) -> Mapping[str, AgentConfig]:
        return {**BUILT_IN, **self._configured(project)}


def _with(name: str, config: AgentConfig, settings: Mapping[str, Any]) -> AgentConfig:
    """The parameters of hooks may be older than the keys and their meaning."""
    if not settings:
        return config
    merged = {**config.model_dump(by_alias=True), **settings}
    try:
        return type(config).model_validate(merged)
    except ValidationError as error:
        why = [f"{f['loc'][0]}: {f['msg']}" for f in error.errors(include_url=False)]
        raise InvalidConfig(
            f'Agent "{name}" cannot be told what was set for this run.', why
        ) from None


def _adapter(name: str, config: AgentConfig) -> Agent:
    match config:
        case ScriptedConfig():
            return ScriptedAgent(config)
        case CommandConfig():
            return CommandAgent(name, config)
        case ClaudeCodeConfig():
            return ClaudeCodeAgent(name, config)
        case CodexConfig():
            return CodexAgent(name, config)
        case AcpConfig():
            return AcpAgent(name, config)
        case _:
            raise AssertionError(f"{type(config).__name__} has no adapter")
