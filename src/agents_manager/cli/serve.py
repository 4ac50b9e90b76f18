"""`am serve` and `am worker`: the engine, with and without the interface for people."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agents_manager.cli import session
from agents_manager.cli.output import Output
from agents_manager.cli.render import Line, Tone, title
from agents_manager.errors import InvalidConfig, SchemaMovedOn

if TYPE_CHECKING:
    from agents_manager.bootstrap import Program
    from agents_manager.settings import Settings

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
port_option = click.option(
    "--port", type=click.IntRange(0, 65535), help="4100 unless given; 0 takes a free one."
)

HOST = "127.0.0.1"
Beside = Callable[["Program"], Coroutine[Any, Any, None]]
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
WAYS = (
    (
        "A tunnel, for you alone",
        "ssh -L 4100:127.0.0.1:4100 this-machine\n"
        "then open http://127.0.0.1:4100 there. Nothing is exposed.",
    ),
    (
        "A proxy with TLS in front, such as Caddy or `tailscale serve`",
        "am serve --public-url https://am.example.org\n"
        "or https://example.org/am, for a folder of a site. The proxy passes the Host on.",
    ),
    (
        "A certificate of your own",
        "am serve --host 0.0.0.0 --certificate cert.pem --key key.pem"
        " --public-url https://am.example.org:4100\n"
        "serves https itself.",
    ),
)


@dataclass(frozen=True, slots=True)
class Exposure:
    """How it is reached from elsewhere."""

    url: str | None = None
    certificate: tuple[Path, Path] | None = None
    """And its key."""


def _ways() -> list[Line]:
    head = "The server listens on this machine only, as plain http does not protect a token."
    lines = [Line(head), Line("To reach it from elsewhere:")]
    for number, (way, how) in enumerate(WAYS, 1):
        first, then = how.split("\n")
        lines += [Line(), title(f"{number}. {way}"), Line(f"   {first}"), Line(f"   {then}")]
    more = 'To log in there, make a link with "am login", or show its QR code in the web app.'
    return [*lines, Line(), Line(more, Tone.QUIET)]


_OPTIONS = (
    click.option("--host", help=f"A loopback address, or any with a certificate; {HOST} if none."),
    port_option,
    click.option("--public-url", metavar="URL", help="Where a proxy or a name shows it, by https."),
    click.option("--certificate", type=_FILE, help="Serve https with this certificate."),
    click.option("--key", type=_FILE, help="The certificate's key."),
)


def serve_options(command: Callable[..., None]) -> Callable[..., None]:
    """How a server is reached."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_PLACE_OPTIONS = (
    click.option("--name", help="How this machine is called among those that share a database."),
    click.option("--label", "labels", multiple=True, help="What it has, such as gpu or os=linux."),
    click.option(
        "--capacity", type=click.IntRange(1), help="How many agents may work on it; limits.host."
    ),
)


def place_options(command: Callable[..., None]) -> Callable[..., None]:
    """What a machine is among others."""
    for option in reversed(_PLACE_OPTIONS):
        command = option(command)
    return command


@click.command()
@serve_options
@place_options
@click.option("--expose", is_flag=True, help="Say how to reach it from elsewhere, and end.")
@as_json
def serve(
    host: str | None,
    port: int | None,
    public_url: str | None,
    certificate: Path | None,
    key: Path | None,
    expose: bool,
    as_json: bool,
    **machine: Any,
) -> None:
    """Run the server: HTTP and engine in one process."""
    from agents_manager import environment, settings

    output = Output(as_json=as_json)
    if expose:
        output.show([{"way": way, "how": how} for way, how in WAYS], _ways)
        return
    together(certificate, key)
    exposure = Exposure(public_url, (certificate, key) if certificate and key else None)
    place = replace(settings.from_environment(), place=environment.Place(**machine))

    def ready(address: str, login: str) -> None:
        token = place.home / "token"
        document = {"address": address, "login": login, "home": place.home, "token_file": token}
        head = title(f"Agents Manager is at {address}")
        output.show(document, lambda: [head, *log_in(login, token), Line(), *_about(place)])

    session.run(output, lambda: serving(place, host or HOST, port, ready, exposure=exposure))


