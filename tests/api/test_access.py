"""Logging in: who gets a session, what it opens, and how it ends."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from agents_manager.api import auth, server
from agents_manager.api.app import Application, build
from agents_manager.api.doors import Public, doors
from agents_manager.api.listener import Listener
from agents_manager.api.stream import Feed
from agents_manager.bootstrap import Program
from agents_manager.flow import access
from tests.api.scenes import OWNER, PORT, Scene, told
from tests.push_server import FakePush

OURS = f"http://127.0.0.1:{PORT}"
ORIGIN = {"Origin": OURS}
API = "/api/v1"


class LaterClock:
    """The real one, or as much later as a test says."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@pytest.fixture
def clock() -> LaterClock:
    return LaterClock()


@pytest.fixture
async def app(program: Program, clock: LaterClock) -> AsyncIterator[Application]:
    services = replace(program.services, clock=clock)
    feed = Feed(services.store, program.database.watch, heartbeat_s=0.2)
    async with feed.running():
        yield build(services, feed, doors("127.0.0.1", PORT))


def browser(app: Application) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=OURS, headers=ORIGIN)


@pytest.fixture
async def web(app: Application, token: str) -> AsyncIterator[httpx.AsyncClient]:
    """A browser in which the owner has logged in."""
    async with browser(app) as web:
        assert (await web.post("/auth/login", json={"token": token})).status_code == 200
        yield web


async def _code(api: httpx.AsyncClient) -> str:
    return (await api.post(f"{API}/login-links")).json()["code"]


async def test_a_token_opens_a_session_that_no_page_can_read(
    stranger: httpx.AsyncClient, token: str, program: Program
) -> None:
    response = await stranger.post("/auth/login", json={"token": token}, headers=ORIGIN)
    me = response.json()
    assert (me["name"], me["role"], me["via"], me["admin"]) == (OWNER, "admin", "web", True)
    assert me["version"]
    days = datetime.fromisoformat(me["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=29) < days <= timedelta(days=30)
    cookie = response.headers["set-cookie"]
    value = cookie.partition("=")[2].partition(";")[0]
    rest = cookie.lower().split("; ")[1:]
    assert {"httponly", "samesite=strict", "path=/", "max-age=2592000"} <= set(rest)
    assert "secure" not in rest
    kept = b"".join(f.read_bytes() for f in program.settings.home.glob("agents-manager.db*"))
    assert value.encode() not in kept
    assert (await stranger.get(f"{API}/me")).json() == me


async def test_a_session_does_what_its_token_may(web: httpx.AsyncClient, scene: Scene) -> None:
    task = await scene.task()
    done = await web.patch(f"{API}/tasks/{task.id}", json={"title": "Other"})
    assert done.status_code == 200
    events = (await web.get(f"{API}/tasks/{task.id}/events")).json()["items"]
    assert events[-1]["actor"]["via"] == "web"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": OURS}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Origin": "http://127.0.0.1:3000"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:3000", "Sec-Fetch-Site": "same-origin"}, 403),
    ],
)
async def test_a_cookie_changes_something_only_from_our_pages(
    web: httpx.AsyncClient, scene: Scene, headers: dict[str, str], status: int
) -> None:
    task = await scene.task()
    del web.headers["Origin"]
    changed = await web.patch(f"{API}/tasks/{task.id}", json={"title": "Other"}, headers=headers)
    assert changed.status_code == status
    posted = await web.post(f"{API}/tokens", json={"name": "x"}, headers=headers)
    assert posted.status_code == status
    assert (await web.get(f"{API}/me")).status_code == 200


async def test_a_session_is_no_token_and_a_token_no_session(
    web: httpx.AsyncClient, token: str
) -> None:
    session = web.cookies["am_session"]
    bearer = {"Authorization": f"Bearer {session}"}
    told(await web.get(f"{API}/me", headers=bearer), 401, "Unauthenticated")
    told(await web.post("/auth/login", json={"token": session}), 401, "Unauthenticated")
    code = await _code(web)
    bearer = {"Authorization": f"Bearer {code}"}
    told(await web.get(f"{API}/me", headers=bearer), 401, "Unauthenticated")
    web.cookies.clear()
    for wrong in (token, code, "", "x"):
        cookie = {"Cookie": f"am_session={wrong}"}
        told(await web.get(f"{API}/me", headers=cookie), 401, "Unauthenticated")


async def test_logging_out_ends_the_session(web: httpx.AsyncClient, token: str) -> None:
    session = web.cookies["am_session"]
    response = await web.post("/auth/logout")
    assert response.status_code == 200
    assert "am_session" not in web.cookies
    cookie = {"Cookie": f"am_session={session}"}
    told(await web.get(f"{API}/me", headers=cookie), 401, "Unauthenticated")
    bearer = {"Authorization": f"Bearer {token}"}
    told(await web.post("/auth/logout", headers=bearer), 409, "Conflict")
    assert (await web.get(f"{API}/me", headers=bearer)).json()["via"] == "http"


