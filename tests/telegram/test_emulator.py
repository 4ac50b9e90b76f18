"""The channel of Telegram against a Bot API that others wrote, by the real library."""

import json
import time
from typing import Any

import httpx
import pytest

from agents_manager.channels.telegram import Telegram
from agents_manager.domain.card import Button, Card, Reply
from tests.channel_players import ANN, STRANGER, Notebook
from tests.telegram_player import listening, until

TOKEN = "4242:AAfakeTokenForTests-0123456789abcdefghi"
CARD = Card(
    title='Agent needs input on "a < b & c"',
    body=("Which *one*?",),
    buttons=(Button(id="d1-a", label="JWT tokens"), Button(id="d1-b", label="Neither")),
)
HTML = '<b>Agent needs input on "a &lt; b &amp; c"</b>\n\nWhich *one*?'


class People:
    """Their side of the emulator."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def does(self, way: str, person: str, **what: Any) -> None:
        author = {"id": int(person), "first_name": "Ann", "is_bot": False}
        chat = {"id": int(ANN), "type": "private"}
        if "message" in what:
            what["message"] = {"date": 1, "chat": chat, **what["message"]}
        else:
            what = {"date": int(time.time()), "chat": chat, **what}
        self._client.post(way, json={"botToken": TOKEN, "from": author, **what}).raise_for_status()

    def sees(self) -> dict[str, dict[str, Any]]:
        """What the bot sent, by its id."""
        told = self._client.post("getUpdatesHistory", json={"token": TOKEN}).json()["result"]
        return {
            str(m["messageId"]): m["message"] for m in told if "chat_id" in m.get("message", {})
        }


@pytest.fixture
def people(emulator: httpx.Client) -> People:
    return People(emulator)


@pytest.fixture
def telegram(emulator: httpx.Client) -> Telegram:
    return Telegram(TOKEN, lambda: [ANN], base_url=str(emulator.base_url))


async def test_it_says_who_it_is(telegram: Telegram) -> None:
    assert await telegram.check() == "@TestNameBot"


async def test_a_card_is_sent_and_changed(telegram: Telegram, people: People) -> None:
    message = await telegram.send(ANN, CARD)
    shown = people.sees()[message]
    assert (shown["chat_id"], shown["parse_mode"], shown["text"]) == (ANN, "HTML", HTML)
    assert json.loads(shown["link_preview_options"]) == {"is_disabled": True}
    [row] = shown["reply_markup"]["inline_keyboard"]
    assert [button["callback_data"] for button in row] == ["d1-a", "d1-b"]
    await telegram.update(ANN, message, Card(title="over"))
    assert people.sees()[message]["text"] == "<b>over</b>"


async def test_a_press_words_and_a_command_reach_the_desk(
    telegram: Telegram, people: People
) -> None:
    desk = Notebook(says=Reply(says="Thank you.", card=Card(title="Question 2")))
    message = await telegram.send(ANN, CARD)
    pressed = {"message_id": int(message)}
    async with listening(telegram, desk):
        people.does("sendCallback", ANN, data="d1-b", message=pressed)
        await until(lambda: people.sees()[message]["text"] == "<b>Question 2</b>")
        desk.says = Reply(ask="Which?")
        people.does("sendMessage", ANN, text="Neither <b>")
        await until(lambda: any(m["text"] == "Which?" for m in people.sees().values()))
        people.does(
            "sendCommand",
            ANN,
            text="/why task-1",
            entities=[{"type": "bot_command", "offset": 0, "length": 4}],
        )
        await until(lambda: len(desk.handed) == 3)
        people.does("sendCallback", STRANGER, data="d1-b", message=pressed)
        await until(lambda: len(desk.handed) == 4)
    ways = [(way, act.person, what, words) for way, act, _, what, words in desk.handed]
    assert ways == [
        ("pressed", ANN, "d1-b", None),
        ("wrote", ANN, "", "Neither <b>"),
        ("ordered", ANN, "why", "task-1"),
        ("pressed", STRANGER, "d1-b", None),
    ]
