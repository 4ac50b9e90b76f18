"""The channel of Slack behind its real library, before a Slack on loopback."""

import asyncio
import logging
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from agents_manager.channels import slack as slack_channel
from agents_manager.channels import slack_socket
from agents_manager.channels.slack import Slack
from agents_manager.domain.card import Button, Card, Reply
from agents_manager.errors import ChannelDown, ChannelRefused, StoreError
from agents_manager.flow.ports.channels import Act, Channel
from tests.slack_server import (
    APP_TOKEN,
    BOT_TOKEN,
    GENERAL,
    WAIT_S,
    FakeSlack,
    Seen,
    Trouble,
    slack,
)

ANN, EVE = "U0ANN", "U0EVE"
CARD = Card(
    title="Which one?",
    body=("A < B & <!channel>",),
    buttons=(Button(id="d1-a", label="This"), Button(id="d1-b", label="Custom answer…")),
    link="https://manager.example/tasks/task-1",
)
OVER = Card(title="Which one?", body=("✓ ann answered via web: This",))


@dataclass
class Desk:
    reply: Reply | None = None
    error: Exception | None = None
    wait: asyncio.Event | None = None
    handed: list[tuple[str, Act, str | None, str, str | None]] = field(
        default_factory=list[tuple[str, Act, str | None, str, str | None]]
    )

    async def pressed(
        self, channel: str, act: Act, message: str, button: str, words: str | None = None
    ) -> Reply | None:
        return await self._take("pressed", act, message, button, words)

    async def wrote(self, channel: str, act: Act, to: str | None, words: str) -> Reply | None:
        return await self._take("wrote", act, to, "", words)

    async def ordered(self, channel: str, act: Act, command: str, words: str) -> Reply | None:
        return await self._take("ordered", act, None, command, words)

    async def _take(
        self, way: str, act: Act, at: str | None, button: str, words: str | None
    ) -> Reply | None:
        self.handed.append((way, act, at, button, words))
        if self.wait is not None:
            await self.wait.wait()
        if self.error is not None:
            raise self.error
        return self.reply


@pytest.fixture
async def fake() -> AsyncGenerator[FakeSlack]:
    async with slack() as running:
        yield running
    assert running.faults == []


@pytest.fixture
def channel(fake: FakeSlack) -> Slack:
    return made(fake)


def made(fake: FakeSlack, bot_token: str = BOT_TOKEN, app_token: str | None = APP_TOKEN) -> Slack:
    places = [ANN, GENERAL]
    return Slack(bot_token, lambda: places, app_token=app_token, base_url=fake.base_url)


@asynccontextmanager
async def heard(channel: Slack, desk: Desk) -> AsyncIterator[Desk]:
    listening = asyncio.create_task(channel.listen(desk))
    try:
        yield desk
    finally:
        listening.cancel()
        await asyncio.wait([listening])


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not true():
            await asyncio.sleep(0.02)


# --------------------------------------------------------------------------------- what it sends


async def test_a_person_is_written_to_in_their_own_conversation(
    fake: FakeSlack, channel: Slack
) -> None:
    fits: Channel = channel
    first = await fits.send(ANN, CARD)
    await channel.send(ANN, CARD)
    await channel.update(ANN, first, OVER)
    assert fake.asked.count("conversations.open") == 1
    seen = fake.shown(fake.direct(ANN), first)
    assert "✓ ann answered via web: This" in seen.text
    assert seen.buttons == ()


async def test_nobody_fetches_what_an_agent_names(fake: FakeSlack, channel: Slack) -> None:
    message = await channel.send(GENERAL, CARD)
    sent = fake.messages[GENERAL, message]
    assert (sent["unfurl_links"], sent["unfurl_media"]) == (False, False)
    assert sent["text"] == "Which one?\n\nA &lt; B &amp; &lt;!channel&gt;"


async def test_it_says_as_whom_it_speaks(channel: Slack) -> None:
    assert await channel.check() == "agents_manager in the workspace Acme"


