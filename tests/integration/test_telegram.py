"""The channel of Telegram, by the real library, against a Bot API on loopback."""

import asyncio
import logging
from collections.abc import Awaitable, Iterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from structlog.testing import capture_logs

from agents_manager.channels.telegram import HEADER, MAX_BODY, Telegram, Webhook
from agents_manager.domain.card import Button, Card, Reply, Style
from agents_manager.errors import ChannelDown, ChannelRefused, InvalidConfig, StoreError
from agents_manager.flow.ports.channels import Act
from tests.telegram_player import listening, taken, until
from tests.telegram_server import GROUP, OTHER_POLL, TOKEN, FakeTelegram, Trouble, serving

ANN, STRANGER = 11, 66
CARD = Card(
    title="Agent needs input",
    body=("Which one?",),
    buttons=(
        Button(id="d1-a", label="JWT tokens", style=Style.PRIMARY),
        Button(id="d1-b", label="Neither", style=Style.DANGER),
    ),
    link="http://127.0.0.1:8787/tasks/1",
)
SECRET = "a-secret_of-the-webhook"


class Desk:
    """Writes down what it is handed, and answers Ann."""

    def __init__(self, says: Reply | None = None) -> None:
        self.says = says
        self.handed: list[tuple[str, Act, str | None, str]] = []
        self.error: Exception | None = None

    async def pressed(
        self, channel: str, act: Act, message: str, button: str, words: str | None = None
    ) -> Reply | None:
        return self._take(act, "pressed", message, button)

    async def wrote(self, channel: str, act: Act, to: str | None, words: str) -> Reply | None:
        return self._take(act, "wrote", to, words)

    async def ordered(self, channel: str, act: Act, command: str, words: str) -> Reply | None:
        return self._take(act, "ordered", command, words)

    def _take(self, act: Act, way: str, what: str | None, words: str) -> Reply | None:
        self.handed.append((way, act, what, words))
        if self.error is not None:
            raise self.error
        return self.says if act.person == str(ANN) else None


