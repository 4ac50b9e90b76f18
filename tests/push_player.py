"""Browsers in the contract of channels: what a push service was sent, as one of them reads it."""

import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agents_manager.channels.push import EVERYWHERE, Push
from agents_manager.channels.push_message import ROOM
from agents_manager.flow.ports import Subscription
from tests.channel_players import OneWay, Player, Shown
from tests.push_server import FakePush


class Clock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class Kept(dict[str, Subscription]):
    async def all(self) -> dict[str, Subscription]:
        return dict(self)

    async def forget(self, session: str) -> None:
        del self[session]


def contact() -> str:
    return "mailto:admin@example.com"


def made(home: Path, kept: Kept, *services: str) -> Push:
    clock = Clock()
    return Push(home, clock, kept.all, kept.forget, contact, services=services, scheme="http")


@dataclass
class PushPlayer(OneWay):
    service: FakePush
    channel: Push
    place: str = EVERYWHERE
    updates: bool = True
    longest: int = ROOM

    async def down(self, wait_s: float | None) -> None:
        self.service.status = 503
        self.service.retry_after = None if wait_s is None else f"{wait_s:g}"

    async def refuse(self) -> None:
        self.service.status = 403

    async def shown(self, message: str) -> Shown:
        last = [one for one in self.service.notices if one["tag"] == message][-1]
        return Shown("\n".join((last["title"], last["body"], last["url"] or "")), ())

    async def delete(self, message: str) -> None:
        """Put away in the browser, which tells nobody."""


@asynccontextmanager
async def push() -> AsyncGenerator[Player]:
    with FakePush() as service, tempfile.TemporaryDirectory() as home:
        kept = Kept(one=Subscription(**service.subscription))
        yield PushPlayer(service, made(Path(home), kept))
        assert service.faults == []
