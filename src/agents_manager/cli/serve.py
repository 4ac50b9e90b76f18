"""`am serve` and `am worker`: the engine, with and without HTTP."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agents_manager.cli import session
from agents_manager.cli.output import Output
from agents_manager.cli.render import Line, title

if TYPE_CHECKING:
    from agents_manager.bootstrap import Program
    from agents_manager.settings import Settings

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
port_option = click.option(
    "--port", type=click.IntRange(0, 65535), help="4100 unless given; 0 takes a free one."
)

HOST = "127.0.0.1"
Beside = Callable[["Program"], Coroutine[Any, Any, None]]


@click.command()
@click.option("--host", default=HOST, show_default=True, help="A loopback address.")
@port_option
@as_json
def serve(host: str, port: int | None, as_json: bool) -> None:
    """Run the server: HTTP and engine in one process."""
    from agents_manager import settings

    output = Output(as_json=as_json)
    place = settings.from_environment()

    def ready(address: str) -> None:
        token = place.home / "token"
        document = {"address": address, "home": place.home, "token_file": token}
        output.show(document, lambda: [title(f"Agents Manager is at {address}"), *_about(token)])

    session.run(output, lambda: serving(place, host, port, ready))


@click.command()
@as_json
def worker(as_json: bool) -> None:
    """Run the engine alone, without HTTP."""
    from agents_manager import settings

    output = Output(as_json=as_json)
    place = settings.from_environment()
    session.run(output, lambda: _working(place, output))


async def serving(
    place: "Settings",
    host: str,
    port: int | None,
    ready: Callable[[str], None],
    beside: Beside | None = None,
    *,
    level: str = "warning",
) -> None:
    """Serves until SIGINT or SIGTERM; `beside` runs from when it is ready, and ends with it."""
    from agents_manager import bootstrap, log, settings
    from agents_manager.api import server

    log.configure(json=not sys.stderr.isatty(), level=level)
    chosen = settings.DEFAULT_PORT if port is None else port
    owner = settings.user_name()
    async with bootstrap.worker(place) as program, asyncio.TaskGroup() as group:
        extra: list[asyncio.Task[None]] = []

        def begin(address: str) -> None:
            ready(address)
            if beside is not None:
                extra.append(group.create_task(beside(program)))

        mounts = bootstrap.mounts(program)
        await server.serve(program, host, chosen, begin, owner=owner, mounts=mounts)
        for one in extra:
            one.cancel()


async def _working(place: "Settings", output: Output) -> None:
    from agents_manager import bootstrap, log

    log.configure(json=not sys.stderr.isatty(), level="warning")
    async with bootstrap.worker(place):
        told = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, told.set)
        text = f"The engine works on {place.home}. Ctrl-C ends it; running agents go on."
        output.show({"home": place.home}, lambda: [Line(text)])
        await told.wait()


def _about(token: Path) -> list[Line]:
    return [
        Line(f"Log in with the token in {token}"),
        Line(f"Data is in {token.parent}. Ctrl-C ends the server; running agents go on."),
    ]