class Pauses:
    """A clock that is moved on."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)
        await asyncio.sleep(0.001)


@pytest.fixture
def platform() -> Iterator[FakeTelegram]:
    with serving() as fake:
        fake.start(ANN)
        yield fake
    assert fake.faults == []


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def telegram(platform: FakeTelegram, pauses: Pauses) -> Telegram:
    return channel(platform, pauses)


def channel(platform: FakeTelegram, pauses: Pauses, **more: Any) -> Telegram:
    given: dict[str, Any] = {"token": TOKEN, "places": lambda: [str(ANN)], **more}
    return Telegram(base_url=platform.address, pause=pauses, **given)


# ------------------------------------------------------------------------------------- sending


async def test_a_card_is_a_message_with_buttons(platform: FakeTelegram, telegram: Telegram) -> None:
    message = await telegram.send(str(ANN), CARD)
    [shown] = platform.sent(ANN)
    assert (str(shown.id), shown.preview) == (message, False)
    assert shown.said.text == f"Agent needs input\n\nWhich one?\n\n{CARD.link}"
    assert shown.rows == [
        [
            {"text": "JWT tokens", "callback_data": "d1-a", "style": "primary"},
            {"text": "Neither", "callback_data": "d1-b", "style": "danger"},
        ]
    ]
    assert await telegram.check() == "@agents_test_bot"


async def test_a_message_can_be_changed_or_be_gone(
    platform: FakeTelegram, telegram: Telegram
) -> None:
    message = await telegram.send(str(ANN), CARD)
    over = Card(title="Agent needs input", body=("✓ ann answered via web",))
    for _ in range(2):
        await telegram.update(str(ANN), message, over)
    [shown] = platform.sent(ANN)
    assert (shown.said.text, shown.rows) == ("Agent needs input\n\n✓ ann answered via web", [])
    platform.messages.clear()
    await telegram.update(str(ANN), message, over)


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("99", "knows no chat 99 of this bot. A person's chat opens when they open the chat"),
        ("22", "does not let the bot write to 22: Forbidden: bot was blocked by the user. A per"),
        ("-33", "has become the supergroup -10033; put that id into notifications.telegram.places"),
        ("@ann", '"@ann" is no chat of Telegram: chats have numbers'),
    ],
)
async def test_what_is_refused_says_what_to_do(
    platform: FakeTelegram, telegram: Telegram, place: str, says: str
) -> None:
    platform.blocked[22] = "bot was blocked by the user"
    platform.migrated[-33] = -10033
    with pytest.raises(ChannelRefused) as caught:
        await telegram.send(place, CARD)
    assert says in caught.value.message


async def test_a_button_that_telegram_does_not_take_is_refused(
    platform: FakeTelegram, telegram: Telegram
) -> None:
    wide = Card(title="T", buttons=(Button(id="ä" * 40, label="Yes"),))
    with pytest.raises(ChannelRefused, match=r"^Telegram does not take it: Button_data_invalid\.$"):
        await telegram.send(str(ANN), wide)


@pytest.mark.parametrize(
    ("trouble", "wait_s", "says"),
    [
        (Trouble(retry_after=17), 17.0, "Telegram wants to be left alone for 17 seconds."),
        (Trouble(status=500), None, "Telegram cannot be used now: Internal Server Error."),
        (Trouble(status=502, says=b"<html>bad</html>"), None, "Telegram cannot be used now"),
        (Trouble(status=429, says=b'{"ok": false}'), None, "too many requests"),
        (Trouble(status=200, says=b"Log in to the hotel's WLAN"), None, "no JSON"),
        (Trouble(status=200, says=b"[]"), None, "does not answer as the Bot API does"),
        (Trouble(drops=True), None, "Telegram cannot be used now"),
    ],
)
async def test_what_may_pass_is_tried_later(
    platform: FakeTelegram,
    telegram: Telegram,
    trouble: Trouble,
    wait_s: float | None,
    says: str,
) -> None:
    message = await telegram.send(str(ANN), CARD)
    platform.trouble = trouble
    asked: list[Awaitable[object]] = [
        telegram.send(str(ANN), CARD),
        telegram.update(str(ANN), message, Card(title="over")),
        telegram.check(),
    ]
    for answer in asked:
        with pytest.raises(ChannelDown) as caught:
            await answer
        assert caught.value.wait_s == wait_s
        assert says in caught.value.message
        assert type(caught.value) is ChannelDown


async def test_nobody_there_is_tried_later(pauses: Pauses) -> None:
    with serving() as gone:
        pass
    with pytest.raises(ChannelDown, match=r"^Telegram cannot be used now: httpx\.Conn"):
        await channel(gone, pauses).send(str(ANN), CARD)


async def test_what_may_have_arrived_is_told_apart(
    platform: FakeTelegram, telegram: Telegram
) -> None:
    platform.trouble = Trouble(drops=True, takes=True, times=1)
    with pytest.raises(ChannelDown) as caught:
        await telegram.send(str(ANN), CARD)
    assert caught.value.unsure
    assert len(platform.sent(ANN)) == 1


async def test_what_telegram_said_it_did_not_take_is_not_marked(
    platform: FakeTelegram, telegram: Telegram
) -> None:
    platform.trouble = Trouble(status=500, times=1)
    with pytest.raises(ChannelDown) as caught:
        await telegram.send(str(ANN), CARD)
    assert not caught.value.unsure
    assert platform.sent(ANN) == []


async def test_what_is_said_of_a_message_cannot_make_it_look_unsent(
    platform: FakeTelegram, telegram: Telegram
) -> None:
    strange = b'{"ok": true, "result": {"message_id": 7, "chat": {"id": 11}, "date": "soon"}}'
    platform.trouble = Trouble(status=200, says=strange)
    assert await telegram.send(str(ANN), CARD) == "7"


@pytest.mark.parametrize("token", ["4242:" + "x" * 35, "nonsense"])
async def test_a_wrong_token_is_told(platform: FakeTelegram, pauses: Pauses, token: str) -> None:
    telegram = channel(platform, pauses, token=token)
    with pytest.raises(ChannelDown, match="does not know the token of AM_TELEGRAM_TOKEN") as told:
        await telegram.check()
    assert token not in told.value.message
    with capture_logs() as logs:
        async with listening(telegram, Desk()):
            await until(lambda: len(pauses.taken) > 8)
    [line] = logs
    assert line["event"] == "telegram.unreachable"
    assert "AM_TELEGRAM_TOKEN" in line["reason"]
    assert pauses.taken[:8] == [1, 2, 4, 8, 16, 32, 60, 60]


async def test_the_token_is_in_no_log_and_no_error(
    platform: FakeTelegram, telegram: Telegram, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = f"No such address: /bot{TOKEN}/sendMessage".encode()
    errors: list[BaseException] = []
    warnings: list[Any] = []
    await telegram.send(str(ANN), CARD)
    for trouble in (Trouble(status=500, says=echo), Trouble(status=404, says=echo)):
        # Set before the channel listens: a poll that is already held would not see the error.
        platform.trouble = trouble
        with capture_logs() as logs:
            async with listening(telegram, Desk()):
                with pytest.raises(ChannelDown) as caught:
                    await telegram.send(str(ANN), CARD)
                await until(lambda logs=logs: logs)
        errors.append(caught.value)
        warnings += logs
    secret = TOKEN.partition(":")[2]
    said = [caplog.text, str(warnings), *map(repr, errors)]
    assert not any(secret in text for text in said)
    assert all(error.__suppress_context__ for error in errors)


# ------------------------------------------------------------------------------------ listening


async def test_a_press_is_handed_over_and_answered(
    platform: FakeTelegram, telegram: Telegram
) -> None:
    second = Card(title="Question 2", buttons=(Button(id="d2-a", label="Yes"),))
    desk = Desk(Reply(says="Thank you.", card=second))
    async with listening(telegram, desk):
        message = await telegram.send(str(ANN), CARD)
        update = platform.press(ANN, int(message), "Neither", ANN)
        await taken(platform, update)
    act = Act(key=str(update), person="11", called="Person 11", place="11")
    assert desk.handed == [("pressed", act, message, "d1-b")]
    assert platform.toasts == [(ANN, "Thank you.")]
    [shown] = platform.sent(ANN)
    assert (shown.said.text, list(shown.buttons)) == ("Question 2", ["Yes"])


async def test_words_are_asked_for(platform: FakeTelegram, telegram: Telegram) -> None:
    async with listening(telegram, Desk(Reply(ask="Your answer to: <which>?"))):
        message = await telegram.send(str(ANN), CARD)
        await taken(platform, platform.press(ANN, int(message), "Neither", ANN))
    [_, asked] = platform.sent(ANN)
    assert asked.said.text == "Your answer to: <which>?"
    assert asked.markup == {"force_reply": True, "selective": True}
    assert platform._queries == {}  # pyright: ignore[reportPrivateUsage]


async def test_in_a_group_words_are_asked_for_by_name(
    platform: FakeTelegram, telegram: Telegram
) -> None:
    async with listening(telegram, Desk(Reply(ask="Why?"))):
        message = await telegram.send(str(GROUP), CARD)
        await taken(platform, platform.press(GROUP, int(message), "Neither", ANN))
    [_, asked] = platform.sent(GROUP)
    assert asked.said.text == "Person 11: Why?"
    assert asked.said.links == [("Person 11", f"tg://user?id={ANN}")]
    assert asked.to == int(message)


async def test_long_words_are_told_in_messages(platform: FakeTelegram, telegram: Telegram) -> None:
    line = "one & another task\n"
    async with listening(telegram, Desk(Reply(says=line * 400))):
        message = await telegram.send(str(ANN), CARD)
        await taken(platform, platform.press(ANN, int(message), "Neither", ANN))
        await taken(platform, platform.write(ANN, ANN, "/tasks"))
    assert platform.toasts == []
    texts = [shown.said.text for shown in platform.sent(ANN)[1:]]
    assert len(texts) == 4
    assert [text.count("one & another task") for text in texts] == [210, 190, 210, 190]


async def test_who_is_not_known_gets_silence(platform: FakeTelegram, telegram: Telegram) -> None:
    desk = Desk(Reply(says="Thank you."))
    async with listening(telegram, desk):
        message = await telegram.send(str(GROUP), CARD)
        platform.press(GROUP, int(message), "Neither", STRANGER)
        platform.write(GROUP, STRANGER, "/stop 1")
        platform.write(STRANGER, STRANGER, "Let me in")
        await taken(platform, platform.write(GROUP, STRANGER, "Hm", to=int(message)))
    assert [act.person for _, act, _, _ in desk.handed] == [str(STRANGER)] * 4
    assert len(platform.sent(GROUP)) == 1
    assert (platform.sent(STRANGER), platform.toasts) == ([], [])


async def test_forged_forwarded_and_edited_things(
    platform: FakeTelegram, telegram: Telegram
) -> None:
    desk = Desk()
    origin = {"type": "hidden_user", "date": 1, "sender_user_name": "Ann"}
    async with listening(telegram, desk):
        message = await telegram.send(str(ANN), CARD)
        platform.write(ANN, ANN, "/run 1", forward_origin=origin)
        platform.tell({"edited_message": platform.messages[ANN, int(message)].told()})
        platform.tell({"message": {"message_id": "what", "chat": 5}})
        platform.write(ANN, ANN, "a NUL: \x00")
        await taken(platform, platform.press_data(ANN, int(message), "forged", ANN))
    [(way, _, _, button)] = desk.handed
    assert (way, button) == ("pressed", "forged")


async def test_an_answer_that_comes_too_late_is_a_message(
    platform: FakeTelegram, telegram: Telegram
) -> None:
    message = await telegram.send(str(ANN), CARD)
    update = platform.press(ANN, int(message), "Neither", ANN)
    platform.expire_queries()
    async with listening(telegram, Desk(Reply(says="Thank you."))):
        await taken(platform, update)
    assert platform.sent(ANN)[1].said.text == "Thank you."


async def test_after_a_crash_what_nobody_took_is_told_again(
    platform: FakeTelegram, pauses: Pauses
) -> None:
    first = Desk()
    update = platform.write(ANN, ANN, "/inbox")
    crashed = asyncio.Event()

    async def crash(*_: object) -> None:
        crashed.set()
        await asyncio.Event().wait()

    first.ordered = crash  # pyright: ignore[reportAttributeAccessIssue]
    async with listening(channel(platform, pauses), first):
        await crashed.wait()
    assert not platform.is_confirmed(update)
    second = Desk()
    async with listening(channel(platform, pauses), second):
        await taken(platform, update)
    assert [(act.key, what) for _, act, what, _ in second.handed] == [(str(update), "inbox")]


@pytest.mark.parametrize(
    ("error", "least", "most"), [(StoreError("locked"), 9, 1000), (KeyError("bug"), 5, 5)]
)
async def test_what_the_desk_fails_at_is_handed_over_again(
    platform: FakeTelegram, telegram: Telegram, error: Exception, least: int, most: int
) -> None:
    """Until it can be taken; what fails for good must not hold up the rest."""
    desk = Desk()
    desk.error = error
    async with listening(telegram, desk):
        first = platform.write(ANN, ANN, "/inbox")
        await until(lambda: len(desk.handed) >= least)
        if most > least:
            assert not platform.is_confirmed(first)
            desk.error = None
        await taken(platform, first)
        assert least <= len(desk.handed) <= most
        desk.error = None
        await taken(platform, platform.write(ANN, ANN, "/tasks"))
    assert desk.handed[-1][2] == "tasks"


async def test_a_reply_is_tried_again_without_the_desk(
    platform: FakeTelegram, telegram: Telegram, pauses: Pauses
) -> None:
    desk = Desk(Reply(says="Thank you."))
    platform.trouble = Trouble(retry_after=7, times=2, methods=frozenset({"sendMessage"}))
    async with listening(telegram, desk):
        await taken(platform, platform.write(ANN, ANN, "Hello"))
    assert len(desk.handed) == 1
    assert [shown.said.text for shown in platform.sent(ANN)] == ["Thank you."]
    assert pauses.taken.count(7.0) == 2


async def test_a_person_who_blocked_the_bot_does_not_stop_it(
    platform: FakeTelegram, telegram: Telegram
) -> None:
    platform.blocked[ANN] = "bot was blocked by the user"
    with capture_logs() as logs:
        async with listening(telegram, Desk(Reply(says="Thank you."))):
            await taken(platform, platform.write(ANN, ANN, "Hello"))
    assert [line["event"] for line in logs] == ["telegram.not_told"]


async def test_a_long_outage_is_survived(
    platform: FakeTelegram, telegram: Telegram, pauses: Pauses
) -> None:
    desk = Desk()
    platform.trouble = Trouble(drops=True)
    with capture_logs() as logs:
        async with listening(telegram, desk):
            await until(lambda: sum(pauses.taken) > 3600)
            platform.trouble = None
            await taken(platform, platform.write(ANN, ANN, "/inbox"))
    assert [line["event"] for line in logs] == ["telegram.unreachable", "telegram.reachable"]
    assert len(desk.handed) == 1


async def test_another_program_that_reads_along_is_told(
    platform: FakeTelegram, telegram: Telegram, pauses: Pauses
) -> None:
    with capture_logs() as logs:
        async with listening(telegram, Desk()), listening(channel(platform, pauses), Desk()):
            await until(lambda: logs)
    assert "Another program reads the messages of this Telegram bot" in logs[0]["reason"]
    assert OTHER_POLL.partition(";")[0] in logs[0]["reason"]


# -------------------------------------------------------------------------------------- webhook


def hooked(platform: FakeTelegram, pauses: Pauses) -> tuple[Telegram, httpx.AsyncClient]:
    telegram = channel(platform, pauses, webhook=Webhook("https://am.example/telegram", SECRET))
    app = Starlette(routes=[Route("/telegram", telegram.webhook, methods=["POST"])])
    transport = httpx.ASGITransport(app)
    return telegram, httpx.AsyncClient(transport=transport, base_url="http://am")


async def test_the_webhook_hands_over_what_telegram_brings(
    platform: FakeTelegram, pauses: Pauses
) -> None:
    telegram, client = hooked(platform, pauses)
    desk = Desk(Reply(says="Thank you."))
    platform.write(ANN, ANN, "/inbox now")
    [update] = platform.queue
    async with client:
        early = await client.post("/telegram", json=update, headers={HEADER: SECRET})
        async with listening(telegram, desk):
            await until(lambda: platform.webhook)
            done = await client.post("/telegram", json=update, headers={HEADER: SECRET})
    assert (early.status_code, done.status_code) == (503, 200)
    assert platform.webhook == {
        "url": "https://am.example/telegram",
        "secret_token": SECRET,
        "allowed_updates": ["message", "callback_query"],
        "max_connections": 1,
    }
    assert [(way, what, words) for way, _, what, words in desk.handed] == [
        ("ordered", "inbox", "now")
    ]
    assert [shown.said.text for shown in platform.sent(ANN)] == ["Thank you."]


async def test_what_the_desk_fails_at_is_brought_again(
    platform: FakeTelegram, pauses: Pauses
) -> None:
    telegram, client = hooked(platform, pauses)
    desk = Desk(Reply(says="Thank you."))
    desk.error = StoreError("locked")
    platform.write(ANN, ANN, "/inbox")
    [update] = platform.queue
    async with client, listening(telegram, desk):
        await until(lambda: platform.webhook)
        failed = await client.post("/telegram", json=update, headers={HEADER: SECRET})
        desk.error = None
        done = await client.post("/telegram", json=update, headers={HEADER: SECRET})
    assert (failed.status_code, done.status_code) == (503, 200)
    assert [act.key for _, act, _, _ in desk.handed] == [str(update["update_id"])] * 2
    assert [shown.said.text for shown in platform.sent(ANN)] == ["Thank you."]


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({}, b"{}", 401),
        ({HEADER: ""}, b"{}", 401),
        ({HEADER: SECRET[:-1]}, b"{}", 401),
        ({HEADER: "geheimnis-ä".encode()}, b"{}", 401),
        ({HEADER: SECRET}, b"x" * (MAX_BODY + 1), 413),
        ({HEADER: SECRET}, b"no json", 400),
        ({HEADER: SECRET}, b"[]", 400),
        ({HEADER: SECRET}, b"[" * 100_000, 400),
        ({HEADER: SECRET}, b'{"message": {"chat": 5}}', 400),
        # Telegram would bring it again and again, before everything else.
        ({HEADER: SECRET}, b'{"update_id": 1, "message": {"chat": 5}}', 200),
    ],
)
async def test_nothing_else_gets_through_the_webhook(
    platform: FakeTelegram, pauses: Pauses, headers: Any, body: bytes, status: int
) -> None:
    telegram, client = hooked(platform, pauses)
    desk = Desk()
    async with client, listening(telegram, desk):
        await until(lambda: platform.webhook)
        answer = await client.post("/telegram", content=body, headers=headers)
    assert answer.status_code == status
    assert desk.handed == []


async def test_without_a_webhook_there_is_no_way_in(telegram: Telegram) -> None:
    app = Starlette(routes=[Route("/telegram", telegram.webhook, methods=["POST"])])
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://am"
    ) as client:
        answer = await client.post("/telegram", json={"update_id": 1}, headers={HEADER: ""})
    assert answer.status_code == 401


async def test_polling_takes_a_webhook_away_that_was_left(
    platform: FakeTelegram, telegram: Telegram
) -> None:
    platform.webhook = {"url": "https://am.example/telegram"}
    desk = Desk()
    with capture_logs() as logs:
        async with listening(telegram, desk):
            await taken(platform, platform.write(ANN, ANN, "/inbox"))
    assert [line["event"] for line in logs] == ["telegram.webhook_removed"]
    assert len(desk.handed) == 1


@pytest.mark.parametrize("secret", ["", "with blank", "ä", "x" * 257])
def test_a_secret_that_telegram_does_not_take(secret: str) -> None:
    with pytest.raises(InvalidConfig, match="AM_TELEGRAM_WEBHOOK_SECRET must have 1 to 256"):
        Webhook("https://am.example/telegram", secret)
