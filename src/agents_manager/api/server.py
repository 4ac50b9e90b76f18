"""Serving: one loopback address, until SIGINT or SIGTERM."""

import asyncio
import errno
import ipaddress
import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from agents_manager.api import auth
from agents_manager.api.doors import doors
from agents_manager.api.program import Program
from agents_manager.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    from starlette.types import ASGIApp


class PortInUse(Conflict):
    """Another program listens on this port."""


async def serve(
    program: Program,
    host: str,
    port: int,
    ready: Callable[[str], None],
    *,
    owner: str = "admin",
    mounts: "Mapping[str, ASGIApp] | None" = None,
) -> None:
    """Answers HTTP until the process is told to end, or this is cancelled. `ready` gets the
    address once it can be used; `owner` is the name behind the owner's token when it is made;
    `mounts` are addresses that other parts answer."""
    # Imported here, as FastAPI costs half a second and only a server needs it.
    from agents_manager.api.app import build
    from agents_manager.api.listener import Listener
    from agents_manager.api.stream import Feed

    with _bound(host, port) as listening:
        await auth.ensure_owner_token(program, owner)
        ways = doors(host, listening.getsockname()[1])
        feed = Feed(program.services.store, program.database.watch)
        app = build(program.services, feed, ways, mounts or {})
        listener = Listener(app, lambda: ready(ways.address), feed.close)
        async with feed.running(), _reachable(program, ways.address):
            try:
                await listener.serve([listening])
            except asyncio.CancelledError:
                if listener.started:
                    await listener.shutdown([listening])
                raise


@asynccontextmanager
async def _reachable(program: Program, address: str) -> AsyncGenerator[None]:
    program.services.reachable.url = address
    try:
        yield
    finally:
        program.services.reachable.url = None


def _bound(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise InvalidInput(f"{port} is not a port; choose one from 1 to 65535.")
    family, address = _loopback(host, port)
    listening = socket.socket(family, socket.SOCK_STREAM)
    # A server that was ended leaves its port in a waiting state, which is no reason to refuse.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        listening.listen()
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(
                f"Port {port} of {host} is in use, perhaps by another `am serve`; end that "
                "program, or choose another port with --port."
            ) from None
        raise InvalidInput(
            f"Port {port} of {host} cannot be opened ({error.strerror}); choose one with --port."
        ) from None
    listening.setblocking(False)
    return listening


def _loopback(host: str, port: int) -> tuple[int, tuple[str, int]]:
    """Family and address of the socket. There is no TLS, so a token must not leave the machine."""
    name = "127.0.0.1" if host == "localhost" else host.strip("[]")
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        address = None
    if address is None or not address.is_loopback:
        raise InvalidInput(
            f'Serving on "{host}" is refused: without TLS the token could be read on the way. Use '
            "127.0.0.1, and reach it from elsewhere by an SSH tunnel or a proxy with TLS."
        )
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    return family, (name, port)
