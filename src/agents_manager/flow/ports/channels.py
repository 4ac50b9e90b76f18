"""Ways to reach people and to be answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agents_manager.domain.card import Card, Reply
from agents_manager.domain.routing import Occasion
from agents_manager.domain.value import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Something that somebody did in a channel. Who they are said to be is the platform's word;
    what they may do is decided by their id alone."""

    key: str
    """The same when the platform tells of it again."""
    person: str
    """Their id there."""
    called: str
    """What they call themselves; for showing alone."""
    place: str
    """The chat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who may answer in a channel, or look there."""

    name: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelRules:
    """A channel as it is configured."""

    enabled: bool
    events: frozenset[Occasion]
    """What it tells."""
    break_through: frozenset[Occasion]
    """What it tells in quiet hours, too."""
    people: Mapping[str, Person]
    """By their ids there."""
    places: tuple[str, ...]
    """Where it sends to."""
    base_url: str | None = None
    """Of the platform; None: the usual one."""
    url: str | None = None
    """Where a webhook sends to, or where a platform reaches this server."""
    allow_private: bool = False
    """Whether that may be in a private network."""


class Desk(Protocol):
    """Takes what people do in channels; None for whom it does not know: nothing is said to them."""

    async def pressed(
        self, channel: str, act: Act, message: str, button: str, words: str | None = None
    ) -> Reply | None:
        """`words` are those that it was answered with a request for, where the channel keeps the
        two together; elsewhere the person's next words there are taken for them."""
        ...

    async def wrote(self, channel: str, act: Act, to: str | None, words: str) -> Reply | None:
        """`to` is the message that it replies to."""
        ...

    async def ordered(self, channel: str, act: Act, command: str, words: str) -> Reply | None: ...


class Channel(Protocol):
    @property
    def name(self) -> str: ...

    def places(self) -> Sequence[str]:
        """Where it sends to, by the ids of the platform."""
        ...

    async def send(self, place: str, card: Card) -> str:
        """The id of the message there. ChannelDown when it is worth another try, ChannelRefused
        when it is not."""
        ...

    async def update(self, place: str, message: str, card: Card) -> None:
        """Shows this in place of what was sent; nothing when the message is gone."""
        ...

    async def check(self) -> str:
        """Whom it speaks as there, asked of the platform."""
        ...

    async def listen(self, desk: Desk) -> None:
        """For ever: hands over what people do."""
        ...


class Subscription(Value):
    """Where a browser takes notices, and the keys that it reads them with, as it tells them."""

    endpoint: str
    point: str
    secret: str


class Browsers(Protocol):
    """Notices in browsers, also while none of our pages is open."""

    def key(self) -> str:
        """What a browser asks its push service with."""
        ...

    def checked(self, endpoint: str, point: str, secret: str) -> Subscription:
        """What a browser says of itself; InvalidInput where notices cannot be sent there."""
        ...
