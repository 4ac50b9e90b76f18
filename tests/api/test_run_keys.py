"""What an agent is given opens its own side doors while its turn lasts, and nothing of people's."""

import hashlib
import hmac
from typing import Any

import httpx
import pytest

from agents_manager.api import gate
from agents_manager.api.app import Application
from agents_manager.api.bodies import MAX_BYTES
from agents_manager.bootstrap import Program
from agents_manager.domain import strict_json
from agents_manager.domain.run import Run
from agents_manager.flow import access
from tests.api.scenes import PORT, Scene, told
from tests.hostile import parsers, routes


@pytest.fixture
async def run(scene: Scene) -> Run:
    return (await scene.running())[1]


async def test_no_route_is_opened_by_a_key_of_a_run(
    app: Application, stranger: httpx.AsyncClient, program: Program, run: Run
) -> None:
    assert len(routes.operations(app)) > 80
    for key in routes.run_keys(program, run).values():
        assert await routes.let_in(app, stranger, routes.ways(key)[0]) == []
        for way in routes.ways(key)[1:]:
            told(await stranger.get("/api/v1/tasks", headers=way), 401, "Unauthenticated")
            told(await stranger.post("/api/v1/tasks", headers=way), 401, "Unauthenticated")


async def test_the_keys_of_a_run_do_not_open_each_others_doors(
    stranger: httpx.AsyncClient, program: Program, run: Run
) -> None:
    keys = routes.run_keys(program, run)
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    report, model = f"/mcp/run/{run.id}", f"/model/run/{run.id}/v1/messages"
    for path, wrong in ((report, keys["model"]), (model, keys["report"])):
        for way in routes.ways(wrong)[:3]:
            told(await stranger.post(path, json=ping, headers=way), 401, "Unauthenticated")
    opened = await stranger.post(report, json=ping, headers=routes.ways(keys["report"])[0])
    assert opened.status_code == 200


async def test_a_person_s_token_is_no_key_of_a_run(api: httpx.AsyncClient, run: Run) -> None:
    for path in (f"/mcp/run/{run.id}", f"/model/run/{run.id}/v1/messages"):
        told(await api.post(path, json={}), 401, "Unauthenticated")


async def test_without_the_gate_a_key_of_a_run_would_open_everything(
    stranger: httpx.AsyncClient,
    program: Program,
    run: Run,
    token: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner = await program.services.store.read(lambda tx: tx.access.find(access.digest_of(token)))

    async def anybody(*_: object) -> object:
        return owner

    monkeypatch.setattr(gate.Tokens, "_known", anybody)
    key = routes.run_keys(program, run)["report"]
    assert (await stranger.get("/api/v1/tokens", headers=routes.ways(key)[0])).status_code == 200


async def test_no_websocket_is_accepted(app: Application) -> None:
    """There is none; whoever tries is turned away whatever they bring."""
    sent: list[Any] = []

    async def receive() -> dict[str, str]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    for path in ("/", "/api/v1/events/stream", "/mcp", "/ws"):
        scope = {
            "type": "websocket",
            "path": path,
            "query_string": b"",
            "headers": [(b"host", f"127.0.0.1:{PORT}".encode())],
            "subprotocols": [],
        }
        await app(scope, receive, send)
    assert {message["type"] for message in sent} == {"websocket.close"}


async def test_hostile_bodies_are_refused(
    api: httpx.AsyncClient, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where they are signed."""
    monkeypatch.setenv("AM_GITHUB_WEBHOOK_SECRET", "a-secret-for-tests")
    for name, text in parsers.JSON.items():
        body = text.encode("utf-8", "surrogatepass")
        digest = hmac.new(b"a-secret-for-tests", body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "X-Hub-Signature-256": f"sha256={digest}",
            "X-GitHub-Delivery": f"d-{abs(hash(name))}",
        }
        for path in ("/api/v1/tasks", "/api/v1/pipelines", gate.WEBHOOK):
            response = await api.post(path, content=body, headers=headers)
            assert response.status_code in (401, 413, 422, 202), (name, path, response.text)
            if response.status_code == 202:
                assert strict_json.loads(text, max_bytes=MAX_BYTES, max_depth=32) is not None
