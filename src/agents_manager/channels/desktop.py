"""Notices on the desktop of the machine that the server runs on. A click opens the task; nothing is
answered there, and what was shown stays."""

import webbrowser
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from agents_manager.domain.card import Card
from agents_manager.errors import ChannelDown, ChannelRefused, InvalidConfig
from agents_manager.flow.ports import Desk

NAME = "desktop"
MOST = 250
"""Characters that desktops show."""


class Notifier(Protocol):
    async def send(
        self,
        title: str,
        message: str,
        *,
        on_dispatched: Callable[[], Any] | None = None,
        on_clicked: Callable[[], Any] | None = None,
    ) -> str:
        """Says by the call alone that it was shown; what goes wrong it keeps to itself."""
        ...

    async def get_capabilities(self) -> Any: ...
    async def has_authorisation(self) -> bool: ...


class Desktop:
    name = NAME

    def __init__(
        self, notifier: Notifier, open_page: Callable[[str], object] = webbrowser.open
    ) -> None:
        self._notifier = notifier
        self._open = open_page

    def places(self) -> Sequence[str]:
        return (NAME,)

    async def send(self, place: str, card: Card) -> str:
        """As much as a notice shows; the task has all of it."""
        repeat = "(repeat) " if card.repeat else ""
        body = " ".join(" ".join(card.body).split())
        said = body if len(body) <= MOST else f"{body[: MOST - 1]}…"
        await self.check()
        link = card.link
        clicked = (lambda: self._open(link)) if link else None
        shown = list[bool]()
        message = await self._notifier.send(
            f"{repeat}{card.title}",
            said,
            on_dispatched=lambda: shown.append(True),
            on_clicked=clicked,
        )
        if not shown:
            raise ChannelDown("The desktop did not take the notice.")
        return message

    async def update(self, place: str, message: str, card: Card) -> None:
        """What was shown is gone by itself."""

    async def check(self) -> str:
        try:
            await self._notifier.get_capabilities()
            allowed = await self._notifier.has_authorisation()
        except Exception as error:
            raise ChannelDown(f"The desktop does not take notices: {_said(error)}") from error
        if not allowed:
            raise ChannelRefused("The desktop does not allow notices of this program.")
        return "the desktop of this machine"

    async def listen(self, desk: Desk) -> None:
        """Nobody answers there."""


def build() -> Desktop:
    try:
        from desktop_notifier import DesktopNotifier
    except ImportError:
        raise InvalidConfig(
            "Notices on the desktop need a library: pip install 'agents-manager[desktop]'."
        ) from None
    return Desktop(DesktopNotifier(app_name="Agents Manager"))


def _said(error: Exception) -> str:
    """On Linux, notices go by the session bus, which a server without a desktop has not."""
    what = str(error) or type(error).__name__
    if isinstance(error, OSError) or "bus" in what.lower():
        return f"there is no session bus here ({what}); run the server in your desktop's session."
    return what if what.endswith(".") else f"{what}."
