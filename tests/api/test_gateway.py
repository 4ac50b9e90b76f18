"""The model gateway over real HTTP, with the scripted model as the provider: what goes through it
and what does not. Each measure is switched off once, and what it refused then passes."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents_manager.agents import providers
from agents_manager.bootstrap import Program
from agents_manager.domain.run import Run, RunStatus
from agents_manager.flow import agents
from agents_manager.flow.runs import counts, keys, places
from agents_manager.flow.runs import gateway as door
from agents_manager.sandbox import gateway
from agents_manager.testing.scripted_model import Hang, ModelServer, Say, Status, Turn
from tests import figures
from tests.api.scenes import Scene, serving, told

REAL = "sk-real-0123456789abcdef"
MODEL = "claude-sonnet-4-5"
ASKED = {"model": MODEL, "max_tokens": 10, "messages": [{"role": "user", "content": "Hi"}]}
STREAMED = {**ASKED, "stream": True}
ONE_REQUEST = (100 * 3 + 10 * 15) / 1e6
X = "x"


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url(X))
        monkeypatch.setenv("ANTHROPIC_API_KEY", REAL)
        yield server


@dataclass
class Agent:
    """The client of an agent with the key of its turn."""

    program: Program
    run: Run
    client: httpx.AsyncClient
    key: str

    @property
    def folder(self) -> Path:
        return places.job_dir(self.program.services, self.run.id, 1)

    def url(self, path: str = "/v1/messages") -> str:
        return f"/model/run/{self.run.id}{path}"

    async def ask(self, body: Any = ASKED, path: str = "/v1/messages") -> httpx.Response:
        return await self.client.post(self.url(path), json=body)

    async def row(self) -> Run:
        return await self.program.services.store.read(lambda tx: tx.runs.get(self.run.id))


def configure(program: Program, **config: Any) -> None:
    agents = {"claude-code": {"gateway": True, "model": MODEL}}
    home = program.settings.home
    (home / "config.json").write_text(json.dumps({"agents": agents, **config}))


def opened(folder: Path) -> str:
    key = keys.new(folder, door.KEYS)
    counts.begin(folder, [])
    return key


@pytest.fixture
async def agent(program: Program, scene: Scene, model: ModelServer) -> AsyncIterator[Agent]:
    configure(program)
    _, run = await scene.running()
    now = program.services.clock.now()
    begun = {"agent": "claude-code", "model": MODEL, "started_at": now}
    await program.services.store.write(lambda tx: tx.runs.update(run.id, **begun))
    key = opened(places.job_dir(program.services, run.id, 1))
    async with serving(program) as client:
        del client.headers["authorization"]
        client.headers.update({"x-api-key": key, "anthropic-version": "2023-06-01"})
        yield Agent(program, run, client, key)


async def test_the_key_is_swapped_and_what_is_used_is_counted(
    agent: Agent, model: ModelServer
) -> None:
    model.script(X, [Say("Hello.")], side=None)
    agent.client.headers.update({"cookie": "a=b", "anthropic-beta": "one", "x-private": "p"})
    agent.client.headers["connection"] = "keep-alive, x-private"
    answer = await agent.client.post(agent.url() + "?beta=true", json=ASKED)
    assert answer.status_code == 200
    assert answer.json()["content"][0]["text"] == "Hello."
    (asked,) = model.requests(X)
    assert asked.path.endswith("/v1/messages?beta=true")
    assert (asked.headers["x-api-key"], asked.headers["anthropic-beta"]) == (REAL, "one")
    assert {"cookie", "x-private"}.isdisjoint(asked.headers)
    assert agent.key not in str(asked.headers)
    row = await agent.row()
    assert row.usage is not None
    assert (row.usage.input_tokens, row.usage.output_tokens) == (100, 10)
    assert row.cost_usd == pytest.approx(ONE_REQUEST)


async def test_a_stream_passes_as_it_comes(agent: Agent, model: ModelServer) -> None:
    model.script(X, [Hang(Turn([Say("One two three.")], piece=4), midway=True)], side=None)
    async with agent.client.stream("POST", agent.url(), json=STREAMED) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        pieces = answer.aiter_bytes()
        heard = await anext(pieces)
        assert b"message_start" in heard
        # Heard while the model is still at it.
        await asyncio.to_thread(model.wait_for, X, lambda seen: seen[0].state == "hanging")
        model.release(X)
        heard += b"".join([piece async for piece in pieces])
    events = [json.loads(line[5:]) for line in heard.splitlines() if line.startswith(b"data:")]
    said = [e["delta"]["text"] for e in events if e["type"] == "content_block_delta"]
    assert "".join(said) == "One two three."
    assert events[-1]["type"] == "message_stop"
    assert (await agent.row()).cost_usd == pytest.approx(ONE_REQUEST)


async def test_who_goes_is_not_answered_at_the_users_cost(agent: Agent, model: ModelServer) -> None:
    model.script(X, [Hang()], side=None)
    with pytest.raises(httpx.ReadTimeout):
        await agent.client.post(agent.url(), json=STREAMED, timeout=0.5)
    await asyncio.to_thread(model.wait_for, X, lambda seen: seen[-1].state == "gone")


async def test_errors_of_the_provider_pass_as_they_are(agent: Agent, model: ModelServer) -> None:
    model.script(X, [Status(429, "Slow down.", retry_after=7)], side=None)
    answer = await agent.ask()
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
    assert answer.json()["error"]["message"] == "Slow down."
    assert (await agent.row()).usage is None


async def test_a_provider_that_is_not_there_is_told(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    assert "cannot be reached" in told(await agent.ask(), 502, "ExternalError")["message"]


@pytest.mark.parametrize("followed", [False, True])
async def test_nobody_is_followed_elsewhere(
    agent: Agent, model: ModelServer, followed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the measure off, the request and its key go where the server leads to."""

    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 307 No\r\nLocation: {model.url(X)}/v1/messages\r\nContent-Length: 0"
        writer.write(f"{head}\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    if followed:
        client = httpx.AsyncClient
        follows = {"follow_redirects": True}
        monkeypatch.setattr(httpx, "AsyncClient", lambda **how: client(**{**how, **follows}))
        model.script(X, [Say("Hello.")], side=None)
    server = await asyncio.start_server(lead, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{port}")
        answer = await agent.ask()
    if not followed:
        told(answer, 502, "ExternalError")
    assert [asked.headers["x-api-key"] for asked in model.requests(X)] == [REAL] * followed


@pytest.mark.parametrize("plain", [False, True])
async def test_the_key_goes_nowhere_without_tls(
    agent: Agent, plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the measure off, anybody on the way could read it."""
    heard: list[bytes] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.close()

    if plain:
        monkeypatch.setattr(providers, "_checked", lambda agent, url: url)
    # Not one of the names of this machine.
    server = await asyncio.start_server(hear, "127.0.0.2", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.2:{port}")
        answer = await agent.ask()
    if not plain:
        assert "with https" in told(answer, 422, "InvalidInput")["message"]
    assert [REAL.encode() in head for head in heard] == [True] * plain


async def test_without_leaving_headers_out_the_agents_own_would_be_sent(
    agent: Agent, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.script(X, [Say("Hello.")], side=None)
    monkeypatch.setattr(gateway, "NOT_SENT", frozenset({"host", "content-length"}))
    agent.client.headers.update({"cookie": "a=b", "authorization": f"Bearer {agent.key}"})
    assert (await agent.ask()).status_code == 200
    (asked,) = model.requests(X)
    assert (asked.headers["cookie"], asked.headers["x-api-key"]) == ("a=b", REAL)
    assert agent.key in asked.headers["authorization"]


@pytest.mark.parametrize("measure", ["on", "off"])
async def test_a_file_of_the_project_leads_the_key_nowhere_unless_it_is_trusted(
    agent: Agent, model: ModelServer, repo: Path, measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.script(X, [Say("Hello.")], side=None)
    (repo / ".agents-manager").mkdir()
    said = {"agents": {"claude-code": {"gateway": True}}}
    (repo / ".agents-manager" / "config.json").write_text(json.dumps(said))
    if measure == "off":
        monkeypatch.setattr(agents, "trusted", lambda *_: True)
        assert (await agent.ask()).status_code == 200
    else:
        told(await agent.ask(), 422, "NotTrusted")
        assert model.requests(X) == []


async def foreign(agent: Agent, scene: Scene) -> httpx.Response:
    agent.client.headers["x-api-key"] = "sk-somebody-else"
    return await agent.ask()


async def of_another_run(agent: Agent, scene: Scene) -> httpx.Response:
    _, other = await scene.running("Another")
    folder = places.job_dir(scene.s, other.id, 1)
    agent.client.headers["x-api-key"] = opened(folder)
    return await agent.ask()


async def of_an_earlier_turn(agent: Agent, scene: Scene) -> httpx.Response:
    opened(places.job_dir(scene.s, agent.run.id, 2))
    return await agent.ask()


async def of_an_ended_run(agent: Agent, scene: Scene) -> httpx.Response:
    ended = {"status": RunStatus.COMPLETED, "ended_at": scene.s.clock.now()}
    await scene.s.store.write(lambda tx: tx.runs.update(agent.run.id, **ended))
    return await agent.ask()


@pytest.mark.parametrize("asking", [foreign, of_another_run, of_an_earlier_turn, of_an_ended_run])
async def test_other_keys_open_nothing(
    agent: Agent, scene: Scene, model: ModelServer, asking: Any
) -> None:
    told(await asking(agent, scene), 401, "Unauthenticated")
    assert model.requests(X) == []


@pytest.mark.parametrize("asking", [foreign, of_another_run, of_an_earlier_turn])
async def test_without_looking_at_keys_they_would(
    agent: Agent, scene: Scene, model: ModelServer, asking: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "_opened", lambda *_: agent.folder)
    model.script(X, [Say("Hello.")], side=None)
    assert (await asking(agent, scene)).status_code == 200


async def test_without_looking_at_the_run_its_key_would_outlive_it(
    agent: Agent, scene: Scene, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunStatus, "live", True)
    model.script(X, [Say("Hello.")], side=None)
    assert (await of_an_ended_run(agent, scene)).status_code == 200


async def test_no_key_and_no_run(agent: Agent) -> None:
    del agent.client.headers["x-api-key"]
    told(await agent.ask(), 401, "Unauthenticated")
    agent.client.headers["authorization"] = f"Bearer {agent.key}"
    told(await agent.client.post("/model/run/none/v1/messages", json=ASKED), 401, "Unauthenticated")
    told(await agent.client.get("/model"), 404, "NotFound")


OTHERS = [
    ("POST", "/v1/files"),
    ("GET", "/v1/messages"),
    ("POST", "/v1/messages/batches"),
    ("POST", "/v1/messages/../files"),
    ("POST", "/v1/messages%2f..%2ffiles"),
    ("POST", "//v1/messages"),
    ("GET", ""),
]


@pytest.mark.parametrize(("method", "path"), OTHERS)
async def test_only_what_the_agent_needs_goes_through(
    agent: Agent, model: ModelServer, method: str, path: str
) -> None:
    refused = told(await agent.client.request(method, agent.url(path), json={}), 403, "NotAllowed")
    assert "only POST /v1/messages, POST /v1/messages/count_tokens" in refused["message"]
    assert model.requests(X) == []


async def test_without_the_list_the_files_would(
    agent: Agent, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents_manager.agents.providers.ANTHROPIC", ("POST /v1/files",))
    model.script(X, [])
    await agent.ask(path="/v1/files")
    assert [r.path for r in model.requests(X)] == [f"/s/{X}/v1/files"]


async def test_what_is_too_large_is_not_sent(
    agent: Agent, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unannounced() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"x"

    model.script(X, [Say("Hello.")], side=None)
    monkeypatch.setattr(gateway, "MAX_BYTES", 10)
    told(await agent.ask(), 413, "TooLarge")
    told(await agent.client.post(agent.url(), content=unannounced()), 413, "TooLarge")
    assert model.requests(X) == []
    monkeypatch.setattr(gateway, "MAX_BYTES", 1000)
    assert (await agent.ask()).status_code == 200


async def test_a_used_up_budget_is_not_asked_beyond(agent: Agent, model: ModelServer) -> None:
    configure(agent.program, budgets={"taskUsd": 1.5 * ONE_REQUEST})
    model.script(X, [Say("Hello.")], side=None)
    assert (await agent.ask(STREAMED)).status_code == 200
    assert (await agent.ask(STREAMED)).status_code == 200
    refused = told(await agent.ask(STREAMED), 402, "BudgetUsedUp")
    assert refused["message"].startswith("The budget of this task is used up")
    assert len(model.requests(X)) == 2
    figures.note("G-12", "gateway", requests=len(model.requests(X)) - 1)
    assert (agent.folder / "stopped-for").read_text() == "budget", "the run is stopped, too"


async def test_without_looking_at_budgets_it_would_be(
    agent: Agent, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: object) -> None:
        pass

    monkeypatch.setattr(door, "admit", nothing)
    configure(agent.program, budgets={"taskUsd": 0.5 * ONE_REQUEST})
    model.script(X, [Say("Hello.")], side=None)
    assert [(await agent.ask()).status_code for _ in range(2)] == [200, 200]
