"""A scripted model, and a world whose agents ask it."""

from collections.abc import Iterator

import pytest

from agents_manager.testing.scripted_model import CODEX_KEY, ModelServer
from tests.agents.codex_desk import Desk
from tests.worlds import World


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def desk(world: World, model: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv(CODEX_KEY, "scripted")
    return Desk(world, model)
