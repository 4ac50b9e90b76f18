"""Slack's Socket Mode: a connection that we open, by which Slack tells what people do. Slack closes
it from time to time, and it is opened again."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

import structlog

from agents_manager.channels.slack_web import APP_TOKEN, SILENT, asked, client, field
from agents_manager.errors import ChannelDown, ChannelRefused

if TYPE_CHECKING:
    from aiohttp import WSMessage
    from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
    from slack_sdk.socket_mode.request import SocketModeRequest

log = structlog.get_logger()

CONNECT_S = 30.0
PING_S = 5.0
LOOK_S = 1.0
OFF = "Socket Mode is switched off for the app; switch it on at api.slack.com/apps, Socket Mode."
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0

Ack = Callable[[Mapping[str, Any] | None], Awaitable[None]]
"""Tells Slack that something arrived, and what to show in the form that it came by."""
Take = Callable[[Any, Ack], None]
Lasts = Callable[[], Awaitable[bool]]


async def heard(token: str, base_url: str, take: Take) -> ChannelRefused:
    """For ever, or until Slack does not want to talk with us."""
    wait_s = FIRST_WAIT_S
    while True:
        try:
            async with _connected(token, base_url, take) as lasts:
                wait_s = FIRST_WAIT_S
                while True:
                    await asyncio.sleep(LOOK_S)
                    if not await lasts():
                        break
        except ChannelDown as error:
            log.warning("slack.unheard", why=error.message)
            await asyncio.sleep(error.wait_s or wait_s)
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)
        except ChannelRefused as error:
            return error


async def ticket(token: str, base_url: str) -> str:
    """The address for one connection."""
    answer = await asked(client(token, base_url), "apps.connections.open", token=APP_TOKEN)
    return field(answer, "url")


@asynccontextmanager
async def _connected(token: str, base_url: str, take: Take) -> AsyncGenerator[Lasts]:
    address = await ticket(token, base_url)
    from slack_sdk.socket_mode.aiohttp import SocketModeClient

    # By itself the library would try the same address for ever, though Slack takes it only once.
    web = client(token, base_url)
    connection = SocketModeClient(
        token, SILENT, web, auto_reconnect_enabled=False, ping_interval=PING_S
    )
    off = asyncio.Event()

    async def look(message: "WSMessage") -> None:
        match json.loads(message.data):
            case {"type": "disconnect", "reason": "link_disabled"}:
                off.set()
            case _:
                pass

    async def lasts() -> bool:
        if off.is_set():
            raise ChannelRefused(OFF)
        return await connection.is_connected()

    connection.wss_uri = address
    connection.on_message_listeners.append(look)
    connection.socket_mode_request_listeners.append(_taker(take))
    try:
        async with asyncio.timeout(CONNECT_S):
            await connection.connect()
        yield lasts
    except TimeoutError:
        raise ChannelDown("Slack does not take a connection.") from None
    finally:
        await connection.close()


def _taker(
    take: Take,
) -> "Callable[[AsyncBaseSocketModeClient, SocketModeRequest], Awaitable[None]]":
    async def taken(connection: "AsyncBaseSocketModeClient", request: "SocketModeRequest") -> None:
        async def ack(shown: Mapping[str, Any] | None) -> None:
            answer = {"envelope_id": request.envelope_id}
            # Where the connection has gone, Slack tells us again.
            with suppress(OSError):
                await connection.send_socket_mode_response(
                    {**answer, "payload": shown} if shown else answer
                )

        take(cast("Any", request).payload, ack)

    return taken