async def test_what_slack_finds_too_long_becomes_a_link(fake: FakeSlack, channel: Slack) -> None:
    """It does not say what it counts, so that it may refuse what we find short enough."""
    posted = fake._chat_postMessage
    calls = iter([Trouble(error="msg_blocks_too_long").response()])
    fake._chat_postMessage = lambda given: next(calls, None) or posted(given)  # type: ignore[method-assign]
    seen = fake.shown(GENERAL, await channel.send(GENERAL, CARD))
    assert "too long to be shown" in seen.text
    assert seen.buttons == ()


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("C0NOWHERE", 'Nothing can be sent to "C0NOWHERE" in Slack: Slack knows no such place'),
        ("C0OTHER", "/invite"),
        ("U0NOBODY", "member id"),
    ],
)
async def test_a_place_that_is_none_is_refused_with_the_way_out(
    channel: Slack, place: str, words: str
) -> None:
    with pytest.raises(ChannelRefused) as caught:
        await channel.send(place, CARD)
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("invalid_auth", "AM_SLACK_BOT_TOKEN"),
        ("not_allowed_token_type", "begins with xoxb-"),
        ("account_inactive", "install the app in the workspace again"),
        ("token_revoked", "install the app in the workspace again"),
        ("is_archived", "name another one"),
        ("something_new", "Slack refused it: something_new."),
    ],
)
async def test_refusals_are_told_in_words(
    fake: FakeSlack, channel: Slack, code: str, words: str
) -> None:
    fake.trouble = Trouble(error=code)
    with pytest.raises(ChannelRefused) as caught:
        await channel.send(GENERAL, CARD)
    assert words in caught.value.message


async def test_a_scope_that_is_missing_is_named(fake: FakeSlack, channel: Slack) -> None:
    fake.scopes -= {"im:write", "connections:write"}
    with pytest.raises(ChannelRefused, match='lacks the scope "im:write"; add it under OAuth'):
        await channel.send(ANN, CARD)
    with pytest.raises(ChannelRefused, match=r'"connections:write"; generate .* App-Level Tokens'):
        await channel.listen(Desk())


async def test_slack_is_left_alone_for_as_long_as_it_asks(fake: FakeSlack, channel: Slack) -> None:
    fake.trouble = Trouble(429, "ratelimited", {"Retry-After": "30"})
    with pytest.raises(ChannelDown) as caught:
        await channel.send(GENERAL, CARD)
    assert (caught.value.wait_s, caught.value.unsure) == (30, False)
    assert fake.asked == ["chat.postMessage"]


@pytest.mark.parametrize("trouble", [Trouble(503), Trouble(503, "service_unavailable")])
async def test_a_slack_that_is_out_of_order_took_nothing(
    fake: FakeSlack, channel: Slack, trouble: Trouble
) -> None:
    fake.trouble = trouble
    with pytest.raises(ChannelDown) as caught:
        await channel.send(GENERAL, CARD)
    assert not caught.value.unsure


@pytest.mark.parametrize(
    "trouble",
    [
        Trouble(200, "internal_error"),
        Trouble(200, "fatal_error"),
        Trouble(502, raw="Bad gateway"),
        Trouble(200, raw="Hello"),
        Trouble(200, raw="<html>", headers={"Content-Type": "text/html"}),
        Trouble(200, raw="[1]", headers={"Content-Type": "application/json"}),
        Trouble(200, raw="{", headers={"Content-Type": "application/json"}),
        Trouble(500, raw="{", headers={"Content-Type": "application/json"}),
        Trouble(200, raw='{"ok": true}', headers={"Content-Type": "application/json"}),
    ],
)
async def test_what_is_not_slacks_answer_is_tried_again_later(
    fake: FakeSlack, channel: Slack, trouble: Trouble
) -> None:
    fake.trouble = trouble
    with pytest.raises(ChannelDown) as caught:
        await channel.send(GENERAL, CARD)
    assert caught.value.unsure
    with pytest.raises(ChannelDown):
        await channel.check()