async def test_a_session_ends_by_itself(web: httpx.AsyncClient, clock: LaterClock) -> None:
    clock.ahead = timedelta(days=29, hours=23)
    assert (await web.get(f"{API}/me")).status_code == 200
    clock.ahead = timedelta(days=30, minutes=1)
    told(await web.get(f"{API}/me"), 401, "Unauthenticated")


async def test_a_link_logs_in_once(app: Application, web: httpx.AsyncClient) -> None:
    link = (await web.post(f"{API}/login-links")).json()
    assert link["url"] == f"{OURS}/login#{link['code']}"
    assert link["svg"].startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    async with browser(app) as phone, browser(app) as thief:
        first = await phone.post("/auth/login", json={"code": link["code"]})
        assert first.json()["name"] == OWNER
        second = await thief.post("/auth/login", json={"code": link["code"]})
        assert "was used" in told(second, 401, "Unauthenticated")["message"]
        await web.post("/auth/logout")
        assert (await phone.get(f"{API}/me")).status_code == 200, "another session is its own"


async def test_of_many_at_once_one_uses_a_link(app: Application, web: httpx.AsyncClient) -> None:
    code = await _code(web)
    async with browser(app) as other, asyncio.TaskGroup() as group:
        tries = [
            group.create_task(other.post("/auth/login", json={"code": code})) for _ in range(8)
        ]
    assert sorted(one.result().status_code for one in tries) == [200, *[401] * 7]


async def test_a_link_is_good_for_ten_minutes(
    web: httpx.AsyncClient, app: Application, clock: LaterClock
) -> None:
    in_time, too_late = await _code(web), await _code(web)
    async with browser(app) as phone:
        clock.ahead = timedelta(minutes=9, seconds=50)
        assert (await phone.post("/auth/login", json={"code": in_time})).status_code == 200
        clock.ahead = timedelta(minutes=10, seconds=1)
        told(await phone.post("/auth/login", json={"code": too_late}), 401, "Unauthenticated")


@pytest.mark.parametrize(
    "body", [{}, {"token": "a", "code": "b"}, {"token": None}, {"token": "x" * 501}, {"other": "a"}]
)
async def test_a_login_has_one_secret(stranger: httpx.AsyncClient, body: object) -> None:
    told(await stranger.post("/auth/login", json=body), 422, "InvalidInput")


async def test_a_page_elsewhere_cannot_log_in(stranger: httpx.AsyncClient, token: str) -> None:
    for origin in ("http://evil.example", "null"):
        response = await stranger.post(
            "/auth/login", json={"token": token}, headers={"Origin": origin}
        )
        told(response, 403, "NotAllowed")
    form = await stranger.post("/auth/login", data={"token": token}, headers=ORIGIN)
    told(form, 415, "UnsupportedMedia")


async def test_wrong_tokens_are_slowed_down_and_the_right_one_is_not(
    stranger: httpx.AsyncClient, token: str
) -> None:
    async with asyncio.TaskGroup() as group:
        wrong = [
            group.create_task(stranger.post("/auth/login", json={"token": f"wrong {n}"}))
            for n in range(30)
        ]
        right = await stranger.post("/auth/login", json={"token": token})
        assert right.status_code == 200
    statuses = [one.result().status_code for one in wrong]
    assert statuses.count(429) >= 5
    assert statuses.count(401) + statuses.count(429) == 30


async def test_a_token_is_told_once(
    web: httpx.AsyncClient, stranger: httpx.AsyncClient, program: Program
) -> None:
    key = {"Idempotency-Key": "once"}
    body = {"name": "build", "role": "member"}
    made = (await web.post(f"{API}/tokens", json=body, headers=key)).json()
    secret, about = made["token"], made["about"]
    assert (about["kind"], about["name"], about["role"]) == ("token", "build", "member")
    assert about["used_at"] is None
    stranger.headers["Authorization"] = f"Bearer {secret}"
    assert (await stranger.get(f"{API}/me")).json()["role"] == "member"
    told(await stranger.get(f"{API}/tokens"), 403, "NotAllowed")
    told(await stranger.post(f"{API}/login-links"), 403, "NotAllowed")
    listed = (await web.get(f"{API}/tokens")).json()["items"]
    assert [one["kind"] for one in listed] == ["owner", "session", "token"]
    assert listed[2]["used_at"] is not None
    assert secret not in str(listed)
    kept = b"".join(f.read_bytes() for f in program.settings.home.glob("agents-manager.db*"))
    assert secret.encode() not in kept


@pytest.mark.parametrize(
    "body", [{"name": " "}, {"name": "a\nb"}, {"name": "a", "role": "Admin"}, {"name": "x" * 101}]
)
async def test_a_token_has_a_name_and_a_role(web: httpx.AsyncClient, body: object) -> None:
    told(await web.post(f"{API}/tokens", json=body), 422, "InvalidInput")


