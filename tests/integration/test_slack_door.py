"""Requests that say they come from Slack: signed, in time and new, or nothing is done."""

import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from agents_manager.channels.slack import Slack
from agents_manager.channels.slack_door import MOST_BYTES, SlackDoor
from agents_manager.domain.card import Button, Card, Reply
from agents_manager.errors import AgentsManagerError, StoreError
from tests.integration.test_slack import ANN, Desk
from tests.slack_server import BOT_TOKEN, GENERAL, SECRET, FakeSlack, Seen, signature, slack

NOW = 1_800_000_000
FORM = "application/x-www-form-urlencoded"
CARD = Card(title="Which one?", buttons=(Button(id="d1-a", label="This"),))


@dataclass
class Clock:
    def now(self) -> datetime:
        return datetime.fromtimestamp(NOW, UTC)


@dataclass
class Door:
    """One that is knocked at."""

    fake: FakeSlack
    desk: Desk = field(default_factory=lambda: Desk(Reply(says="Thank you.")))
    kept: set[str] = field(default_factory=set[str])
    """What a database keeps: it outlasts the door."""

    def __post_init__(self) -> None:
        self.slack = Slack(BOT_TOKEN, lambda: [GENERAL], base_url=self.fake.base_url)
        self.app: ASGIApp = SlackDoor(self.slack, self.desk, SECRET, self.seen, Clock())

    async def seen(self, key: str) -> bool:
        before = key in self.kept
        self.kept.add(key)
        return before

    async def knock(self, body: bytes, headers: Mapping[str, str | bytes]) -> httpx.Response:
        return await knock(self.app, body, headers)

    async def tell(self, payload: Mapping[str, Any]) -> httpx.Response:
        """As Slack does."""
        body, kind = encoded(payload)
        answer = await self.knock(body, signed(body, kind=kind))
        if answer.status_code == 200:
            self.fake.take(payload, answer.json() if answer.content else None)
        return answer


async def knock(door: ASGIApp, body: bytes, headers: Mapping[str, str | bytes]) -> httpx.Response:
    sent = [(n.encode(), v if isinstance(v, bytes) else v.encode()) for n, v in headers.items()]
    transport = httpx.ASGITransport(app=told(door))
    async with httpx.AsyncClient(transport=transport, base_url="http://am") as client:
        return await client.post("/hooks/slack", content=body, headers=sent)


