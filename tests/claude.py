"""The real Claude Code against a scripted model: no account, no network."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agents_manager.testing.scripted_model import ModelServer

MODEL = "claude-sonnet-4-5"
SCENARIO = "x"
SETTINGS: Mapping[str, Any] = {"model": MODEL, "env": ["CLAUDE_CODE_MAX_RETRIES"]}
"""With one retry of a failed request, not ten."""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server
        server.check()


@pytest.fixture
def account(
    server: ModelServer, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> ModelServer:
    """A user whose key is good for the scripted model alone."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url(SCENARIO))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "scripted")
    monkeypatch.setenv("CLAUDE_CODE_MAX_RETRIES", "1")
    return server
