"""Where Telegram sends what people did, for those who do not want to ask for it."""

from typing import TYPE_CHECKING, cast

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from agents_manager.errors import NotAllowed
from agents_manager.flow.ports import Services

if TYPE_CHECKING:
    from agents_manager.channels.telegram import Telegram

NAME = "telegram"


def app(s: Services) -> ASGIApp:
    """For /hooks/telegram. The library is loaded with the channel, which is not for everybody."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if not s.configs.channels(None)[NAME].enabled:
            raise NotAllowed("Telegram is switched off: notifications.telegram.enabled.")
        channel = cast("Telegram", s.channels[NAME]())
        answer = await channel.webhook(Request(scope, receive))
        await answer(scope, receive, send)

    return serve