async def test_a_revoked_token_ends_its_sessions_and_links(
    app: Application, web: httpx.AsyncClient
) -> None:
    made = (await web.post(f"{API}/tokens", json={"name": "ben", "role": "admin"})).json()
    async with browser(app) as ben, browser(app) as phone:
        await ben.post("/auth/login", json={"token": made["token"]})
        code, unused = await _code(ben), await _code(ben)
        await phone.post("/auth/login", json={"code": code})
        assert (await phone.get(f"{API}/me")).json()["name"] == "ben"
        revoked = await web.delete(f"{API}/tokens/{made['about']['id']}")
        assert revoked.json()["name"] == "ben"
        for client in (ben, phone):
            told(await client.get(f"{API}/me"), 401, "Unauthenticated")
        told(await phone.post("/auth/login", json={"code": unused}), 401, "Unauthenticated")
        told(await phone.post("/auth/login", json={"token": made["token"]}), 401, "Unauthenticated")
    assert (await web.get(f"{API}/me")).status_code == 200
    for id in ("", made["about"]["id"], "a"):
        response = await web.delete(f"{API}/tokens/{id}")
        assert response.status_code == 404


async def test_the_owners_token_is_made_anew_once_it_is_revoked(
    web: httpx.AsyncClient, program: Program, token: str
) -> None:
    [owner, _] = (await web.get(f"{API}/tokens")).json()["items"]
    assert (await web.delete(f"{API}/tokens/{owner['id']}")).json()["kind"] == "owner"
    told(await web.get(f"{API}/me"), 401, "Unauthenticated")
    again = await auth.ensure_owner_token(program, OWNER)
    assert again != token
    told(await web.post("/auth/login", json={"token": token}), 401, "Unauthenticated")
    assert (await web.post("/auth/login", json={"token": again})).status_code == 200


async def test_a_revoked_session_loses_its_streams(
    program: Program, scene: Scene, token: str
) -> None:
    _, run = await scene.running()
    s = program.services
    made = await access.log_in(s, token=token)
    assert made
    feed = Feed(s.store, program.database.watch, heartbeat_s=0.2)
    with server._bound("127.0.0.1", 0) as listening:  # pyright: ignore[reportPrivateUsage]
        ways = doors("127.0.0.1", listening.getsockname()[1])
        up = asyncio.Event()
        listener = Listener(build(s, feed, ways), up.set, feed.close)
        async with feed.running(), asyncio.TaskGroup() as group:
            group.create_task(listener.serve([listening]))
            await up.wait()
            cookie = {"Cookie": f"am_session={made.secret}"}
            async with httpx.AsyncClient(base_url=ways.address, headers=cookie) as web:
                paths = ("/events/stream", f"/runs/{run.id}/output")
                requests = [web.build_request("GET", f"{API}{path}") for path in paths]
                streams = [await web.send(request, stream=True) for request in requests]
                await auth.revoke(s, made.key.id)
                for stream in streams:
                    assert b": open" in await stream.aread()
            listener.should_exit = True


async def test_behind_https_the_cookie_is_secure(program: Program, token: str) -> None:
    ways = doors("127.0.0.1", PORT, public=Public("am.example", "/am"))
    feed = Feed(program.services.store, program.database.watch)
    transport = httpx.ASGITransport(build(program.services, feed, ways))
    async with httpx.AsyncClient(transport=transport, base_url="https://am.example") as web:
        headers = {"Origin": "https://am.example"}
        response = await web.post("/am/auth/login", json={"token": token}, headers=headers)
        parts = response.headers["set-cookie"].lower().split("; ")
        assert {"secure", "path=/am"} <= set(parts)
        link = await web.post("/am/api/v1/login-links", headers=headers)
        assert link.json()["url"].startswith("https://am.example/am/login#")


async def test_a_session_is_sent_notices_as_long_as_it_holds(
    web: httpx.AsyncClient, program: Program, token: str, stranger: httpx.AsyncClient
) -> None:
    with FakePush() as service:
        body = {**service.told, "endpoint": "https://fcm.googleapis.com/fcm/send/abc"}
        told(await web.post(f"{API}/push", json=service.told), 422, "InvalidInput")
    store, now = program.services.store, datetime.now(UTC)
    before = (await web.get(f"{API}/push")).json()
    assert before == {"key": program.services.browsers().key(), "on": False}
    assert (await web.post(f"{API}/push", json=body)).json() == {**before, "on": True}
    kept = await store.read(lambda tx: tx.access.subscriptions(now))
    assert [one.endpoint for one in kept.values()] == [body["endpoint"]]
    assert (await web.delete(f"{API}/push")).json() == before
    bearer = {"Authorization": f"Bearer {token}"}
    told(await stranger.post(f"{API}/push", json=body, headers=bearer), 409, "Conflict")
    await web.post(f"{API}/push", json=body)
    later = now + access.SESSION_LIFE + timedelta(days=1)
    assert await store.read(lambda tx: tx.access.subscriptions(later)) == {}, "it has ended then"
    await web.post("/auth/logout")
    assert await store.read(lambda tx: tx.access.subscriptions(now)) == {}
