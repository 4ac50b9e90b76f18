"""Who gets in, and who does not."""

import stat

import httpx
import pytest

from agents_manager.api import auth, gate
from agents_manager.api.app import Application, build
from agents_manager.api.doors import doors
from agents_manager.api.pace import Pace
from agents_manager.api.stream import Feed
from agents_manager.bootstrap import Program
from agents_manager.domain.task import Project
from agents_manager.errors import InvalidConfig
from agents_manager.flow import access
from tests.api.scenes import OWNER, PORT, Scene, told

HOSTS = {
    f"127.0.0.1:{PORT}": 200,
    f"localhost:{PORT}": 200,
    f"LOCALHOST:{PORT}": 200,
    f"[::1]:{PORT}": 200,
    "127.0.0.1": 421,
    "127.0.0.1:80": 421,
    "evil.example": 421,
    f"evil.example:{PORT}": 421,
    f"127.0.0.1.evil.example:{PORT}": 421,
    f"localhost.evil.example:{PORT}": 421,
    f"localhost.:{PORT}": 421,
    f"0.0.0.0:{PORT}": 421,
    f"user@127.0.0.1:{PORT}": 421,
    "": 421,
}
ORIGINS = {
    f"http://127.0.0.1:{PORT}": 200,
    f"http://localhost:{PORT}": 200,
    f"http://[::1]:{PORT}": 200,
    f"https://127.0.0.1:{PORT}": 403,
    "http://127.0.0.1": 403,
    "http://127.0.0.1:3000": 403,
    "http://evil.example": 403,
    f"http://127.0.0.1:{PORT}.evil.example": 403,
    "null": 403,
    "": 403,
}


async def test_only_our_own_names_are_answered_to(api: httpx.AsyncClient) -> None:
    for host, status in HOSTS.items():
        for path in ("/healthz", "/api/v1/projects"):
            response = await api.get(path, headers={"Host": host})
            assert response.status_code == status, host
            if status == 421:
                message = told(response, 421, "WrongHost")["message"]
                assert f"use http://127.0.0.1:{PORT}" in message


async def test_pages_of_others_are_refused(api: httpx.AsyncClient) -> None:
    for origin, status in ORIGINS.items():
        for method in ("GET", "POST", "OPTIONS"):
            response = await api.request(method, "/api/v1/projects", headers={"Origin": origin})
            if status == 403:
                told(response, 403, "NotAllowed")
            else:
                assert response.status_code in (200, 422, 405), origin
            assert not [name for name in response.headers if name.startswith("access-control")]


async def test_every_route_wants_a_token(app: Application, stranger: httpx.AsyncClient) -> None:
    operations = [
        (method.upper(), path)
        for path, methods in app.openapi()["paths"].items()
        for method in methods
        if path not in ("/healthz", "/readyz", "/auth/login")
    ]
    assert len(operations) > 20
    for method, path in [*operations, ("GET", "/openapi.json"), ("POST", "/")]:
        response = await stranger.request(method, path.replace("{", "").replace("}", ""))
        told(response, 401, "Unauthenticated")
        assert response.headers["www-authenticate"] == "Bearer"


async def test_health_is_open_and_tells_nothing(stranger: httpx.AsyncClient) -> None:
    response = await stranger.get("/healthz")
    assert response.json() == {"status": "ok"}
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_anything_but_the_token_is_refused(stranger: httpx.AsyncClient, token: str) -> None:
    wrong = ["", "Bearer", "Bearer ", "Bearer wrong", f"Basic {token}", token, f"Bearer {token}x"]
    for header in wrong:
        response = await stranger.get("/api/v1/projects", headers={"Authorization": header})
        told(response, 401, "Unauthenticated")


async def test_the_scheme_is_read_in_any_case(stranger: httpx.AsyncClient, token: str) -> None:
    response = await stranger.get("/api/v1/projects", headers={"Authorization": f"bearer {token}"})
    assert response.status_code == 200


