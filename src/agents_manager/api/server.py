"""Serving: one address, on loopback unless there is TLS, until SIGINT or SIGTERM."""

import asyncio
import errno
import gc
import ipaddress
import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import TYPE_CHECKING

from agents_manager.api import auth
from agents_manager.api.doors import Certificate, Doors, Public, doors
from agents_manager.api.program import Program
from agents_manager.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    from starlette.types import ASGIApp


ADDRESS_FILE = "address"


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
    public: Public | None = None,
    certificate: Certificate | None = None,
) -> None:
    """Answers HTTP until the process is told to end, or this is cancelled. `ready` gets the
    address once it can be used; `owner` is the name behind the owner's token when it is made;
    `mounts` are addresses that other parts answer; `public` is where a proxy shows it."""
    # Imported here, as FastAPI costs half a second and only a server needs it.
    from agents_manager.api.app import build
    from agents_manager.api.listener import Listener
    from agents_manager.api.stream import Feed

    if certificate is not None:
        certificate.check()
    with _bound(host, port, tls=certificate is not None, named=public is not None) as listening:
        await auth.ensure_owner_token(program, owner)
        tls = certificate is not None
        ways = doors(host, listening.getsockname()[1], tls=tls, public=public)
        feed = Feed(program.services.store, program.database.watch)
        parts = mounts or {}
        app = build(program.services, feed, ways, parts)
        listener = Listener(app, lambda: ready(ways.address), feed.close, tls=certificate)
        _settle()
        async with (
            feed.running(),
            _for_agents(ways, parts) as inside,
            _reachable(program, ways, inside),
        ):
            try:
                await listener.serve([listening])
            except asyncio.CancelledError:
                if listener.started:
                    await listener.shutdown([listening])
                raise


def _settle() -> None:
    """What is there by now stays. Passed over by the collector of garbage, which otherwise takes a
    third of the time of an answer with thousands of rows. To look through all of it once for the
    little that is garbage would be a fifteenth of a start."""
    gc.freeze()


@asynccontextmanager
async def _for_agents(ways: Doors, mounts: "Mapping[str, ASGIApp]") -> AsyncGenerator[str]:
    """Where agents of this machine report. They cannot know a certificate of ours, so with one they
    get a port of their own on loopback, which answers nothing else."""
    if not ways.tls:
        yield ways.address
        return
    from agents_manager.api.app import build_inside

    async with _inside(lambda inside: build_inside(inside, mounts)) as address:
        yield address


@asynccontextmanager
async def only_agents(
    program: Program, port: int, mounts: "Mapping[str, ASGIApp]"
) -> AsyncGenerator[str]:
    """Of a program without an interface for people: its agents are answered, and who asks whether
    it lives. On loopback alone; the address."""
    from agents_manager.api.app import build_worker
    from agents_manager.api.stream import Feed

    s = program.services
    feed = Feed(s.store, program.database.watch)
    async with _inside(lambda inside: build_worker(s, feed, inside, mounts), port) as address:
        s.reachable.url = address
        _settle()
        try:
            yield address
        finally:
            s.reachable.url = None


@asynccontextmanager
async def _inside(app_at: "Callable[[Doors], ASGIApp]", port: int = 0) -> AsyncGenerator[str]:
    """Answers on loopback while the body runs; where."""
    from agents_manager.api.listener import Listener

    with _bound("127.0.0.1", port) as listening:
        inside = doors("127.0.0.1", listening.getsockname()[1])
        app = app_at(inside)
        listener = Listener(app, _nothing, _nothing, ends_by_signal=False)
        async with asyncio.TaskGroup() as group:
            group.create_task(listener.serve([listening]))
            try:
                yield inside.address
            finally:
                listener.should_exit = True


def _nothing() -> None:
    pass


@asynccontextmanager
async def _reachable(program: Program, ways: Doors, inside: str) -> AsyncGenerator[None]:
    """Tells agents and `am login` where it is."""
    file = program.settings.home / ADDRESS_FILE
    program.services.reachable.url = inside
    file.write_text(f"{ways.url}\n", encoding="ascii")
    try:
        yield
    finally:
        program.services.reachable.url = None
        file.unlink(missing_ok=True)


def address_of(home: Path) -> str | None:
    """Where the server of a data directory is reached; after a crash, where it was."""
    try:
        return (home / ADDRESS_FILE).read_text(encoding="ascii").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def _bound(host: str, port: int, *, tls: bool = False, named: bool = False) -> socket.socket:
    if not 0 <= port <= 65535:
        raise InvalidInput(f"{port} is not a port; choose one from 1 to 65535.")
    address = _address(host, tls=tls, named=named)
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    # asyncio sets TCP_NODELAY only on sockets that name their protocol. Without it, a client that
    # keeps its connection waits 40 ms for each answer: headers and body are sent separately.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    # A server that was ended leaves its port in a waiting state, which is no reason to refuse.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((str(address), port))
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


def _address(host: str, *, tls: bool, named: bool) -> IPv4Address | IPv6Address:
    """A token must not leave the machine unless TLS protects it."""
    name = "127.0.0.1" if host == "localhost" else host.strip("[]")
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        address = None
    if address is None or not (tls or address.is_loopback):
        raise InvalidInput(
            f'Serving on "{host}" is refused: without TLS the token could be read on the way. Use '
            'an address such as 127.0.0.1; "am serve --expose" says how to reach it from elsewhere.'
        )
    if address.is_unspecified and not named:
        raise InvalidInput(
            f'"{host}" means every address of this machine; say with --public-url under which name '
            "it is reached."
        )
    return address
