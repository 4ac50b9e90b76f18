"""Whether the server can do its work, and its figures: for whom, and what they say."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from agents_manager.api.app import build
from agents_manager.api.doors import doors
from agents_manager.api.stream import Feed
from agents_manager.bootstrap import Program
from agents_manager.flow import access, operation
from agents_manager.flow.ports import Tx
from tests import prometheus
from tests.api.scenes import PORT, Scene, serving, told
from tests.worlds import PATIENCE_S, World

A = "agents_manager"


@pytest.fixture
def built(tmp_path: Path) -> Path:
    ui = tmp_path / "ui"
    ui.mkdir()
    (ui / "index.html").write_text("<html></html>")
    return ui


def client_of(program: Program, ui: Path) -> httpx.AsyncClient:
    feed = Feed(program.services.store, program.database.watch)
    app = build(program.services, feed, doors("127.0.0.1", PORT), ui=ui)
    transport = httpx.ASGITransport(app)
    return httpx.AsyncClient(transport=transport, base_url=f"http://127.0.0.1:{PORT}")


async def beating(world: World) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while world.s.heartbeat.at is None:
            await asyncio.sleep(0.01)


async def test_ready_is_who_has_database_engine_and_pages(world: World, built: Path) -> None:
    made = await access.create(world.s, "eve", access.VIEWER)
    key = {"Authorization": f"Bearer {made.secret}"}
    await beating(world)
    async with client_of(world.program, built) as client:
        assert (await client.get("/readyz")).json() == {"status": "ok"}
        parts = (await client.get("/api/v1/health", headers=key)).json()
        assert parts["ready"]
        assert [part["name"] for part in parts["parts"]] == ["database", "engine", "web app"]
        (built / "index.html").unlink()
        unready = await client.get("/readyz")
        assert told(unready, 503, "NotReady")["details"] == []
        assert unready.headers["retry-after"] == "5"
        parts = (await client.get("/api/v1/health", headers=key)).json()
        assert [part["ok"] for part in parts["parts"]] == [True, True, False]


async def test_without_an_engine_or_a_database_it_is_not_ready(
    program: Program, token: str, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = {"Authorization": f"Bearer {token}"}
    async with client_of(program, built) as client:
        told(await client.get("/readyz"), 503, "NotReady")
        parts = (await client.get("/api/v1/health", headers=key)).json()["parts"]
        assert [part["ok"] for part in parts] == [True, False, True]
        program.services.heartbeat.at = 0.0
        monkeypatch.setattr(operation, "STILL_S", -1.0)
        assert not operation.engine(program.services).ok
        monkeypatch.undo()
        program.database.engines.dispose()
        file = program.settings.home / "agents-manager.db"
        for path in (file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")):
            path.unlink(missing_ok=True)
        file.mkdir()
        answer = told(await client.get("/readyz"), 503, "NotReady")
        assert str(program.settings.home) not in json.dumps(answer)
        assert not (await operation.database(program.services)).ok


async def test_figures_say_what_there_is(
    program: Program, api: httpx.AsyncClient, scene: Scene
) -> None:
    await scene.task("An idle one")
    await scene.running("One at work", pipeline="simple")
    await scene.asking(title="One that asks", pipeline="simple")
    await api.get("/api/v1/tasks/none")
    response = await api.get("/metrics")
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found = prometheus.read(response.text)
    assert found[f"{A}_tasks"].value(category="open") == 1
    assert found[f"{A}_tasks"].value(category="active") == 1
    assert found[f"{A}_tasks"].value(category="waiting") == 1
    assert found[f"{A}_tasks"].value(category="final") == 0
    assert found[f"{A}_runs"].value(status="queued") == 1
    assert found[f"{A}_runs"].value(status="completed") == 1
    assert found[f"{A}_prompts_open"].value(type="info_request") == 1
    assert found[f"{A}_effects"].value(kind="start_agent", status="pending") == 2
    assert found[f"{A}_effects_overdue_seconds"].value() > 0
    events = await program.services.store.read(lambda tx: tx.events.last_id())
    assert found[f"{A}_events_total"].value() == events
    http = found[f"{A}_http_request_duration_seconds"]
    assert http.value("_count", method="GET", code="4xx") == 1
    store = found[f"{A}_store_transaction_duration_seconds"]
    assert store.value("_count", kind="write") > 0
    assert f"{A}_engine_still_seconds" not in found, "no engine runs, which is not 0 seconds"


async def test_a_cost_that_is_not_known_is_not_zero(
    program: Program, api: httpx.AsyncClient, scene: Scene
) -> None:
    _, run = await scene.running(pipeline="simple")
    now = program.services.clock.now()

    def end(tx: Tx) -> None:
        tx.runs.update(run.id, status="completed", started_at=now, ended_at=now)

    await program.services.store.write(end)
    found = prometheus.read((await api.get("/metrics")).text)
    assert found[f"{A}_runs_of_unknown_cost"].value() == 1
    await program.services.store.write(lambda tx: tx.runs.update(run.id, cost_usd=1.25))
    found = prometheus.read((await api.get("/metrics")).text)
    assert found[f"{A}_runs_of_unknown_cost"].value() == 0
    assert found[f"{A}_runs_cost_usd"].value() == 1.25


async def test_labels_are_ours_however_odd_requests_are(api: httpx.AsyncClient) -> None:
    for number in range(30):
        await api.request(f"METHOD{number}", f"/api/v1/tasks/{number}")
        await api.get(f"/api/v1/{number}")
    found = prometheus.read((await api.get("/metrics")).text)
    http = found[f"{A}_http_request_duration_seconds"]
    counted = {labels for ending, labels in http.samples if ending == "_count"}
    assert counted <= {
        frozenset({("method", method), ("code", code)})
        for method in ("GET", "other")
        for code in ("2xx", "4xx")
    }


async def test_figures_are_open_only_where_that_is_set(
    program: Program, stranger: httpx.AsyncClient
) -> None:
    told(await stranger.get("/metrics"), 401, "Unauthenticated")
    config = program.settings.home / "config.json"
    said = json.loads(config.read_text())
    config.write_text(json.dumps({**said, "metrics": {"open": True}}))
    assert (await stranger.get("/metrics")).status_code == 200
    told(await stranger.get("/api/v1/tasks"), 401, "Unauthenticated")
    config.write_text("{")
    assert (await stranger.get("/metrics")).status_code == 200, "as the file said before"


async def test_a_file_that_never_was_sound_opens_nothing(tmp_path: Path, program: Program) -> None:
    (program.settings.home / "config.json").write_text('{"metrics": {"open": true}, "x": 1}')
    async with client_of(program, tmp_path) as client:
        told(await client.get("/metrics"), 401, "Unauthenticated")


async def test_a_real_server_is_ready_and_says_since_when(world: World) -> None:
    await beating(world)
    async with serving(world.program) as api:
        found = prometheus.read((await api.get("/metrics")).text)
        assert found[f"{A}_engine_still_seconds"].value() < operation.STILL_S
        assert found["process_start_time_seconds"].value() > 0