async def test_the_owners_token_is_made_once_and_only_its_digest_is_stored(
    program: Program, token: str
) -> None:
    path = program.settings.home / auth.TOKEN_FILE
    assert path.read_text() == f"{token}\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert await auth.ensure_owner_token(program, "somebody else") == token
    key = await program.services.store.read(lambda tx: tx.access.find(access.digest_of(token)))
    assert key
    actor = access.actor_of(key)
    assert (actor.name, actor.via, actor.admin) == (OWNER, "http", True)
    kept = b"".join(f.read_bytes() for f in program.settings.home.glob("agents-manager.db*"))
    assert token.encode() not in kept
    assert [f.name for f in program.settings.home.glob("token*")] == ["token"]


async def test_a_token_file_that_others_can_read_is_closed(program: Program, token: str) -> None:
    path = program.settings.home / auth.TOKEN_FILE
    path.chmod(0o644)
    await auth.ensure_owner_token(program, OWNER)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", ["", "short", "two words that are long enough", "ä" * 40])
async def test_a_broken_token_file_is_named(program: Program, content: str) -> None:
    path = program.settings.home / auth.TOKEN_FILE
    path.write_text(content)
    with pytest.raises(InvalidConfig, match=str(path)):
        await auth.ensure_owner_token(program, OWNER)


async def test_who_asks_too_fast_is_told_to_wait_and_nobody_else(
    program: Program, token: str
) -> None:
    now = [0.0]
    s = program.services
    feed = Feed(s.store, program.database.watch)
    app = build(s, feed, doors("127.0.0.1", PORT), pace=Pace(2, 3, lambda: now[0]))
    other = await access.create(s, "bo", "member")
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url=f"http://127.0.0.1:{PORT}"
    ) as client:

        async def ask(secret: str) -> httpx.Response:
            return await client.get("/api/v1/me", headers={"Authorization": f"Bearer {secret}"})

        assert [(await ask(token)).status_code for _ in range(3)] == [200, 200, 200]
        late = await ask(token)
        assert "More than 2 requests" in told(late, 429, "TooManyRequests")["message"]
        assert late.headers["retry-after"] == "1"
        assert (await ask(other.secret)).status_code == 200
        now[0] = 1.0
        assert [(await ask(token)).status_code for _ in range(3)] == [200, 200, 429]
        deliveries = [await client.post(gate.WEBHOOK) for _ in range(4)]
        assert [response.status_code == 429 for response in deliveries] == [False] * 3 + [True]
        assert [(await client.get("/healthz")).status_code for _ in range(4)] == [200] * 4


async def test_a_viewer_changes_nothing_whatever_the_route(
    app: Application, program: Program, stranger: httpx.AsyncClient
) -> None:
    made = await access.create(program.services, "eve", access.VIEWER)
    stranger.headers["Authorization"] = f"Bearer {made.secret}"
    refused = 0
    for path, methods in app.openapi()["paths"].items():
        for method in set(methods) - {"get"}:
            if path in gate.OPEN_PATHS | gate.LOOKING:
                continue
            response = await stranger.request(method.upper(), path)
            assert "eve may look" in told(response, 403, "NotAllowed")["message"]
            refused += 1
    assert refused > 20
    assert (await stranger.get("/api/v1/tasks")).status_code == 200


async def test_a_guest_may_look_and_answer_but_not_rule(
    program: Program, stranger: httpx.AsyncClient, scene: Scene, project: Project
) -> None:
    now = program.services.clock.now()
    digest = access.digest_of("a guest's token")
    await program.services.store.write(
        lambda tx: tx.access.add_token(digest, "guest", "member", now)
    )
    stranger.headers["Authorization"] = "Bearer a guest's token"
    task = await scene.task()
    assert (await stranger.get(f"/api/v1/tasks/{task.id}")).status_code == 200
    refused = [
        await stranger.post("/api/v1/projects", json={"path": "/tmp"}),
        await stranger.post(f"/api/v1/projects/{project.id}/trust"),
        await stranger.post(f"/api/v1/tasks/{task.id}/grant"),
    ]
    for response in refused:
        assert "guest" in told(response, 403, "NotAllowed")["message"]
    forced = {"to": "planning", "force": True}
    response = await stranger.post(f"/api/v1/tasks/{task.id}/move", json=forced)
    told(response, 409, "TransitionRefused")
