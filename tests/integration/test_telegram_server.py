"""That the fake Bot API is as strict as the real one, in its words."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.telegram_server import TOKEN, FakeTelegram, serving

ANN = 11
BUTTON = {"text": "Yes", "callback_data": "a"}


@pytest.fixture
def platform() -> Iterator[FakeTelegram]:
    with serving() as fake:
        fake.start(ANN)
        yield fake


def ask(platform: FakeTelegram, method: str, token: str = TOKEN, **fields: Any) -> Any:
    sent = {n: v if isinstance(v, str) else json.dumps(v) for n, v in fields.items()}
    return httpx.post(f"{platform.address}/bot{token}/{method}", data=sent, timeout=30).json()


def refusal(platform: FakeTelegram, method: str, **fields: Any) -> str:
    answer = ask(platform, method, **fields)
    assert answer["ok"] is False
    return answer["description"]


def keyboard(**button: Any) -> dict[str, Any]:
    return {"inline_keyboard": [[{**BUTTON, **button}]]}


@pytest.mark.parametrize(
    ("html", "why"),
    [
        ("<b>x", "can't parse entities: Can't find end tag corresponding to start tag \"b\""),
        ("é<x>y</x>", 'can\'t parse entities: Unsupported start tag "x" at byte offset 2'),
        ("x</b>", "can't parse entities: Unexpected end tag at byte offset 1"),
        ("<b", "can't parse entities: Unclosed start tag at byte offset 0"),
        (
            "<b>x</i>",
            "can't parse entities: Unmatched end tag at byte offset 4, "
            'expected "</b>", found "</i>"',
        ),
        ("<b></b>", "text must be non-empty"),
        (" ", "message text is empty"),
        ("x" * 4097, "message is too long"),
        ("🤖" * 2049, "message is too long"),
    ],
)
def test_text_that_is_refused(platform: FakeTelegram, html: str, why: str) -> None:
    said = refusal(platform, "sendMessage", chat_id=ANN, text=html, parse_mode="HTML")
    assert said == f"Bad Request: {why}"


@pytest.mark.parametrize(
    ("markup", "why"),
    [
        (keyboard(callback_data="ä" * 33), "BUTTON_DATA_INVALID"),
        (keyboard(callback_data=""), "BUTTON_DATA_INVALID"),
        (keyboard(callback_data=None), "Text buttons are unallowed in the inline keyboard"),
        (keyboard(style="huge"), "invalid button style specified"),
        ({"inline_keyboard": [BUTTON]}, 'field "inline_keyboard" must be an Array of Arrays'),
        ({"inline_keyboard": [[BUTTON] * 101]}, "reply markup is too long"),
        ({"force_reply": "yes"}, "can't parse reply keyboard markup JSON object"),
    ],
)
def test_buttons_that_are_refused(platform: FakeTelegram, markup: Any, why: str) -> None:
    said = refusal(platform, "sendMessage", chat_id=ANN, text="x", reply_markup=markup)
    assert said == f"Bad Request: {why}"


@pytest.mark.parametrize(
    ("method", "fields", "why"),
    [
        ("sendMessage", {"chat_id": 99, "text": "x"}, "Bad Request: chat not found"),
        ("sendMessage", {"chat_id": ANN}, "Bad Request: message text is empty"),
        ("sendMessage", {"chat_id": "ann", "text": "x"}, "Bad Request: can't parse chat_id"),
        (
            "sendMessage",
            {"chat_id": ANN, "text": "x", "reply_parameters": {"message_id": 5}},
            "Bad Request: message to be replied not found",
        ),
        (
            "editMessageText",
            {"chat_id": ANN, "message_id": 5, "text": "x"},
            "Bad Request: message to edit not found",
        ),
        (
            "answerCallbackQuery",
            {"callback_query_id": "q1"},
            "Bad Request: query is too old and response timeout expired or query ID is invalid",
        ),
        (
            "answerCallbackQuery",
            {"callback_query_id": "q1", "text": "x" * 201},
            "Bad Request: MESSAGE_TOO_LONG",
        ),
        (
            "setWebhook",
            {"url": "http://am.example"},
            "Bad Request: bad webhook: HTTPS url must be provided for webhook",
        ),
        ("sendNothing", {}, "Not Found"),
    ],
)
def test_requests_that_are_refused(
    platform: FakeTelegram, method: str, fields: dict[str, Any], why: str
) -> None:
    assert refusal(platform, method, **fields) == why


def test_what_no_program_should_send_is_kept(platform: FakeTelegram) -> None:
    assert ask(platform, "sendMessage", chat_id=ANN, text="x", colour="red")["ok"]
    ask(platform, "sendMessage", text="x")
    ask(platform, "sendNothing")
    assert platform.faults == [
        "sendMessage: field colour is unknown",
        "sendMessage: field chat_id is missing",
        "sendNothing: no such method",
    ]


def test_tokens(platform: FakeTelegram) -> None:
    assert refusal(platform, "getMe", token="4242:" + "x" * 35) == "Unauthorized"
    assert refusal(platform, "getMe", token="nonsense") == "Not Found"


def test_updates_are_told_until_they_are_confirmed(platform: FakeTelegram) -> None:
    first, second = platform.write(ANN, ANN, "one"), platform.write(ANN, ANN, "two")

    def told(**fields: Any) -> list[int]:
        return [one["update_id"] for one in ask(platform, "getUpdates", **fields)["result"]]

    assert told() == told() == [first, second]
    assert told(allowed_updates=["callback_query"]) == []
    assert told(offset=second) == [second]
    assert (platform.is_confirmed(first), platform.is_confirmed(second)) == (True, False)
