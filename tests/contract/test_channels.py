"""What every channel does: it shows cards, and hands what people do to a desk. A channel takes part
by a player, who does what people do there."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest

from agents_manager.domain.card import Button, Card, Reply, Style
from agents_manager.errors import ChannelDown, ChannelRefused
from tests.channel_players import ANN, PLAYERS, STRANGER, Notebook, Player
from tests.push_player import push
from tests.slack_player import slack
from tests.telegram_player import telegram

CARD = Card(
    title='🤖 Agent needs input on "Add authentication"',
    body=("Which auth strategy should I use?", "→ JWT tokens (recommended)\n  Stateless"),
    buttons=(
        Button(id="d1-a", label="JWT tokens (recommended)", style=Style.PRIMARY),
        Button(id="d1-b", label="Session-based"),
        Button(id="d1-c", label="Custom answer…"),
        Button(id="d1-d", label="Stop", style=Style.DANGER),
    ),
    hint="You can also reply to this message with your own words.",
    link="https://manager.example/tasks/task-1",
)
HOSTILE = [
    "*bold* _italic_ ~gone~ `code` ```block``` [a](https://evil.example)",
    "<b>bold</b> <script>alert(1)</script> &amp; <@U123> <!channel> <https://evil.example|here>",
    "unclosed _ * ` [ ( < & \\ | ~ > # + - = { } . !",
    "@everyone :smile: \\_ \\\\* &lt;",
]


PLAYING = {**PLAYERS, "slack": slack, "telegram": telegram, "push": push}


UPDATING = [name for name in PLAYING if name != "desktop"]
ANSWERING = ["memory", "slack", "telegram"]
answering = pytest.mark.parametrize("player", ANSWERING, indirect=True)
TIMES = [(name, wait) for name in PLAYING for wait in (None, 17.0)]


@pytest.fixture(params=PLAYING)
async def player(request: pytest.FixtureRequest) -> AsyncGenerator[Player]:
    async with PLAYING[request.param]() as playing:
        yield playing


@asynccontextmanager
async def heard(player: Player, desk: Notebook) -> AsyncIterator[Notebook]:
    """While the channel listens."""
    listening = asyncio.create_task(player.channel.listen(desk))
    await asyncio.sleep(0)
    try:
        yield desk
    finally:
        listening.cancel()
        await asyncio.wait([listening])


async def test_it_knows_where_it_sends_to_and_as_whom(player: Player) -> None:
    assert player.place in player.channel.places()
    assert await player.channel.check()


async def test_what_is_sent_is_seen_and_has_an_id(player: Player) -> None:
    first = await player.channel.send(player.place, CARD)
    other = await player.channel.send(player.place, CARD.model_copy(update={"title": "Another"}))
    assert first != other
    seen = await player.shown(first)
    assert CARD.title in seen.text
    if player.answers:
        assert all(part in seen.text for part in CARD.body)
        assert seen.buttons == tuple(b.label for b in CARD.buttons)


@pytest.mark.parametrize("player", UPDATING, indirect=True)
async def test_what_was_sent_can_be_changed(player: Player) -> None:
    message = await player.channel.send(player.place, CARD)
    over = Card(title=CARD.title, body=("✓ ann answered via web: JWT tokens",))
    await player.channel.update(player.place, message, over)
    await player.channel.update(player.place, message, over)
    seen = await player.shown(message)
    assert "✓ ann answered via web: JWT tokens" in seen.text
    assert seen.buttons == ()


async def test_a_message_that_is_gone_is_no_error(player: Player) -> None:
    message = await player.channel.send(player.place, CARD)
    await player.delete(message)
    await player.channel.update(player.place, message, Card(title="over"))


@pytest.mark.parametrize(
    ("player", "wait_s"),
    [one for one in TIMES if one != ("desktop", 17.0)],  # Which names no time.
    indirect=["player"],
)
async def test_a_platform_that_does_not_answer_is_tried_again_later(
    player: Player, wait_s: float | None
) -> None:
    message = await player.channel.send(player.place, CARD)
    await player.down(wait_s)
    with pytest.raises(ChannelDown) as sending:
        await player.channel.send(player.place, CARD)
    assert sending.value.wait_s == wait_s
    if player.updates:
        with pytest.raises(ChannelDown):
            await player.channel.update(player.place, message, Card(title="over"))
    if player.channel.name != "push":  # Of whose services nothing can be asked.
        with pytest.raises(ChannelDown):
            await player.channel.check()


async def test_what_a_platform_never_takes_is_refused(player: Player) -> None:
    await player.refuse()
    with pytest.raises(ChannelRefused) as caught:
        await player.channel.send(player.place, CARD)
    assert caught.value.message


@pytest.mark.parametrize("words", HOSTILE)
async def test_words_arrive_as_they_are_whatever_they_look_like(player: Player, words: str) -> None:
    card = Card(title=words, body=(words, f"  {words}"), buttons=(Button(id="d1-a", label="Yes"),))
    seen = await player.shown(await player.channel.send(player.place, card))
    assert words in seen.text
    if player.answers:
        assert seen.text.count(words) == 3


async def test_what_is_too_long_becomes_a_link_without_buttons(player: Player) -> None:
    long = CARD.model_copy(update={"body": ("word " * player.longest,)})
    seen = await player.shown(await player.channel.send(player.place, long))
    if not player.answers:
        return
    assert "word word" not in seen.text
    assert "too long" in seen.text
    assert "https://manager.example/tasks/task-1" in seen.text
    assert seen.buttons == ()


async def test_what_may_have_been_sent_before_says_so(player: Player) -> None:
    again = CARD.model_copy(update={"repeat": True})
    assert "(repeat)" in (await player.shown(await player.channel.send(player.place, again))).text
    assert (
        "(repeat)" not in (await player.shown(await player.channel.send(player.place, CARD))).text
    )


@answering
async def test_a_press_reaches_the_desk_with_who_and_where(player: Player) -> None:
    async with heard(player, Notebook(says=Reply(says="Thank you."))) as desk:
        message = await player.channel.send(player.place, CARD)
        await player.press(message, "Session-based")
        await player.press(message, "Session-based")
    (way, act, at, button, words), again = desk.handed
    assert (way, at, button, words) == ("pressed", message, "d1-b", None)
    assert (act.person, act.place) == (ANN, player.place)
    assert act.key != again[1].key
    assert await player.told() == ["Thank you.", "Thank you."]


@answering
async def test_what_a_press_led_to_stands_in_its_place(player: Player) -> None:
    second = Card(
        title=CARD.title, body=("Question 2 of 2",), buttons=(Button(id="d2-a", label="Yes"),)
    )
    async with heard(player, Notebook(says=Reply(card=second))) as desk:
        message = await player.channel.send(player.place, CARD)
        await player.press(message, "Session-based")
        seen = await player.shown(message)
        assert "Question 2 of 2" in seen.text
        assert seen.buttons == ("Yes",)
        await player.press(message, "Yes")
    assert desk.handed[-1][3] == "d2-a"


@answering
async def test_words_that_were_asked_for_reach_the_desk(player: Player) -> None:
    """With the press that they belong to, or as words that were written there."""
    async with heard(player, Notebook(says=Reply(ask="Your answer to: which?"))) as desk:
        message = await player.channel.send(player.place, CARD)
        await player.press(message, "Custom answer…")
        assert "Your answer to: which?" in await player.told()
        desk.says = Reply(says="Thank you.")
        await player.give("Neither <b>&amp; *both*")
    way, act, _, button, words = desk.handed[-1]
    assert words == "Neither <b>&amp; *both*"
    assert act.person == ANN
    assert (way, button) in (("pressed", "d1-c"), ("wrote", ""))


@answering
async def test_a_reply_reaches_the_desk_with_the_message_it_is_to(player: Player) -> None:
    async with heard(player, Notebook(says=Reply(says="Thank you."))) as desk:
        message = await player.channel.send(player.place, CARD)
        await player.write("Neither", to=message)
    way, act, to, _, words = desk.handed[-1]
    assert (way, act.person, to, words) == ("wrote", ANN, message, "Neither")
    assert await player.told() == ["Thank you."]


@answering
async def test_a_command_is_answered_with_a_message(player: Player) -> None:
    inbox = Card(title="Your inbox", body=("Nobody asks anything.",))
    async with heard(player, Notebook(says=Reply(card=inbox))) as desk:
        await player.order("why", "task-1 now")
    way, act, _, command, words = desk.handed[-1]
    assert (way, act.person, command, words) == ("ordered", ANN, "why", "task-1 now")
    assert any("Nobody asks anything." in seen.text for seen in await player.messages())


@answering
async def test_somebody_unknown_gets_silence(player: Player) -> None:
    async with heard(player, Notebook(says=Reply(says="Thank you."))) as desk:
        message = await player.channel.send(player.place, CARD)
        before = await player.messages()
        await player.press(message, "Session-based", person=STRANGER)
        await player.write("Let me in", person=STRANGER)
        await player.order("inbox", "", person=STRANGER)
        assert await player.told(STRANGER) == []
        assert await player.messages() == before
    assert [handed[1].person for handed in desk.handed] == [STRANGER] * 3
