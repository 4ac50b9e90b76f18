"""Telegram in the contract of channels: the people who have a chat with the bot."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agents_manager.channels.telegram import Telegram
from agents_manager.channels.telegram_cards import LONGEST
from agents_manager.flow.ports.channels import Desk
from tests.channel_players import ANN, Player, Shown
from tests.telegram_server import TOKEN, FakeTelegram, Message, Trouble, serving


@asynccontextmanager
async def listening(channel: Telegram, desk: Desk) -> AsyncGenerator[None]:
    task = asyncio.create_task(channel.listen(desk))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.005)


async def taken(platform: FakeTelegram, update: int) -> None:
    """By the desk: until then it would be told again."""
    await until(lambda: platform.is_confirmed(update))


@dataclass(slots=True)
class TelegramPlayer:
    channel: Telegram
    platform: FakeTelegram
    place: str = ANN
    answers: bool = True
    updates: bool = True
    longest: int = LONGEST

    async def down(self, wait_s: float | None) -> None:
        self.platform.trouble = Trouble(retry_after=int(wait_s) if wait_s else None)

    async def refuse(self) -> None:
        self.platform.blocked[int(self.place)] = "bot was blocked by the user"

    async def shown(self, message: str) -> Shown:
        return _shown(self.platform.messages[int(self.place), int(message)])

    async def delete(self, message: str) -> None:
        del self.platform.messages[int(self.place), int(message)]

    async def press(self, message: str, label: str, *, person: str = ANN) -> None:
        await taken(
            self.platform, self.platform.press(int(self.place), int(message), label, int(person))
        )

    async def give(self, words: str, *, person: str = ANN) -> None:
        [*_, asked] = self._of_the_bot(asking=True)
        await self.write(words, to=str(asked.id), person=person)

    async def write(self, words: str, *, to: str | None = None, person: str = ANN) -> None:
        answered = int(to) if to else None
        await taken(
            self.platform, self.platform.write(int(self.place), int(person), words, answered)
        )

    async def order(self, command: str, words: str, *, person: str = ANN) -> None:
        await self.write(f"/{command} {words}", person=person)

    async def told(self, person: str = ANN) -> list[str]:
        toasts = [text for whom, text in self.platform.toasts if whom == int(person)]
        if person != ANN:
            return toasts
        return [*toasts, *(m.said.text for m in self._of_the_bot() if not m.rows)]

    async def messages(self) -> list[Shown]:
        return [_shown(message) for message in self._of_the_bot()]

    def _of_the_bot(self, *, asking: bool = False) -> list[Message]:
        sent = self.platform.sent(int(self.place))
        return [m for m in sent if not asking or "force_reply" in m.markup]


def _shown(message: Message) -> Shown:
    return Shown(message.said.text, tuple(message.buttons))


@asynccontextmanager
async def telegram() -> AsyncGenerator[Player]:
    with serving() as platform:
        platform.start(int(ANN))
        channel = Telegram(TOKEN, lambda: [ANN], base_url=platform.address)
        yield TelegramPlayer(channel, platform)
    assert platform.faults == []
