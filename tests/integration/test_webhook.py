"""The channel for programs: where it may send to, how that is signed, and how it is answered."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents_manager import bootstrap
from agents_manager.api.pace import Pace
from agents_manager.channels import desktop, hooks, signing, webhook
from agents_manager.channels.config import WebhookConfig
from agents_manager.channels.desktop import Desktop
from agents_manager.channels.webhook import Webhook
from agents_manager.domain.card import Button, Card
from agents_manager.domain.prompt import PromptStatus
from agents_manager.errors import AgentsManagerError, ChannelDown, ChannelRefused, InvalidConfig
from agents_manager.flow import tasks
from agents_manager.flow.channels import router
from agents_manager.flow.channels.postman import Postman
from agents_manager.settings import Settings
from tests.api.scenes import Scene, serving, told
from tests.channel_players import Notices
from tests.repos import scripted_home
from tests.webhook_server import SECRET, Listener, listening

CARD = Card(title="Which?", buttons=(Button(id="b-1", label="Red"),), facts={"task": "t1"})


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as found:
        yield found


def sender(url: str, *, private: bool = False) -> Webhook:
    rules = WebhookConfig(enabled=True, url=url, allow_private=private).rules()
    return Webhook(lambda: rules, SECRET)


# ----------------------------------------------------------------------------------- where it sends


PRIVATE = [
    "localhost",
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "0.0.0.0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "2852039166",
    "[fe80::1]",
    "[fd00::1]",
    "[fec0::1]",
    "224.0.0.1",
    "255.255.255.255",
    "198.18.0.1",
]


@pytest.mark.parametrize("host", PRIVATE)
async def test_an_address_inside_is_refused_however_it_is_written(
    listener: Listener, host: str
) -> None:
    port = listener.url.rsplit(":", 1)[1]
    with pytest.raises((ChannelRefused, ChannelDown)) as caught:
        await sender(f"http://{host}:{port}").send("webhook", CARD)
    if isinstance(caught.value, ChannelRefused):
        assert "not of the open network" in caught.value.message
    assert listener.sent == []


async def test_a_user_may_say_that_an_inside_address_is_meant(listener: Listener) -> None:
    await sender(listener.url, private=True).send("webhook", CARD)
    assert len(listener.sent) == 1


async def test_a_redirect_is_not_followed(listener: Listener) -> None:
    with listening() as inside:
        listener.status, listener.headers = 307, {"Location": inside.url}
        with pytest.raises(ChannelRefused, match="sends us elsewhere, which is not followed"):
            await sender(listener.url, private=True).send("webhook", CARD)
        assert inside.sent == []


async def test_the_address_that_was_looked_at_is_the_one_that_is_dialled(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that leads elsewhere when it is asked for again (rebinding)."""
    asked: list[str] = []
    port = int(listener.url.rpartition(":")[2].partition("/")[0])

    async def resolve(self: object, host: str, *_: object, **__: object) -> Any:
        asked.append(host)
        known = "127.0.0.1" if len(asked) == 1 else "127.0.0.2"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (known, port))]

    monkeypatch.setattr(type(asyncio.get_running_loop()), "getaddrinfo", resolve)
    await sender(f"http://manager.example:{port}/told", private=True).send("webhook", CARD)
    [sent] = listener.sent
    assert sent.headers["host"] == f"manager.example:{port}"
    assert [host for host in asked if host == "manager.example"] == ["manager.example"]


async def test_one_address_inside_among_others_is_enough_to_refuse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def resolve(*_: object, **__: object) -> Any:
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, 80)) for a in ("8.8.8.8", "10.1.1.1")
        ]

    monkeypatch.setattr(type(asyncio.get_running_loop()), "getaddrinfo", resolve)
    with pytest.raises(ChannelRefused, match="not of the open network"):
        await sender("http://two.example").send("webhook", CARD)


