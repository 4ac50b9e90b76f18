"""What every channel does with cards. A channel takes part by a player: the platform, seen from the
other side."""

from dataclasses import dataclass
from typing import Protocol

import pytest

from agents_manager.domain.card import Button, Card, Style
from agents_manager.errors import ChannelDown, ChannelRefused
from agents_manager.flow.ports import Channel


@dataclass(frozen=True, slots=True)
class Shown:
    """A message as people see it, whatever marks the platform needed for it."""

    text: str
    buttons: tuple[str, ...]
    """Their labels."""


class Player(Protocol):
    @property
    def channel(self) -> Channel: ...
    @property
    def place(self) -> str:
        """Where it sends to."""
        ...

    @property
    def answers(self) -> bool:
        """Whether people can answer there."""
        ...

    @property
    def updates(self) -> bool:
        """Whether what was sent can be changed."""
        ...

    @property
    def longest(self) -> int:
        """How many characters a message has at most."""
        ...

    async def down(self, wait_s: float | None) -> None:
        """From now on it does not answer; where `wait_s` is named, it says for how long."""
        ...

    async def refuse(self) -> None:
        """From now on it does not take what is sent."""
        ...

    async def shown(self, message: str) -> Shown: ...
    async def delete(self, message: str) -> None:
        """As people do."""
        ...


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


class ChannelContract:
    @pytest.fixture
    def player(self) -> Player:
        """To be overridden."""
        raise NotImplementedError

    @pytest.fixture(params=[None, 17.0])
    def wait_s(self, request: pytest.FixtureRequest) -> float | None:
        """For how long the platform says that it is down; to be overridden where it never says."""
        return request.param

    async def test_it_knows_where_it_sends_to_and_as_whom(self, player: Player) -> None:
        assert player.place in player.channel.places()
        assert await player.channel.check()

    async def test_what_is_sent_is_seen_and_has_an_id(self, player: Player) -> None:
        first = await player.channel.send(player.place, CARD)
        other = await player.channel.send(
            player.place, CARD.model_copy(update={"title": "Another"})
        )
        assert first != other
        seen = await player.shown(first)
        assert CARD.title in seen.text
        if player.answers:
            assert all(part in seen.text for part in CARD.body)
            assert seen.buttons == tuple(b.label for b in CARD.buttons)

    async def test_what_was_sent_can_be_changed(self, player: Player) -> None:
        if not player.updates:
            return
        message = await player.channel.send(player.place, CARD)
        over = Card(title=CARD.title, body=("✓ ann answered via web: JWT tokens",))
        await player.channel.update(player.place, message, over)
        await player.channel.update(player.place, message, over)
        seen = await player.shown(message)
        assert "✓ ann answered via web: JWT tokens" in seen.text
        assert seen.buttons == ()

    async def test_a_message_that_is_gone_is_no_error(self, player: Player) -> None:
        message = await player.channel.send(player.place, CARD)
        await player.delete(message)
        await player.channel.update(player.place, message, Card(title="over"))

    async def test_a_platform_that_does_not_answer_is_tried_again_later(
        self, player: Player, wait_s: float | None
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

    async def test_what_a_platform_never_takes_is_refused(self, player: Player) -> None:
        await player.refuse()
        with pytest.raises(ChannelRefused) as caught:
            await player.channel.send(player.place, CARD)
        assert caught.value.message

    @pytest.mark.parametrize("words", HOSTILE)
    async def test_words_arrive_as_they_are_whatever_they_look_like(
        self, player: Player, words: str
    ) -> None:
        card = Card(
            title=words, body=(words, f"  {words}"), buttons=(Button(id="d1-a", label="Yes"),)
        )
        seen = await player.shown(await player.channel.send(player.place, card))
        assert words in seen.text
        if player.answers:
            assert seen.text.count(words) == 3

    async def test_what_is_too_long_becomes_a_link_without_buttons(self, player: Player) -> None:
        long = CARD.model_copy(update={"body": ("word " * player.longest,)})
        seen = await player.shown(await player.channel.send(player.place, long))
        if not player.answers:
            return
        assert "word word" not in seen.text
        assert "too long" in seen.text
        assert "https://manager.example/tasks/task-1" in seen.text
        assert seen.buttons == ()

    async def test_what_may_have_been_sent_before_says_so(self, player: Player) -> None:
        again = CARD.model_copy(update={"repeat": True})
        assert (
            "(repeat)" in (await player.shown(await player.channel.send(player.place, again))).text
        )
        assert (
            "(repeat)"
            not in (await player.shown(await player.channel.send(player.place, CARD))).text
        )
