"""A scripted model and clients of every API it has, streaming and not."""

from collections.abc import Iterator

import pytest

from agents_manager.testing.scripted_model import ModelServer
from tests.contract.model_clients import APIS, Client, Connect


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(params=[f"{api}-{way}" for api in APIS for way in ("stream", "whole")])
def connect(request: pytest.FixtureRequest, server: ModelServer) -> Connect:
    api, _, way = request.param.partition("-")

    def connected(scenario: str = "x", tools: tuple[str, ...] = ("look",)) -> Client:
        return APIS[api](server.url(scenario), stream=way == "stream", tools=tools)

    return connected
