"""Every adapter as a player of the same steps, so that one suite holds them all to the port."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from agents_manager.agents.acp import AcpAgent
from agents_manager.agents.acp_profiles import PROFILES, Counts
from agents_manager.agents.claude_code import ClaudeCodeAgent
from agents_manager.agents.command import CommandAgent
from agents_manager.agents.config import (
    AcpConfig,
    ClaudeCodeConfig,
    CommandConfig,
    ScriptedConfig,
)
from agents_manager.agents.scripted import PLAY, ScriptedAgent
from agents_manager.flow.ports import Agent

FAKE = Path(__file__).parent.parent / "acp_agent.py"
Player = Callable[..., Agent]
"""An agent that plays the steps given, with settings that every agent has."""


def scripted(folder: Path, *steps: Any, **settings: Any) -> Agent:
    script = {"default": [list(steps)]}
    return ScriptedAgent(ScriptedConfig.model_validate({"script": script, **settings}))


def command(folder: Path, *steps: Any, **settings: Any) -> Agent:
    """The same steps, played by a program that knows nothing of our jobs."""
    file = folder / "steps.json"
    pairs = [pair for step in steps for pair in step.items()]
    kept = str(folder / "session")
    file.write_text(json.dumps({"session": "s", "kept": kept, "lost": False, "steps": pairs}))
    argv = [sys.executable, "-I", "-S", str(PLAY), str(file)]
    return CommandAgent("player", CommandConfig.model_validate({"command": argv, **settings}))


def claude_code(folder: Path, *steps: Any, **settings: Any) -> Agent:
    """Plays no steps: what it does is up to a model."""
    return ClaudeCodeAgent("claude-code", ClaudeCodeConfig.model_validate(settings))


def acp(folder: Path, *steps: Any, **settings: Any) -> Agent:
    """The same steps, played over the Agent Client Protocol by an agent that nobody described."""
    script = {"steps": list(steps), **settings.pop("script", {})}
    file = folder / "acp-script.json"
    file.write_text(json.dumps(script))
    entry = {"command": [sys.executable, "-I", "-S", str(FAKE), str(file)], **settings}
    return AcpAgent(settings.get("profile", "player"), AcpConfig.model_validate(entry))


def profiled(profile: str) -> Player:
    """An agent in the ways of a profile: its modes, its numbers, its files."""
    known = PROFILES[profile]
    modes = {"availableModes": [{"id": known.mode, "name": "x"}], "currentModeId": "other"}
    session = {"modes": modes} if known.mode else {}

    def player(folder: Path, *steps: Any, **settings: Any) -> Agent:
        script = {"session": session, "counts": known.counts}
        return acp(folder, *steps, profile=profile, script=script, **settings)

    return player


PLAYERS: Mapping[str, Player] = {"scripted": scripted, "command": command, "acp": acp}
if os.environ.get("AM_TEST_PROFILES"):
    # Each brings a process of its own that takes a second to start: `make test-agents` does.
    PLAYERS = {**PLAYERS, **{f"acp-{name}": profiled(name) for name in PROFILES}}
# The quick lane tests ACP by `tests/integration/test_acp_driver.py`.
NAMES = [
    pytest.param(name, marks=pytest.mark.slow) if name.startswith("acp") else pytest.param(name)
    for name in PLAYERS
]
SILENT = [f"acp-{name}" for name, known in PROFILES.items() if known.counts is Counts.NOWHERE]
"""Players that do not tell what they used."""
