"""What every channel does: it shows cards, and hands what people do to a desk. A channel takes part
by a player, who does what people do there."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest

from agents_manager.domain.card import Button, Card, Reply
from agents_manager.testing.contracts.channels import CARD, ChannelContract
from tests.channel_players import ANN, PLAYERS, STRANGER, Notebook, Player
from tests.push_player import push
from tests.slack_player import slack
from tests.telegram_player import telegram

PLAYING = {**PLAYERS, "slack": slack, "telegram": telegram, "push": push}


ANSWERING = ["memory", "slack", "telegram"]


@pytest.fixture(params=ANSWERING)
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


class TestChannels(ChannelContract):
    @pytest.fixture(params=PLAYING)
    async def player(self, request: pytest.FixtureRequest) -> AsyncGenerator[Player]:
        async with PLAYING[request.param]() as playing:
            yield playing

    @pytest.fixture(params=[None, 17.0])
    def wait_s(self, request: pytest.FixtureRequest, player: Player) -> float | None:
        return None if player.channel.name == "desktop" else request.param


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


async def test_a_reply_reaches_the_desk_with_the_message_it_is_to(player: Player) -> None:
    async with heard(player, Notebook(says=Reply(says="Thank you."))) as desk:
        message = await player.channel.send(player.place, CARD)
        await player.write("Neither", to=message)
    way, act, to, _, words = desk.handed[-1]
    assert (way, act.person, to, words) == ("wrote", ANN, message, "Neither")
    assert await player.told() == ["Thank you."]


async def test_a_command_is_answered_with_a_message(player: Player) -> None:
    inbox = Card(title="Your inbox", body=("Nobody asks anything.",))
    async with heard(player, Notebook(says=Reply(card=inbox))) as desk:
        await player.order("why", "task-1 now")
    way, act, _, command, words = desk.handed[-1]
    assert (way, act.person, command, words) == ("ordered", ANN, "why", "task-1 now")
    assert any("Nobody asks anything." in seen.text for seen in await player.messages())


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
