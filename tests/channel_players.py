"""Who takes part in the contract of channels: a channel with the platform behind it, seen from the
other side. A player does what people do there, and tells what they see."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from agents_manager.channels.config import WebhookConfig
from agents_manager.channels.desktop import Desktop
from agents_manager.channels.webhook import Webhook
from agents_manager.domain.card import Card, Reply
from agents_manager.errors import ChannelDown, ChannelRefused
from agents_manager.flow.ports.channels import Act, Desk
from agents_manager.testing.contracts import channels as contract
from agents_manager.testing.contracts.channels import Shown
from tests.webhook_server import SECRET, Listener, listening

ANN = "4711"
"""The id of a person whom the desk knows."""
STRANGER = "666"


class Player(contract.Player, Protocol):
    """With those who answer."""

    async def press(self, message: str, label: str, *, person: str = ANN) -> None: ...
    async def give(self, words: str, *, person: str = ANN) -> None:
        """The words that a press was answered with a request for."""
        ...

    async def write(self, words: str, *, to: str | None = None, person: str = ANN) -> None: ...
    async def order(self, command: str, words: str, *, person: str = ANN) -> None: ...
    async def told(self, person: str = ANN) -> list[str]:
        """What this person was told besides messages with buttons: sentences and requests."""
        ...

    async def messages(self) -> list[Shown]:
        """All that stand in the place."""
        ...


Handed = tuple[str, Act, str | None, str, str | None]
"""Which way, who did it, the message, the button or the command or nothing, and words."""


@dataclass(slots=True)
class Notebook:
    """A desk that writes down what it is handed, and answers as it is told to."""

    says: Reply | None = None
    known: frozenset[str] = frozenset({ANN})
    handed: list[Handed] = field(default_factory=list[Handed])

    async def pressed(
        self, channel: str, act: Act, message: str, button: str, words: str | None = None
    ) -> Reply | None:
        return self._take(("pressed", act, message, button, words))

    async def wrote(self, channel: str, act: Act, to: str | None, words: str) -> Reply | None:
        return self._take(("wrote", act, to, "", words))

    async def ordered(self, channel: str, act: Act, command: str, words: str) -> Reply | None:
        return self._take(("ordered", act, None, command, words))

    def _take(self, handed: Handed) -> Reply | None:
        self.handed.append(handed)
        return self.says if handed[1].person in self.known else None


@dataclass(slots=True)
class MemoryChannel:
    """A channel without a platform."""

    name: str = "memory"
    to: Sequence[str] = (ANN,)
    longest: int = 2_000
    error: Exception | None = None
    cards: dict[str, Card] = field(default_factory=dict[str, Card])
    sent: list[tuple[str, str, Card]] = field(default_factory=list[tuple[str, str, Card]])
    """Place, message and card, of all that was ever sent."""
    updated: list[tuple[str, Card]] = field(default_factory=list[tuple[str, Card]])
    desk: Desk | None = None
    _numbers: Callable[[], int] = field(default_factory=lambda: count(1).__next__)

    def places(self) -> Sequence[str]:
        return self.to

    async def send(self, place: str, card: Card) -> str:
        if self.error is not None:
            raise self.error
        message = str(self._numbers())
        self.cards[message] = card if len(text_of(card)) <= self.longest else card.elsewhere()
        self.sent.append((place, message, card))
        return message

    async def update(self, place: str, message: str, card: Card) -> None:
        if self.error is not None:
            raise self.error
        if message in self.cards:
            self.cards[message] = card
            self.updated.append((message, card))

    async def check(self) -> str:
        if self.error is not None:
            raise self.error
        return "a channel in memory"

    async def listen(self, desk: Desk) -> None:
        self.desk = desk
        await asyncio.Event().wait()


def text_of(card: Card) -> str:
    repeat = "(repeat) " if card.repeat else ""
    parts = (f"{repeat}{card.title}", *card.body, card.hint, card.link or "")
    return "\n\n".join(part for part in parts if part)


@dataclass(slots=True)
class MemoryPlayer:
    channel: MemoryChannel = field(default_factory=MemoryChannel)
    place: str = ANN
    answers: bool = True
    updates: bool = True
    _said: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _asked: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    _keys: Callable[[], int] = field(default_factory=lambda: count(1).__next__)

    @property
    def longest(self) -> int:
        return self.channel.longest

    async def down(self, wait_s: float | None) -> None:
        self.channel.error = ChannelDown("It does not answer.", wait_s)

    async def refuse(self) -> None:
        self.channel.error = ChannelRefused("It knows no such chat.")

    async def shown(self, message: str) -> Shown:
        card = self.channel.cards[message]
        return Shown(text_of(card), tuple(b.label for b in card.buttons))

    async def delete(self, message: str) -> None:
        del self.channel.cards[message]

    async def messages(self) -> list[Shown]:
        return [await self.shown(message) for message in self.channel.cards]

    async def told(self, person: str = ANN) -> list[str]:
        return self._said.get(person, [])

    async def press(self, message: str, label: str, *, person: str = ANN) -> None:
        buttons = self.channel.cards[message].buttons
        button = next(b.id for b in buttons if b.label == label)
        await self._press(message, button, person, None)

    async def give(self, words: str, *, person: str = ANN) -> None:
        await self._press(*self._asked.pop(person), person, words)

    async def write(self, words: str, *, to: str | None = None, person: str = ANN) -> None:
        self._show(person, await self._desk.wrote("memory", self._act(person), to, words))

    async def order(self, command: str, words: str, *, person: str = ANN) -> None:
        self._show(person, await self._desk.ordered("memory", self._act(person), command, words))

    async def _press(self, message: str, button: str, person: str, words: str | None) -> None:
        act = self._act(person)
        reply = await self._desk.pressed("memory", act, message, button, words)
        if reply is not None and reply.ask is not None:
            self._asked[person] = (message, button)
        self._show(person, reply, message)

    def _show(self, person: str, reply: Reply | None, message: str | None = None) -> None:
        if reply is None:
            return
        self._said.setdefault(person, []).extend(x for x in (reply.ask, reply.says) if x)
        if reply.card is not None:
            self.channel.cards[message or str(self._keys() + 10_000)] = reply.card

    def _act(self, person: str) -> Act:
        return Act(key=str(self._keys()), person=person, called="Ann", place=self.place)

    @property
    def _desk(self) -> Desk:
        assert self.channel.desk is not None, "nobody listens"
        return self.channel.desk


Played = Callable[[], AbstractAsyncContextManager[Player]]


@asynccontextmanager
async def memory() -> AsyncGenerator[Player]:
    yield MemoryPlayer()


class OneWay:
    """Of channels where nobody answers."""

    answers = False
    longest = 2_000

    async def press(self, message: str, label: str, *, person: str = ANN) -> None:
        raise NotImplementedError

    async def give(self, words: str, *, person: str = ANN) -> None:
        raise NotImplementedError

    async def write(self, words: str, *, to: str | None = None, person: str = ANN) -> None:
        raise NotImplementedError

    async def order(self, command: str, words: str, *, person: str = ANN) -> None:
        raise NotImplementedError

    async def told(self, person: str = ANN) -> list[str]:
        return []

    async def messages(self) -> list[Shown]:
        return []


@dataclass(slots=True)
class WebhookPlayer(OneWay):
    """Answers come by another way: see test_webhook."""

    listener: Listener
    channel: Webhook
    place: str = "webhook"
    updates: bool = True
    _gone: set[str] = field(default_factory=set[str])

    async def down(self, wait_s: float | None) -> None:
        self.listener.status = 503
        if wait_s is not None:
            self.listener.headers["Retry-After"] = f"{wait_s:.0f}"

    async def refuse(self) -> None:
        self.listener.status = 400

    async def shown(self, message: str) -> Shown:
        told = [sent.told for sent in self.listener.sent]
        last = [one for one in told if one.get("message") == message][-1]
        fields = {name: last[name] for name in Card.model_fields}
        card = Card.model_validate(fields)
        return Shown(text_of(card), tuple(b.label for b in card.buttons))

    async def delete(self, message: str) -> None:
        self.listener.status = 410


@asynccontextmanager
async def webhook() -> AsyncGenerator[Player]:
    with listening() as listener:
        rules = WebhookConfig(enabled=True, url=listener.url, allow_private=True).rules()
        yield WebhookPlayer(listener, Webhook(lambda: rules, SECRET))


@dataclass(slots=True)
class Notices:
    """In the place of a desktop."""

    shown: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    clicks: dict[str, Callable[[], object] | None] = field(
        default_factory=dict[str, Callable[[], object] | None]
    )
    error: Exception | None = None
    allowed: bool = True

    async def send(
        self,
        title: str,
        message: str,
        *,
        on_dispatched: Callable[[], object] | None = None,
        on_clicked: Callable[[], object] | None = None,
    ) -> str:
        if on_dispatched is not None:
            on_dispatched()
        number = str(len(self.shown) + 1)
        self.shown[number] = (title, message)
        self.clicks[number] = on_clicked
        return number

    async def get_capabilities(self) -> frozenset[str]:
        if self.error is not None:
            raise self.error
        return frozenset()

    async def has_authorisation(self) -> bool:
        return self.allowed


@dataclass(slots=True)
class DesktopPlayer(OneWay):
    notices: Notices
    channel: Desktop
    place: str = "desktop"
    updates: bool = False

    async def down(self, wait_s: float | None) -> None:
        assert wait_s is None, "a desktop names no time"
        self.notices.error = OSError("no such file")

    async def refuse(self) -> None:
        self.notices.allowed = False

    async def shown(self, message: str) -> Shown:
        return Shown("\n".join(self.notices.shown[message]), ())

    async def delete(self, message: str) -> None:
        del self.notices.shown[message]


@asynccontextmanager
async def desktop() -> AsyncGenerator[Player]:
    notices = Notices()
    yield DesktopPlayer(notices, Desktop(notices))


PLAYERS: dict[str, Played] = {"memory": memory, "webhook": webhook, "desktop": desktop}
"""By the name of the channel; each is a platform of its own, and nothing is left of it afterwards.
A channel takes part by a line here."""