async def test_a_proxy_of_the_environment_is_not_asked(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        await sender(listener.url, private=True).send("webhook", CARD)
        assert proxy.sent == []


# ----------------------------------------------------------------------------------- what it sends


async def test_what_is_sent_is_signed_with_its_time(listener: Listener) -> None:
    message = await sender(listener.url, private=True).send("webhook", CARD)
    [sent] = listener.sent
    assert sent.told["kind"] == "card"
    assert sent.told["message"] == message
    assert sent.told["buttons"] == [{"id": "b-1", "label": "Red", "style": "plain"}]
    assert sent.told["facts"] == {"task": "t1"}
    at, given = sent.headers["x-am-timestamp"], sent.headers["x-am-signature"]
    assert abs(time.time() - int(at)) < 60
    assert given == signing.signature(SECRET, at, sent.body)
    assert SECRET.encode() not in sent.body


async def test_a_card_that_is_too_large_is_a_link(listener: Listener) -> None:
    long = CARD.model_copy(update={"body": ("x" * 300_000,), "link": "https://m.example/tasks/1"})
    await sender(listener.url, private=True).send("webhook", long)
    [sent] = listener.sent
    assert len(sent.body) < 10_000
    assert sent.told["buttons"] == []
    assert sent.told["link"] == "https://m.example/tasks/1"


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503])
async def test_a_passing_trouble_is_tried_again(listener: Listener, status: int) -> None:
    listener.status = status
    with pytest.raises(ChannelDown):
        await sender(listener.url, private=True).send("webhook", CARD)


async def test_one_that_hangs_up_or_is_not_there_is_tried_again(listener: Listener) -> None:
    listener.silent = True
    with pytest.raises(ChannelDown, match="does not answer"):
        await sender(listener.url, private=True).send("webhook", CARD)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(ChannelDown, match="does not answer"):
            await sender(f"http://127.0.0.1:{free.getsockname()[1]}", private=True).check()


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = WebhookConfig(enabled=True, url="https://x.example").rules()
    monkeypatch.delenv("AM_WEBHOOK_SECRET", raising=False)
    with pytest.raises(InvalidConfig, match="set AM_WEBHOOK_SECRET"):
        webhook.build(lambda: rules)
    monkeypatch.setenv("AM_WEBHOOK_SECRET", SECRET)
    with pytest.raises(InvalidConfig, match=r"set notifications\.webhook\.url"):
        webhook.build(lambda: replace(rules, url=None))


# ------------------------------------------------------------------------------- how it is answered


@dataclass
class Door:
    scene: Scene
    client: httpx.AsyncClient
    listener: Listener

    async def asked(self) -> Mapping[str, Any]:
        """A question, as it was sent to the program."""
        await self.scene.asking(
            payload={"questions": [{"id": "q1", "question": "Which?", "options": ["Red", "Blue"]}]}
        )
        s = self.scene.s
        await s.store.write(lambda tx: router.route(tx, s))
        await Postman(s, s.channels["webhook"](), None).step()
        return self.listener.sent[-1].told

    async def answer(
        self,
        body: object,
        *,
        secret: str = SECRET,
        age_s: float = 0,
        signature: str | None = None,
        timestamp: str | None = None,
    ) -> httpx.Response:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        at = timestamp if timestamp is not None else str(int(time.time() - age_s))
        given = signature if signature is not None else signing.signature(secret, at, raw)
        headers = {"X-AM-Timestamp": at, "X-AM-Signature": given}
        headers["Authorization"] = ""
        return await self.client.post(hooks.ANSWERS, content=raw, headers=headers)

    async def open(self) -> bool:
        pending = await self.scene.s.store.read(lambda tx: tx.prompts.pending())
        return [p.status for p in pending] == [PromptStatus.PENDING]


@pytest.fixture
async def door(
    tmp_path: Path, repo: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Door]:
    monkeypatch.setenv("AM_WEBHOOK_SECRET", SECRET)
    hook = {
        "enabled": True,
        "url": listener.url,
        "allowPrivate": True,
        "people": {"ann-7": {"name": "ann"}},
    }
    home = scripted_home(tmp_path / "home", notifications={"webhook": hook})
    async with bootstrap.client(Settings(home, None)) as program:
        project = await tasks.add_project(program.services, repo, None, None)
        scene = Scene(program.services, project)
        s = program.services
        await s.store.write(lambda tx: router.route(tx, s))
        async with serving(program) as client:
            yield Door(scene, client, listener)


