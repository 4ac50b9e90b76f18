"""Channels over HTTP."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from agents_manager.bootstrap import Program
from agents_manager.flow import access
from tests.api.scenes import told
from tests.webhook_server import SECRET, Listener, listening

CHANNELS = "/api/v1/channels"


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listener]:
    monkeypatch.setenv("AM_WEBHOOK_SECRET", SECRET)
    with listening() as found:
        yield found


def configure(program: Program, listener: Listener) -> None:
    path = program.settings.home / "config.json"
    hook = {"enabled": True, "url": listener.url, "allowPrivate": True}
    said = {**json.loads(path.read_text()), "notifications": {"webhook": hook}}
    path.write_text(json.dumps(said))


async def test_every_channel_is_told_with_what_it_lacks(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AM_WEBHOOK_SECRET", raising=False)
    found = {c["name"]: c for c in (await api.get(CHANNELS)).json()["items"]}
    assert set(found) == {"telegram", "slack", "desktop", "webhook", "push"}
    on = [name for name, c in found.items() if c["enabled"]]
    assert on == ["push"], "which speaks to nobody who did not ask for it"
    assert "AM_WEBHOOK_SECRET" in found["webhook"]["trouble"]
    assert found["telegram"]["events"] == ["question", "reminder", "failure", "done", "digest"]
    told(await api.get(f"{CHANNELS}/pigeon"), 404, "NotFound")


async def test_a_test_message_is_sent(
    api: httpx.AsyncClient, program: Program, listener: Listener
) -> None:
    refused = await api.post(f"{CHANNELS}/webhook/test")
    assert "notifications.webhook.url" in told(refused, 422, "InvalidConfig")["message"]
    configure(program, listener)
    sent = (await api.post(f"{CHANNELS}/webhook/test")).json()
    assert sent == {"speaks_as": listener.url, "places": ["webhook"]}
    assert [s.told["kind"] for s in listener.sent] == ["ping", "card"]
    listener.status = 500
    told(await api.post(f"{CHANNELS}/webhook/test"), 502, "ChannelDown")
    listener.status = 403
    told(await api.post(f"{CHANNELS}/webhook/test"), 502, "ChannelRefused")


async def test_people_are_let_in_and_taken_off(api: httpx.AsyncClient, program: Program) -> None:
    url = f"{CHANNELS}/telegram/people"
    let_in = (await api.put(f"{url}/4711", json={"name": "ann"})).json()
    assert let_in["people"] == {"4711": {"name": "ann", "role": "admin"}}
    assert let_in["places"] == ["4711"]
    wrong = await api.put(f"{url}/@ann", json={"name": "ann"})
    assert "is no id of Telegram" in told(wrong, 422, "InvalidConfig")["details"][0]
    told(await api.put(f"{url}/4712", json={"name": ""}), 422, "InvalidInput")
    told(await api.put(f"{CHANNELS}/desktop/people/1", json={"name": "a"}), 422, "InvalidInput")
    gone = (await api.delete(f"{url}/4711")).json()
    assert gone["people"] == {}
    told(await api.delete(f"{url}/4711"), 404, "NotFound")


async def test_only_admins_see_and_change_channels(
    stranger: httpx.AsyncClient, program: Program, tmp_path: Path
) -> None:
    told(await stranger.get(CHANNELS), 401, "Unauthenticated")
    made = await access.create(program.services, "bob", "lead")
    stranger.headers["Authorization"] = f"Bearer {made.secret}"
    told(await stranger.get(CHANNELS), 403, "NotAllowed")
    told(await stranger.post(f"{CHANNELS}/desktop/test"), 403, "NotAllowed")
    body = {"name": "bob"}
    told(await stranger.put(f"{CHANNELS}/telegram/people/1", json=body), 403, "NotAllowed")
