"""Every adapter as a player of the same steps, so that one suite holds them all to the port."""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agents_manager.agents.claude_code import ClaudeCodeAgent
from agents_manager.agents.command import CommandAgent
from agents_manager.agents.config import ClaudeCodeConfig, CommandConfig, ScriptedConfig
from agents_manager.agents.scripted import PLAY, ScriptedAgent
from agents_manager.flow.ports import Agent

Player = Callable[..., Agent]
"""An agent that plays the steps given, with settings that every agent has."""


def scripted(folder: Path, *steps: Any, **settings: Any) -> Agent:
    script = {"default": [list(steps)]}
    return ScriptedAgent(ScriptedConfig.model_validate({"script": script, **settings}))


def command(folder: Path, *steps: Any, **settings: Any) -> Agent:
    """The same steps, played by a program that knows nothing of our jobs."""
    file = folder / "steps.json"
    pairs = [pair for step in steps for pair in step.items()]
    file.write_text(json.dumps({"session": "s", "steps": pairs}))
    argv = [sys.executable, "-I", "-S", str(PLAY), str(file)]
    return CommandAgent("player", CommandConfig.model_validate({"command": argv, **settings}))


def claude_code(folder: Path, *steps: Any, **settings: Any) -> Agent:
    """Plays no steps: what it does is up to a model."""
    return ClaudeCodeAgent("claude-code", ClaudeCodeConfig.model_validate(settings))


PLAYERS: Mapping[str, Player] = {"scripted": scripted, "command": command}
ADAPTERS: Mapping[str, Player] = {**PLAYERS, "claude-code": claude_code}