async def test_a_program_answers_for_a_person(door: Door) -> None:
    card = await door.asked()
    assert card["facts"]["occasion"] == "question"
    blue = next(b["id"] for b in card["buttons"] if b["label"] == "Blue")
    pressed = {"person": "ann-7", "message": card["message"], "button": blue}
    said = await door.answer(pressed)
    assert said.status_code == 200, said.text
    assert said.json()["says"] == "Thank you, that is answered."
    assert said.json()["card"]["body"] == ["✓ ann answered via webhook: Blue"]


async def test_words_and_commands_come_the_same_way(door: Door) -> None:
    card = await door.asked()
    listed = await door.answer({"person": "ann-7", "command": "inbox"})
    assert "Your inbox: 1" in listed.text
    words = {"person": "ann-7", "message": card["message"], "words": "Green"}
    assert (await door.answer(words)).json()["says"] == "Thank you, that is answered."


async def test_a_forged_old_or_repeated_answer_is_refused(door: Door) -> None:
    card = await door.asked()
    press = {"person": "ann-7", "message": card["message"], "button": card["buttons"][0]["id"]}
    raw = json.dumps(press).encode()
    now = str(int(time.time()))
    told(await door.answer(press, secret="another secret"), 401, "Unauthenticated")
    told(await door.answer(press, signature=""), 401, "Unauthenticated")
    told(await door.answer(press, timestamp=""), 401, "Unauthenticated")
    told(await door.answer(press, timestamp="1e9"), 401, "Unauthenticated")
    told(await door.answer(press, age_s=302), 401, "Unauthenticated")
    told(await door.answer(press, age_s=-302), 401, "Unauthenticated")
    other = signing.signature(SECRET, now, raw + b" ")
    told(await door.answer(raw, timestamp=now, signature=other), 401, "Unauthenticated")
    assert await door.open()
    signed = signing.signature(SECRET, now, raw)
    first = await door.answer(raw, timestamp=now, signature=signed)
    assert first.status_code == 200
    told(await door.answer(raw, timestamp=now, signature=signed), 409, "Conflict")


async def test_what_cannot_be_meant_is_refused_in_words(door: Door) -> None:
    card = await door.asked()
    unknown = {"person": "bob", "message": card["message"], "button": card["buttons"][0]["id"]}
    assert (
        "am channel allow webhook" in told(await door.answer(unknown), 403, "NotAllowed")["message"]
    )
    told(await door.answer({"person": "ann-7"}), 422, "InvalidInput")
    told(await door.answer({"person": "ann-7", "buton": "x"}), 422, "InvalidInput")
    told(await door.answer(b"{"), 422, "InvalidInput")
    told(await door.answer(b"\xff\xfe"), 422, "InvalidInput")
    told(await door.answer(b"[" * 70_000), 413, "TooLarge")
    told(await door.client.get(hooks.ANSWERS), 404, "NotFound")
    assert await door.open()


async def test_a_flood_is_told_to_wait(door: Door) -> None:
    codes = [(await door.answer(b"{}", signature="x")).status_code for _ in range(5)]
    assert codes == [401] * 5
    slow = hooks.app(door.scene.s, Pace(1, 2).take, {})
    scope = {"type": "http", "method": "POST", "path": hooks.ANSWERS, "headers": []}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_: Any) -> None:
        return None

    raised: list[str] = []
    for _ in range(4):
        try:
            await slow(scope, receive, send)
        except AgentsManagerError as error:
            raised.append(type(error).__name__)
    assert raised == ["Unauthenticated", "Unauthenticated", "TooManyRequests", "TooManyRequests"]


# ------------------------------------------------------------------------------------------ desktop


async def test_a_click_opens_the_task() -> None:
    notices, opened = Notices(), list[str]()
    channel = Desktop(notices, opened.append)
    link = "http://127.0.0.1:4100/tasks/1"
    message = await channel.send("desktop", CARD.model_copy(update={"link": link}))
    clicked = notices.clicks[message]
    assert clicked is not None
    clicked()
    assert opened == [link]
    plain = await channel.send("desktop", CARD)
    assert notices.clicks[plain] is None


async def test_a_server_without_a_desktop_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library itself, where there is no session bus."""
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus")
    channel = desktop.build()
    with pytest.raises(ChannelDown, match="there is no session bus here"):
        await channel.send("desktop", CARD)
