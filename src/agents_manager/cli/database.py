"""`am database`: from the file to Postgres, and from one version to the next."""

import asyncio
import platform
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from agents_manager.cli.output import Output
from agents_manager.cli.render import Line
from agents_manager.cli.serve import as_json
from agents_manager.errors import InvalidInput

if TYPE_CHECKING:
    from agents_manager.domain.task import Actor
    from agents_manager.environment import Settings
    from agents_manager.flow.ports import Tx
    from agents_manager.store.moving import Moved


@click.group()
def database() -> None:
    """Move the data to Postgres, and bring it to the schema of this version."""


@database.command()
@as_json
def upgrade(as_json: bool) -> None:
    """Bring the database to the schema of this version, also while older servers work on it.

    Every program does it by itself where no other works on the database. Servers of the older
    version notice and end, and their agents go on: start the newer version in their place.
    """
    from agents_manager import environment
    from agents_manager.cli import session

    output = Output(as_json=as_json)
    place = environment.from_environment()
    session.keep_quiet()
    session.run(output, lambda: asyncio.to_thread(_upgrade, output, place))


@database.command()
@click.argument("address", required=False, metavar="[postgresql://…]")
@as_json
def move(address: str | None, as_json: bool) -> None:
    """Move all data from the file of this data directory into an empty Postgres database.

    Without an address, AM_DATABASE_URL says where, which keeps a password out of the list of
    processes. Refused while a server runs. Killed at any moment, the file is as it was, and the
    other database empty or whole. Running agents go on; a server on Postgres takes them up.
    """
    from agents_manager import environment
    from agents_manager.cli import session

    output = Output(as_json=as_json)
    place = environment.from_environment()
    session.keep_quiet()
    session.run(output, lambda: asyncio.to_thread(_move, output, place, address))


def _upgrade(output: Output, place: "Settings") -> None:
    from agents_manager import environment
    from agents_manager.domain.audit import Deed
    from agents_manager.flow import audit
    from agents_manager.store.database import open_database, schema_of
    from agents_manager.store.migrate import HEAD

    before = schema_of(place.database)
    store = open_database(place.database, redactor=environment.redactor())
    try:
        if before not in (None, HEAD):
            now, summary = datetime.now(UTC), f"brought the database from schema {before} to {HEAD}"
            asyncio.run(
                store.write(lambda tx: audit.note(tx, now, _me(), Deed.DATA_UPGRADED, summary))
            )
    finally:
        store.close()
    text = (
        f"The database has schema {HEAD} already."
        if before == HEAD
        else f"Brought the database from schema {before or 'none'} to {HEAD}."
    )
    output.show({"from": before, "to": HEAD}, lambda: [Line(text)])


def _me() -> "Actor":
    from agents_manager import settings
    from agents_manager.domain.task import Actor, ActorType

    return Actor(type=ActorType.USER, name=settings.user_name(), via="cli", admin=True)


def _move(output: Output, place: "Settings", address: str | None) -> None:
    from agents_manager.engine import host

    target = address or place.database_url
    if target is None:
        raise InvalidInput("Say where to: am database move postgresql://…, or set AM_DATABASE_URL.")
    path = place.home / "agents-manager.db"
    if not path.exists():
        raise InvalidInput(
            f"There is no database in {place.home} to move. To begin on Postgres, set"
            " AM_DATABASE_URL."
        )
    with host.HostLock(place.home):
        begun = time.monotonic()
        moved = _bring(place, target)
        seconds = time.monotonic() - begun
    total = sum(moved.rows.values())
    document = {
        "from": path,
        "to": moved.where,
        "rows": dict(moved.rows),
        "total": total,
        "seconds": round(seconds, 3),
        "already_there": moved.again,
    }
    output.show(document, lambda: _told(moved, total, seconds, path))


def _bring(place: "Settings", target: str) -> "Moved":
    from agents_manager import environment
    from agents_manager.domain.audit import Deed
    from agents_manager.domain.host import Joining
    from agents_manager.engine import host
    from agents_manager.flow import audit
    from agents_manager.store import moving
    from agents_manager.store.database import open_database

    path, now = place.home / "agents-manager.db", datetime.now(UTC)
    redactor = environment.redactor()
    # At the schema of this version, as with every command.
    open_database(path, redactor=redactor).close()
    me = host.executor_id(place.home)

    def note(tx: "Tx", rows: int) -> None:
        # So that nobody takes over what it has before it is started.
        tx.hosts.join(Joining(id=me, name=platform.node() or me, version="", labels=(), capacity=1))
        audit.note(tx, now, _me(), Deed.DATA_MOVED, f"moved {rows:,} rows from {path}", rows=rows)

    return moving.move(path, target, host=me, redactor=redactor, note=note, now=now)


def _told(moved: "Moved", total: int, seconds: float, path: object) -> list[Line]:
    what = f"{total:,} rows of {len(moved.rows)} tables"
    head = (
        f"{what} are in {moved.where} already, and every value is the same."
        if moved.again
        else f"Moved {what} to {moved.where} in {seconds:.1f} s; every value was compared."
    )
    return [
        Line(head),
        Line("From now on, set AM_DATABASE_URL to it, for the server and for commands:"),
        Line(f"  AM_DATABASE_URL='{moved.where}' am serve"),
        Line(f"{path} stays as it was and is not worked on any more. Keep the rest of its folder."),
    ]