async def test_a_slack_that_cannot_be_reached_is_tried_again_later() -> None:
    channel = Slack(BOT_TOKEN, lambda: [GENERAL], base_url="http://127.0.0.1:9/api/")
    with pytest.raises(ChannelDown, match="Slack cannot be reached") as caught:
        await channel.send(GENERAL, CARD)
    assert not caught.value.unsure


@pytest.mark.parametrize("mute", ["says nothing", "hangs up"])
async def test_a_message_that_slack_took_without_saying_so_is_not_sent_twice_unmarked(
    fake: FakeSlack, monkeypatch: pytest.MonkeyPatch, mute: str
) -> None:
    monkeypatch.setattr("agents_manager.channels.slack_web.TIMEOUT_S", 0.2)
    fake.mute = mute
    with pytest.raises(ChannelDown) as caught:
        await made(fake).send(GENERAL, CARD)
    assert caught.value.unsure
    assert len(fake.messages) == 1


async def test_without_its_library_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "slack_sdk.web.async_client", None)
    with pytest.raises(ChannelRefused, match=r'pip install "agents-manager\[slack\]"'):
        Slack(BOT_TOKEN, lambda: [GENERAL])


async def test_no_token_is_told(
    fake: FakeSlack,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tests.slack_server.WAIT_S", 0.3)
    caplog.set_level(logging.DEBUG)
    wrong = made(fake, "xoxb-wrongTokenForTests", "xapp-wrongTokenForTests")
    said: list[str] = []
    for asking in (lambda: wrong.send(GENERAL, CARD), lambda: wrong.listen(Desk())):
        with pytest.raises(ChannelRefused) as caught:
            await asking()
        said.append(caught.value.message)
    assert "AM_SLACK_BOT_TOKEN" in said[0]
    channel = made(fake)
    async with heard(channel, Desk(error=StoreError("gone"))):
        await fake.tell(fake.writing(ANN, fake.direct(ANN), "hello"))
        await fake.hang_up(None)
    told = "".join(said) + caplog.text + "".join(capsys.readouterr())
    assert "slack" in told.lower()
    for secret in ("wrongTokenForTests", "fakeTokenForTests", "ticket-"):
        assert secret not in told


async def test_an_app_token_that_is_wrong_is_named(fake: FakeSlack) -> None:
    channel = made(fake, app_token="xapp-wrong")
    for asking in (lambda: channel.listen(Desk()), channel.check):
        with pytest.raises(ChannelRefused, match=r"xapp-.*AM_SLACK_APP_TOKEN"):
            await asking()


# ---------------------------------------------------------------------------------- what it hears


async def test_a_press_is_handed_over_and_answered(fake: FakeSlack, channel: Slack) -> None:
    async with heard(channel, Desk(Reply(says="Thank you.", card=OVER))) as desk:
        message = await channel.send(ANN, CARD)
        direct = fake.direct(ANN)
        assert await fake.tell(fake.pressing(ANN, direct, message, "This"))
    [(way, act, at, button, words)] = desk.handed
    assert (way, at, button, words) == ("pressed", message, "d1-a", None)
    assert (act.person, act.called, act.place) == (ANN, "ann", ANN)
    assert "✓ ann answered" in fake.shown(direct, message).text
    [whisper] = fake.whispers
    assert (whisper["channel"], whisper["user"]) == (direct, ANN)
    assert Seen.of(whisper).text == "Thank you."


async def test_a_press_that_is_told_again_has_the_same_key(fake: FakeSlack, channel: Slack) -> None:
    async with heard(channel, Desk(Reply())) as desk:
        message = await channel.send(GENERAL, CARD)
        pressing = fake.pressing(ANN, GENERAL, message, "This")
        writing = fake.writing(ANN, GENERAL, "words", message)
        for told in (pressing, pressing, writing, writing):
            assert await fake.tell(told, retry=1)
        assert await fake.tell(fake.pressing(ANN, GENERAL, message, "This"))
    keys = [handed[1].key for handed in desk.handed]
    assert keys[0] == keys[1]
    assert keys[2] == keys[3]
    assert len(set(keys)) == 3


async def test_words_are_given_in_a_form(fake: FakeSlack, channel: Slack) -> None:
    async with heard(channel, Desk(Reply(ask="Your answer to: which?"))) as desk:
        message = await channel.send(ANN, CARD)
        assert await fake.tell(fake.pressing(ANN, fake.direct(ANN), message, "Custom answer…"))
        form = fake.form(ANN)
        assert "Your answer to: which?" in str(form.view)
        desk.reply = Reply(ask="That is too short. Your answer to: which?")
        assert await fake.tell(fake.sending(ANN, "No"))
        assert form.open
        assert "That is too short." in str(form.view)
        desk.reply = Reply(says="Thank you.", card=OVER)
        assert await fake.tell(fake.sending(ANN, "Neither <b> &amp; *both*"))
    assert not form.open
    way, act, at, button, words = desk.handed[-1]
    assert (way, at, button, words) == ("pressed", message, "d1-b", "Neither <b> &amp; *both*")
    assert (act.person, act.place) == (ANN, ANN)
    assert desk.handed[1][1].key == act.key
    assert "✓ ann answered" in fake.shown(fake.direct(ANN), message).text
    assert Seen.of(fake.whispers[-1]).text == "Thank you."


async def test_a_form_that_comes_too_late_is_said(fake: FakeSlack, channel: Slack) -> None:
    fake.triggers_expire = True
    async with heard(channel, Desk(Reply(ask="Which?"))):
        message = await channel.send(GENERAL, CARD)
        assert await fake.tell(fake.pressing(ANN, GENERAL, message, "Custom answer…"))
    assert "press the button again" in Seen.of(fake.whispers[-1]).text


async def test_a_reply_in_the_thread_is_words_to_the_message(
    fake: FakeSlack, channel: Slack
) -> None:
    async with heard(channel, Desk(Reply(says="Thank you.", card=OVER))) as desk:
        message = await channel.send(GENERAL, CARD)
        assert await fake.tell(fake.writing(ANN, GENERAL, "Use <b> & JWT", message))
    [(way, act, to, _, words)] = desk.handed
    assert (way, to, words) == ("wrote", message, "Use <b> & JWT")
    assert (act.person, act.place) == (ANN, GENERAL)
    [whisper] = fake.whispers
    assert (whisper["user"], whisper["thread_ts"]) == (ANN, message)
    [posted] = [m for m in fake.messages.values() if m.get("thread_ts") == message]
    assert "✓ ann answered" in Seen.of(posted).text


async def test_threads_of_others_are_not_ours(fake: FakeSlack, channel: Slack) -> None:
    fake.messages[GENERAL, "1600.1"] = {"user": EVE, "text": "lunch?"}
    direct = fake.direct(ANN)
    fake.messages[direct, "1600.2"] = {"user": ANN, "text": "hello"}
    async with heard(channel, Desk(Reply(says="What?"))) as desk:
        assert await fake.tell(fake.writing(ANN, GENERAL, "yes", "1600.1"))
        assert desk.handed == []
        assert await fake.tell(fake.writing(ANN, direct, "well?", "1600.2"))
    [(_, act, to, _, _)] = desk.handed
    assert (act.place, to) == (ANN, None)


async def test_a_command_is_answered_to_them_alone(fake: FakeSlack, channel: Slack) -> None:
    inbox = Card(title="Your inbox", body=("Nobody asks anything.",))
    async with heard(channel, Desk(Reply(card=inbox, says="Here it is."))) as desk:
        assert await fake.tell(fake.ordering(ANN, "C0OTHER", "why task-1 now"))
    way, act, _, command, words = desk.handed[0]
    assert (way, command, words) == ("ordered", "why", "task-1 now")
    assert (act.person, act.place) == (ANN, "C0OTHER")
    assert [person for person, _ in fake.responses] == [ANN, ANN]
    assert "Nobody asks anything." in Seen.of(fake.responses[1][1]).text


async def test_a_question_that_one_person_sees_is_answered_in_its_place(
    fake: FakeSlack, channel: Slack
) -> None:
    """Also in a channel that the app is no member of, where it can do nothing else."""
    async with heard(channel, Desk(Reply(card=CARD))) as desk:
        assert await fake.tell(fake.ordering(ANN, "C0OTHER", "task 1"))
        [(_, asked)] = fake.ephemerals
        desk.reply = Reply(ask="Which?")
        assert await fake.tell(fake.pressing(ANN, "C0OTHER", asked, "Custom answer…"))
        desk.reply = Reply(says="Thank you.", card=OVER)
        assert await fake.tell(fake.sending(ANN, "Neither"))
    way, act, at, button, words = desk.handed[-1]
    assert (way, act.place, at, button, words) == ("pressed", "C0OTHER", asked, "d1-b", "Neither")
    seen = [Seen.of(message).text for message in fake.ephemerals.values()]
    assert "✓ ann answered via web: This" in seen[0]
    assert seen[1:] == ["Thank you."]
    assert (fake.whispers, fake.messages) == ([], {})


async def test_a_command_is_answered_nowhere_but_at_slack(
    fake: FakeSlack, channel: Slack, caplog: pytest.LogCaptureFixture
) -> None:
    async with slack() as elsewhere, heard(channel, Desk(Reply(says="secret"))):
        told = fake.ordering(ANN, GENERAL, "inbox")
        theirs = elsewhere.ordering(ANN, GENERAL, "inbox")["response_url"]
        assert await fake.tell({**told, "response_url": theirs})
        assert elsewhere.responses == []


async def test_somebody_of_another_workspace_is_nobody(fake: FakeSlack, channel: Slack) -> None:
    """Ids of people are their own only within a workspace; a channel can be shared with another."""
    async with heard(channel, Desk(Reply(says="Thank you."))) as desk:
        message = await channel.send(GENERAL, CARD)
        assert await fake.tell(fake.pressing(ANN, GENERAL, message, "This", team="T0EVIL"))
        assert await fake.tell(fake.ordering(ANN, GENERAL, "inbox", team="T0EVIL"))
        assert await fake.tell(fake.writing(ANN, GENERAL, "x", message, user_team="T0EVIL"))
        assert (desk.handed, fake.whispers, fake.responses) == ([], [], [])
        assert await fake.tell(fake.pressing(ANN, GENERAL, message, "This"))
    assert len(desk.handed) == 1


async def test_whom_the_desk_does_not_know_gets_silence(fake: FakeSlack, channel: Slack) -> None:
    async with heard(channel, Desk(None)) as desk:
        message = await channel.send(GENERAL, CARD)
        assert await fake.tell(fake.pressing(EVE, GENERAL, message, "This"))
        assert await fake.tell(fake.writing(EVE, GENERAL, "x", message))
        assert await fake.tell(fake.ordering(EVE, GENERAL, "inbox"))
    assert len(desk.handed) == 3
    assert (fake.whispers, fake.responses, len(fake.messages)) == ([], [], 1)


async def test_opening_the_link_is_no_answer(fake: FakeSlack, channel: Slack) -> None:
    async with heard(channel, Desk(Reply(says="?"))) as desk:
        message = await channel.send(GENERAL, CARD)
        assert await fake.tell(fake.pressing(ANN, GENERAL, message, "Open"))
    assert desk.handed == []


async def test_slack_does_not_wait_for_a_slow_desk(
    fake: FakeSlack, channel: Slack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slack_channel, "ACK_S", 0.05)
    desk = Desk(Reply(says="Thank you."), wait=asyncio.Event())
    async with heard(channel, desk):
        message = await channel.send(GENERAL, CARD)
        assert await fake.tell(fake.pressing(ANN, GENERAL, message, "This"))
        assert fake.whispers == []
        assert desk.wait is not None
        desk.wait.set()
        await until(lambda: len(fake.whispers) == 1)


@pytest.mark.parametrize("error", [StoreError("The disk is full."), ZeroDivisionError()])
async def test_what_the_desk_could_not_take_did_not_arrive(
    fake: FakeSlack, channel: Slack, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """So that Slack says so to the person, or tells us again; and others are still heard."""
    monkeypatch.setattr("tests.slack_server.WAIT_S", 0.3)
    async with heard(channel, Desk(Reply(), error=error)) as desk:
        message = await channel.send(GENERAL, CARD)
        assert not await fake.tell(fake.pressing(ANN, GENERAL, message, "This"))
        desk.error = None
        monkeypatch.setattr("tests.slack_server.WAIT_S", WAIT_S)
        assert await fake.tell(fake.pressing(ANN, GENERAL, message, "This"))


async def test_an_answer_that_cannot_be_shown_did_arrive(fake: FakeSlack, channel: Slack) -> None:
    async with heard(channel, Desk(Reply(says="Thank you.", card=OVER))) as desk:
        message = await channel.send(GENERAL, CARD)
        fake.trouble = Trouble(503, methods=frozenset({"chat.update"}))
        assert await fake.tell(fake.pressing(ANN, GENERAL, message, "This"))
    assert len(desk.handed) == 1
    assert [Seen.of(whisper).text for whisper in fake.whispers] == ["Thank you."]


# ------------------------------------------------------------------------------ how it is connected


@pytest.mark.parametrize("reason", ["refresh_requested", "warning", None])
async def test_a_connection_that_ends_is_opened_again(
    fake: FakeSlack, channel: Slack, monkeypatch: pytest.MonkeyPatch, reason: str | None
) -> None:
    monkeypatch.setattr(slack_socket, "LOOK_S", 0.05)
    async with heard(channel, Desk(Reply())) as desk:
        direct = fake.direct(ANN)
        for times in range(1, 3):
            assert await fake.tell(fake.writing(ANN, direct, f"hello {times}"))
            assert fake.connections >= times
            await fake.hang_up(reason)
        assert await fake.tell(fake.writing(ANN, direct, "still there?"))
    assert len(desk.handed) == 3


async def test_a_socket_that_is_switched_off_is_told(
    fake: FakeSlack, channel: Slack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slack_socket, "LOOK_S", 0.05)
    listening = asyncio.create_task(channel.listen(Desk()))
    direct = fake.direct(ANN)
    assert await fake.tell(fake.writing(ANN, direct, '{"type": "disconnect"} link_disabled'))
    await fake.hang_up("link_disabled")
    with pytest.raises(ChannelRefused, match="Socket Mode is switched off"):
        await listening


async def test_a_slack_that_is_down_is_tried_until_it_is_up(
    fake: FakeSlack, channel: Slack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slack_socket, "FIRST_WAIT_S", 0.02)
    fake.trouble = Trouble(503)
    async with heard(channel, Desk(Reply())) as desk:
        await until(lambda: fake.asked.count("apps.connections.open") >= 3)
        fake.trouble = None
        assert await fake.tell(fake.writing(ANN, fake.direct(ANN), "hello"))
    assert len(desk.handed) == 1


async def test_a_ticket_is_not_tried_twice(
    fake: FakeSlack, channel: Slack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library alone would try the same address for ever."""
    monkeypatch.setattr(slack_socket, "FIRST_WAIT_S", 0.02)
    monkeypatch.setattr(slack_socket, "CONNECT_S", 0.2)
    tickets, fake._tickets = fake._tickets, _Refused()
    async with heard(channel, Desk(Reply())) as desk:
        await until(lambda: fake.asked.count("apps.connections.open") >= 2)
        fake._tickets = tickets
        assert await fake.tell(fake.writing(ANN, fake.direct(ANN), "hello"))
    assert len(desk.handed) == 1


class _Refused(set[str]):
    def __contains__(self, ticket: object) -> bool:
        return False


async def test_without_a_socket_it_only_waits(fake: FakeSlack) -> None:
    async with heard(made(fake, app_token=None), Desk()):
        await asyncio.sleep(0.05)
    assert fake.asked == []
