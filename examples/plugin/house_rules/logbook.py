"""A channel: each card becomes a line of a file."""

import asyncio
import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from agents_manager.domain.card import Card
from agents_manager.errors import ChannelDown, ChannelRefused
from agents_manager.flow.ports import ChannelConfig, ChannelRules, Desk


class LogbookConfig(ChannelConfig):
    """A file that a line is added to for each notice."""

    file: str = ""
    """Its whole path."""

    def rules(self) -> ChannelRules:
        return replace(super().rules(), places=("logbook",) if self.file else ())


class Logbook:
    name = "logbook"

    def __init__(self, config: Callable[[], LogbookConfig]) -> None:
        self._config = config

    def places(self) -> Sequence[str]:
        return self._config().rules().places

    async def send(self, place: str, card: Card) -> str:
        message = secrets.token_hex(8)
        await asyncio.to_thread(self._add, message, card)
        return message

    async def update(self, place: str, message: str, card: Card) -> None:
        await asyncio.to_thread(self._add, message, card)

    async def check(self) -> str:
        path = Path(self._config().file)
        if not path.parent.is_dir():
            raise ChannelDown(f"There is no folder {path.parent}.")
        return str(path)

    async def listen(self, desk: Desk) -> None:
        """Nobody answers in a file."""

    def _add(self, message: str, card: Card) -> None:
        again = "(repeat) " if card.repeat else ""
        line = {"message": message, "title": again + card.title, "body": card.body}
        try:
            with Path(self._config().file).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        except IsADirectoryError:
            raise ChannelRefused(f"{self._config().file} is a folder.") from None
        except OSError as error:
            raise ChannelDown(f"The logbook cannot be written: {error.strerror}.") from None