def together(certificate: Path | None, key: Path | None) -> None:
    if (certificate is None) != (key is None):
        raise click.UsageError("--certificate and --key belong together; give both.")


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Of this machine alone: for its agents, /healthz, /readyz, /metrics. A free one if none.",
)
@place_options
@as_json
def worker(port: int, as_json: bool, **machine: Any) -> None:
    """Run the engine alone, without the interface for people."""
    from agents_manager import environment, settings

    output = Output(as_json=as_json)
    place = replace(settings.from_environment(), place=environment.Place(**machine))
    session.run(output, lambda: _working(place, output, port))


async def serving(
    place: "Settings",
    host: str,
    port: int | None,
    ready: Callable[[str, str], None],
    beside: Beside | None = None,
    *,
    level: str = "warning",
    exposure: Exposure = Exposure(),  # noqa: B008 - a constant
) -> None:
    """Serves until SIGINT or SIGTERM. `ready` gets the address and a link that logs in; `beside`
    runs from then on, and ends with it."""
    from agents_manager import bootstrap, settings
    from agents_manager.api import auth, doors, server

    public = doors.public(exposure.url) if exposure.url else None
    certificate = doors.Certificate(*exposure.certificate) if exposure.certificate else None
    _keep_log(level)
    chosen = settings.DEFAULT_PORT if port is None else port
    owner = settings.user_name()
    async with bootstrap.worker(place) as program, asyncio.TaskGroup() as group:
        extra: list[asyncio.Task[None]] = [
            group.create_task(_must_end(program)),
            group.create_task(_make_way(program)),
        ]

        async def announce(address: str) -> None:
            where = server.address_of(place.home) or address
            link = await auth.owner_link(program, owner, where)
            ready(address, link.url)
            if beside is not None:
                await beside(program)

        def begin(address: str) -> None:
            extra.append(group.create_task(announce(address)))

        mounts = bootstrap.mounts(program)
        await server.serve(
            *(program, host, chosen, begin),
            owner=owner,
            mounts=mounts,
            public=public,
            certificate=certificate,
        )
        for one in extra:
            one.cancel()


async def _working(place: "Settings", output: Output, port: int) -> None:
    from agents_manager import bootstrap
    from agents_manager.api import server

    _keep_log("warning")
    async with (
        bootstrap.worker(place) as program,
        server.only_agents(program, port, bootstrap.for_agents(program)) as address,
        asyncio.TaskGroup() as group,
    ):
        told = asyncio.Event()
        watching = [group.create_task(one(program)) for one in (_must_end, _make_way)]
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, told.set)
        text = f"The engine works on {place.home}. Ctrl-C ends it; {_go_on(place)}."
        asked = f"Its agents, and who asks for {address}/healthz, are answered on this machine."
        document = {"home": place.home, "address": address}
        output.show(document, lambda: [Line(text), Line(asked, Tone.QUIET)])
        await told.wait()
        for one in watching:
            one.cancel()


async def _must_end(program: "Program") -> None:
    raise await program.over.get()


def _go_on(place: "Settings") -> str:
    if place.database_url is None:
        return "running agents go on"
    return "running agents go on if it is started again within 30 s"


async def _make_way(program: "Program") -> None:
    """Ends the program once a newer version has changed the database under it."""
    from agents_manager.store import versions

    await program.outdated.wait()
    raise versions.outdated(program.database.engines) or SchemaMovedOn()


def _keep_log(level: str) -> None:
    """As AM_LOG and AM_LOG_FORMAT say; programs read what does not go to a terminal."""
    from agents_manager import environment, log

    level = _one_of("AM_LOG", environment.log_level() or level, log.LEVELS)
    usual = "text" if sys.stderr.isatty() else "json"
    form = _one_of("AM_LOG_FORMAT", environment.log_format() or usual, log.FORMATS)
    log.configure(json=form == "json", level=level, redactor=environment.redactor())


def _one_of(name: str, value: str, known: Sequence[str]) -> str:
    if value.lower() not in known:
        raise InvalidConfig(f'{name} is "{value[:50]}"; it can be {", ".join(known)}.')
    return value.lower()


def log_in(link: str, token: Path) -> list[Line]:
    return [
        Line(f"Log in by opening {link}"),
        Line(f"  once, within ten minutes; later with `am login`, or the token in {token}"),
    ]


def _about(place: "Settings") -> list[Line]:
    return [Line(f"Data is in {place.home}. Ctrl-C ends the server; {_go_on(place)}.")]
