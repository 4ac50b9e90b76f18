"""Each measure before the routes is switched off once, and what it refused then passes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from agents_manager import bootstrap
from agents_manager.api.app import Application, build
from agents_manager.api.bodies import MAX_BYTES, Bodies
from agents_manager.api.doors import doors
from agents_manager.api.faults import Edge
from agents_manager.api.gate import Addresses, Tokens
from agents_manager.api.pace import Pace
from agents_manager.api.stream import Feed
from agents_manager.bootstrap import Program
from agents_manager.flow import access
from tests.api.scenes import PORT

API = "/api/v1"
EVIL = "http://evil.example"
TWICE = '{"name": "a", "name": "b", "role": "viewer"}'
JSON = {"Content-Type": "application/json"}


@asynccontextmanager
async def without(
    program: Program, *layers: type, pace: Pace | None = None
) -> AsyncIterator[httpx.AsyncClient]:
    feed = Feed(program.services.store, program.database.watch)
    app: Application = build(
        program.services, feed, doors("127.0.0.1", PORT), bootstrap.mounts(program), pace=pace
    )
    app.user_middleware = [one for one in app.user_middleware if one.cls not in layers]
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(
        transport=transport, base_url=f"http://127.0.0.1:{PORT}"
    ) as client:
        yield client


@pytest.mark.parametrize("on", [True, False])
async def test_names_and_pages_of_others(program: Program, token: str, on: bool) -> None:
    key = {"Authorization": f"Bearer {token}"}
    async with without(program, *([] if on else [Addresses])) as client:
        named = await client.get(f"{API}/projects", headers={**key, "Host": "evil.example"})
        sent = await client.get(f"{API}/projects", headers={**key, "Origin": EVIL})
    assert (named.status_code, sent.status_code) == ((421, 403) if on else (200, 200))


@pytest.mark.parametrize("on", [True, False])
async def test_tokens(program: Program, on: bool) -> None:
    async with without(program, *([] if on else [Tokens])) as client:
        assert (await client.get(f"{API}/projects")).status_code == (401 if on else 200)


@pytest.mark.parametrize("on", [True, False])
async def test_bodies(program: Program, token: str, on: bool) -> None:
    key = {"Authorization": f"Bearer {token}", **JSON}
    large = '{"name": "a", "role": "viewer"' + " " * MAX_BYTES + "}"
    async with without(program, *([] if on else [Bodies])) as client:
        twice = await client.post(f"{API}/tokens", content=TWICE, headers=key)
        long = await client.post(f"{API}/tokens", content=large, headers=key)
    assert (twice.status_code, long.status_code) == ((422, 413) if on else (200, 200))


@pytest.mark.parametrize("on", [True, False])
async def test_strict_pages(program: Program, on: bool) -> None:
    async with without(program, *([] if on else [Edge])) as client:
        answer = await client.get("/healthz")
    assert ("content-security-policy" in answer.headers) is on


@pytest.mark.parametrize("on", [True, False])
async def test_the_pace(program: Program, token: str, on: bool) -> None:
    pace = Pace(0.001, 3) if on else Pace(1_000_000, 1_000_000)
    async with without(program, pace=pace) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        codes = {(await client.get(f"{API}/projects")).status_code for _ in range(6)}
    assert codes == ({200, 429} if on else {200})


@pytest.mark.parametrize("on", [True, False])
async def test_roles(program: Program, on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await access.create(program.services, "eve", access.VIEWER)
    if not on:
        monkeypatch.setattr(Tokens, "_check", lambda *_: None)
    async with without(program) as client:
        client.headers["Authorization"] = f"Bearer {made.secret}"
        answer = await client.post(f"{API}/tasks", json={"project": "none", "title": "x"})
    assert answer.status_code == (403 if on else 404)