def told(door: ASGIApp) -> ASGIApp:
    """What is refused is answered as by the server that the door stands in."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await door(scope, receive, send)
        except AgentsManagerError as error:
            await PlainTextResponse(error.message, error.http_status)(scope, receive, send)

    return serve


def encoded(payload: Mapping[str, Any]) -> tuple[bytes, str]:
    match payload.get("type"):
        case None:
            return urlencode(payload).encode(), FORM
        case "event_callback" | "url_verification":
            return json.dumps(payload).encode(), "application/json"
        case _:
            return urlencode({"payload": json.dumps(payload)}).encode(), FORM


def signed(
    body: bytes, at: int | str = NOW, secret: str = SECRET, kind: str = "application/json"
) -> dict[str, str | bytes]:
    return {
        "Content-Type": kind,
        "X-Slack-Request-Timestamp": str(at),
        "X-Slack-Signature": signature(secret, str(at), body),
    }


@pytest.fixture
async def fake() -> AsyncGenerator[FakeSlack]:
    async with slack() as running:
        yield running
    assert running.faults == []


@pytest.fixture
def door(fake: FakeSlack) -> Door:
    return Door(fake)


@pytest.mark.parametrize(
    "kind",
    [
        *("wrong signature", "no signature", "non-ASCII signature", "other secret"),
        *("301 s old", "301 s ahead", "no time", "time that is none", "changed body"),
    ],
)
async def test_what_slack_did_not_sign_now_is_refused(door: Door, kind: str) -> None:
    body, _ = encoded(door.fake.writing(ANN, door.fake.direct(ANN), "approve"))
    right = signed(body)
    unsigned = {name: value for name, value in right.items() if name != "X-Slack-Signature"}
    untimed = {name: v for name, v in right.items() if name != "X-Slack-Request-Timestamp"}
    sent: dict[str, tuple[bytes, Mapping[str, str | bytes]]] = {
        "wrong signature": (body, {**right, "X-Slack-Signature": "v0=" + "0" * 64}),
        "no signature": (body, unsigned),
        "non-ASCII signature": (body, {**right, "X-Slack-Signature": "v0=é☃".encode()}),
        "other secret": (body, signed(body, secret="another")),
        "301 s old": (body, signed(body, NOW - 301)),
        "301 s ahead": (body, signed(body, NOW + 301)),
        "no time": (body, untimed),
        "time that is none": (body, signed(body, "18e8")),
        "changed body": (body.replace(b"approve", b"reject!"), right),
    }
    answer = await door.knock(*sent[kind])
    assert answer.status_code == 401
    assert answer.text.strip()
    assert (door.desk.handed, door.kept) == ([], set())


async def test_what_was_taken_is_not_taken_again(door: Door) -> None:
    """After a restart neither: what was seen is kept in the database."""
    body, _ = encoded(door.fake.writing(ANN, door.fake.direct(ANN), "approve"))
    assert (await door.knock(body, signed(body))).status_code == 200
    again = Door(door.fake, kept=door.kept)
    assert (await again.knock(body, signed(body))).status_code == 409
    assert (len(door.desk.handed), again.desk.handed) == (1, [])


@pytest.mark.parametrize("off", [-300, 300])
async def test_five_minutes_are_in_time(door: Door, off: int) -> None:
    body, _ = encoded(door.fake.writing(ANN, door.fake.direct(ANN), "approve"))
    assert (await door.knock(body, signed(body, NOW + off))).status_code == 200
    assert len(door.desk.handed) == 1


async def test_what_slack_tells_again_has_the_same_key(door: Door) -> None:
    """It signs it anew, so that it is no replay; the desk takes it once by its key."""
    body, _ = encoded(door.fake.writing(ANN, door.fake.direct(ANN), "approve"))
    for at in (NOW - 60, NOW):
        assert (await door.knock(body, signed(body, at))).status_code == 200
    first, second = door.desk.handed
    assert first[1].key == second[1].key


async def test_the_address_is_proven_to_slack(door: Door) -> None:
    asked = {"type": "url_verification", "token": "x", "challenge": "3eZbrw1a"}
    answer = await door.knock(*_sent(asked))
    assert (answer.status_code, answer.text) == (200, "3eZbrw1a")
    body, _ = encoded(asked)
    assert (await door.knock(body, signed(body, secret="another"))).status_code == 401


def _sent(payload: Mapping[str, Any]) -> tuple[bytes, dict[str, str | bytes]]:
    body, kind = encoded(payload)
    return body, signed(body, kind=kind)


@pytest.mark.parametrize("body", [b"{", b"\xff", b"[" * 100_000])
async def test_what_cannot_be_read_is_refused(door: Door, body: bytes) -> None:
    assert (await door.knock(body, signed(body))).status_code == 422
    form = urlencode({"payload": body}).encode()
    assert (await door.knock(form, signed(form, kind=FORM))).status_code == 422


async def test_too_much_is_not_read(door: Door) -> None:
    body = b" " * (MOST_BYTES + 1)
    assert (await door.knock(body, signed(body))).status_code == 413
    assert door.kept == set()


async def test_a_press_a_form_a_reply_and_a_command(door: Door) -> None:
    fake, desk = door.fake, door.desk
    message = await door.slack.send(GENERAL, CARD)
    desk.reply = Reply(ask="Which?")
    assert (await door.tell(fake.pressing(ANN, GENERAL, message, "This"))).status_code == 200
    desk.reply = Reply(ask="Longer, please.")
    assert (await door.tell(fake.sending(ANN, "No"))).status_code == 200
    assert "Longer, please." in str(fake.form(ANN).view)
    desk.reply = Reply(says="Thank you.")
    assert (await door.tell(fake.sending(ANN, "Neither"))).status_code == 200
    assert (await door.tell(fake.writing(ANN, GENERAL, "or both", message))).status_code == 200
    assert (await door.tell(fake.ordering(ANN, GENERAL, "why 1"))).status_code == 200
    assert [(way, button, words) for way, _, _, button, words in desk.handed] == [
        ("pressed", "d1-a", None),
        ("pressed", "d1-a", "No"),
        ("pressed", "d1-a", "Neither"),
        ("wrote", "", "or both"),
        ("ordered", "why", "1"),
    ]
    assert [Seen.of(whisper).text for whisper in fake.whispers] == ["Thank you."] * 2
    assert len(fake.responses) == 1


async def test_what_the_desk_could_not_take_did_not_arrive(door: Door) -> None:
    door.desk.error = StoreError("The disk is full.")
    told = door.fake.writing(ANN, door.fake.direct(ANN), "approve")
    assert (await door.tell(told)).status_code == 503
