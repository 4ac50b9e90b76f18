"""Slack in the contract of channels: people in a channel with the app."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from agents_manager.channels.slack import Slack
from agents_manager.channels.slack_blocks import MOST_TEXT
from tests.channel_players import ANN, STRANGER, Player, Shown
from tests.slack_server import APP_TOKEN, BOT, BOT_TOKEN, GENERAL, FakeSlack, Seen, Trouble
from tests.slack_server import slack as served


@dataclass(slots=True)
class SlackPlayer:
    channel: Slack
    platform: FakeSlack
    place: str = GENERAL
    answers: bool = True
    updates: bool = True
    longest: int = MOST_TEXT

    async def down(self, wait_s: float | None) -> None:
        asks = {"Retry-After": str(int(wait_s))} if wait_s else {}
        self.platform.trouble = Trouble(429 if wait_s else 503, "ratelimited", asks)

    async def refuse(self) -> None:
        self.platform.channels[GENERAL].discard(BOT)

    async def shown(self, message: str) -> Shown:
        return _shown(self.platform.messages[self.place, message])

    async def delete(self, message: str) -> None:
        del self.platform.messages[self.place, message]

    async def press(self, message: str, label: str, *, person: str = ANN) -> None:
        await self._tell(self.platform.pressing(person, self.place, message, label))

    async def give(self, words: str, *, person: str = ANN) -> None:
        await self._tell(self.platform.sending(person, words))

    async def write(self, words: str, *, to: str | None = None, person: str = ANN) -> None:
        """To a message, or to the app where nobody else listens."""
        at = self.place if to else self.platform.direct(person)
        await self._tell(self.platform.writing(person, at, words, to))

    async def order(self, command: str, words: str, *, person: str = ANN) -> None:
        await self._tell(self.platform.ordering(person, self.place, f"{command} {words}"))

    async def told(self, person: str = ANN) -> list[str]:
        whispers = [Seen.of(one).text for one in self.platform.whispers if one["user"] == person]
        forms = [one.view["blocks"][0] for one in self.platform.forms if one.person == person]
        return [*whispers, *(block["text"]["text"] for block in forms)]

    async def messages(self) -> list[Shown]:
        seen = (*self.platform.messages.values(), *self.platform.ephemerals.values())
        return [_shown(message) for message in seen]

    async def _tell(self, payload: Mapping[str, Any]) -> None:
        assert await self.platform.tell(payload), "Slack did not hear that it arrived"


def _shown(message: Mapping[str, Any]) -> Shown:
    seen = Seen.of(message)
    return Shown(seen.text, seen.buttons)


@asynccontextmanager
async def slack() -> AsyncGenerator[Player]:
    async with served() as platform:
        platform.people = {ANN: "ann", STRANGER: "eve"}
        platform.channels = {GENERAL: {BOT, ANN, STRANGER}}
        base_url = platform.base_url
        channel = Slack(BOT_TOKEN, lambda: [GENERAL], app_token=APP_TOKEN, base_url=base_url)
        yield SlackPlayer(channel, platform)
    assert platform.faults == []
