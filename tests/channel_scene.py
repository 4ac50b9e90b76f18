"""Channels on either database, without an engine: a question is asked, and a postman is sent step
by step; the platforms are in memory."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from agents_manager.domain.card import Card, Reply
from agents_manager.domain.delivery import Delivery
from agents_manager.flow.channels import daily, router
from agents_manager.flow.channels.desk import FrontDesk
from agents_manager.flow.channels.postman import Postman
from agents_manager.flow.ports import Act
from tests.asking import Clock, Table, seated
from tests.channel_players import ANN, MemoryChannel
from tests.repos import scripted_home

PEOPLE = {ANN: {"name": "ann", "role": "admin"}, "42": {"name": "bob", "role": "viewer"}}
NAMES = ("telegram", "slack")
T = TypeVar("T")


def notifications(**more: Mapping[str, Any]) -> dict[str, Any]:
    """Both chats are on, and Ann alone is told there."""
    usual = {"enabled": True, "people": PEOPLE, "places": [ANN]}
    return {name: {**usual, **more.get(name, {})} for name in NAMES}


class AtOnce:
    """Steps that nothing keeps."""

    async def run(self, name: str, fn: Callable[[], Awaitable[T]]) -> T:
        return await fn()


@dataclass
class Exchange(Table):
    """A table, and what stands in the chats."""

    channels: Mapping[str, MemoryChannel] = field(default_factory=dict[str, MemoryChannel])
    postmen: dict[str, Postman] = field(default_factory=dict[str, Postman])
    keys: int = 0

    @property
    def desk(self) -> FrontDesk:
        return FrontDesk(self.s)

    async def route(self) -> None:
        while await self.s.store.write(lambda tx: router.route(tx, self.s)):
            pass
        await self.s.store.write(lambda tx: daily.tell(tx, self.s))

    async def carry(self, *names: str) -> None:
        """Everything that can be brought now."""
        await self.route()
        for name in names or tuple(self.channels):
            while await self.postmen[name].step():
                pass

    def cards(self, name: str = "telegram") -> list[Card]:
        """As they stand there now."""
        return list(self.channels[name].cards.values())

    async def rows(self, name: str = "telegram") -> list[Delivery]:
        return await self.s.store.read(lambda tx: tx.deliveries.latest(name, 100))

    async def press(self, label: str, name: str = "telegram", **more: Any) -> Reply | None:
        """The button of that name that was shown last."""
        found = [
            (message, button.id)
            for message, card in self.channels[name].cards.items()
            for button in card.buttons
            if button.label.startswith(label)
        ]
        message, button = found[-1]
        words = more.pop("words", None)
        reply = await self.desk.pressed(name, self.act(**more), message, button, words)
        if reply is not None and reply.card is not None:
            self.channels[name].cards[message] = reply.card
        return reply

    def act(self, person: str = ANN, place: str = ANN, key: str | None = None) -> Act:
        self.keys += 1
        return Act(key=key or f"k{self.keys}", person=person, called="Ann A.", place=place)


@asynccontextmanager
async def exchange(
    home: Path,
    repo: Path,
    address: str,
    *,
    clock: Clock | None = None,
    channels: Sequence[MemoryChannel] = (),
    config: Mapping[str, Any] | None = None,
) -> AsyncIterator[Exchange]:
    clock = clock or Clock()
    made = {c.name: c for c in channels} or {n: MemoryChannel(name=n) for n in NAMES}
    scripted_home(home, **(config or {"notifications": notifications()}))
    factories = {name: lambda channel=channel: channel for name, channel in made.items()}
    async with seated(home, repo, address, clock, channels=factories) as table:
        postmen = {name: Postman(table.s, channel, None) for name, channel in made.items()}
        scene = Exchange(table.s, table.project, clock, made, postmen)
        await scene.route()  # What was before is left alone.
        yield scene


def configure(home: Path, **values: Any) -> None:
    path = home / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
