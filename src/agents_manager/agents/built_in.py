"""The adapters of agents that come with the product."""

from agents_manager.agents.acp import AcpAgent
from agents_manager.agents.acp_profiles import PROFILES
from agents_manager.agents.claude_code import ClaudeCodeAgent
from agents_manager.agents.codex import CodexAgent
from agents_manager.agents.command import CommandAgent
from agents_manager.agents.command_profiles import COMMANDS
from agents_manager.agents.config import (
    AcpConfig,
    ClaudeCodeConfig,
    CodexConfig,
    CommandConfig,
    ScriptedConfig,
)
from agents_manager.agents.scripted import ScriptedAgent
from agents_manager.plugins import Additions


def register(add: Additions) -> None:
    add.agent("scripted", ScriptedConfig, lambda _, config: ScriptedAgent(config))
    add.agent("command", CommandConfig, CommandAgent, profiles=COMMANDS)
    add.agent("claude-code", ClaudeCodeConfig, ClaudeCodeAgent)
    add.agent("codex", CodexConfig, CodexAgent)
    add.agent("acp", AcpConfig, AcpAgent, profiles=PROFILES)
