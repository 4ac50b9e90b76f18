"""What somebody who watches sees of models that are asked through the gateway."""

from dataclasses import replace

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from agents_manager.bootstrap import Program
from agents_manager.telemetry.otel import span_id
from agents_manager.testing.scripted_model import ModelServer, Say
from tests.api.test_gateway import MODEL, Agent, X, agent, model
from tests.traces import Watcher, attributes

__all__ = ["agent", "model"]


@pytest.fixture
def watcher() -> Watcher:
    return Watcher()


@pytest.fixture
def program(program: Program, watcher: Watcher) -> Program:
    return replace(program, services=replace(program.services, traces=watcher.traces()))


async def test_each_request_is_seen(
    agent: Agent, model: ModelServer, watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.script(X, [Say("Hello.")], side=None)
    assert (await agent.ask()).status_code == 200
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    assert (await agent.ask()).status_code == 502
    good, bad = watcher.spans("chat")
    assert (good.kind, good.status.status_code) == (SpanKind.CLIENT, StatusCode.UNSET)
    said = attributes(good)
    assert (said["gen_ai.operation.name"], said["gen_ai.request.model"]) == ("chat", MODEL)
    assert said["gen_ai.provider.name"] == "anthropic"
    assert (said["gen_ai.usage.input_tokens"], said["gen_ai.usage.output_tokens"]) == (100, 10)
    assert "Hello." not in str(said)
    assert good.parent is not None
    assert good.parent.span_id == span_id(f"run {agent.run.id}")
    assert (bad.status.status_code, attributes(bad)["error.type"]) == (
        StatusCode.ERROR,
        "no_answer",
    )
