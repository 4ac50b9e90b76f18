"""Real agents at a desk: a world of their own, and a scripted model that they ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents_manager.agents import login_shell
from agents_manager.testing.scripted_model import ModelServer
from tests.real_agents.desk import AGENTS


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A login shell whose PATH has the agents, as after a proper installation."""
    if not AGENTS.exists():
        pytest.skip("the agents are not installed: make test-agents")
    folders = [*AGENTS.glob("*/node_modules/.bin"), AGENTS / "aider" / "bin"]
    # Node.js first: the one of the machine may be too old.
    folders.sort(key=lambda folder: folder.parts[-3] != "node")
    found = ":".join(map(str, folders))
    shell = tmp_path / "shell"
    shell.write_text(f'#!/bin/sh\nPATH="{found}:$PATH"\nfor last; do :; done\neval "$last"\n')
    shell.chmod(0o755)
    monkeypatch.setenv("SHELL", str(shell))
    # How long a program is asked for its version is not what is tried here.
    monkeypatch.setattr("agents_manager.agents.programs.PATIENCE_S", 120.0)
    login_shell.path.cache_clear()
    yield
    login_shell.path.cache_clear()
