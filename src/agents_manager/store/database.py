"""The way in: opens the database of an address or a path, at the schema of this version."""

from functools import partial
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from agents_manager.errors import InvalidConfig, StoreError
from agents_manager.flow.ports import Here
from agents_manager.redaction import NOTHING, Redactor
from agents_manager.store import marks, versions
from agents_manager.store.engines import (
    Engines,
    Synchronous,
    postgres_engines,
    sqlite_engine,
    sqlite_engines,
)
from agents_manager.store.migrate import stored_revision, upgrade
from agents_manager.store.tx import Database

__all__ = ["Database", "open_database", "sqlite_engine"]

POSTGRES = ("postgresql", "postgres")


def open_database(
    url_or_path: str | Path,
    *,
    synchronous: Synchronous = "NORMAL",
    backups: Path | None = None,
    redactor: Redactor = NOTHING,
    here: Here | None = None,
    others: versions.Others = versions.nobody,
) -> Database:
    """Creates the file and its tables if they are missing. `backups` is where an old file is kept
    before its schema changes; the folder `backups` beside the file unless given. What `redactor`
    knows is not written. `here` is for a database that several machines share. The schema is not
    changed under `others`."""
    engines = _engines(url_or_path, synchronous)
    try:
        folder = backups or (engines.path or Path.cwd()).parent / "backups"
        may_change = partial(versions.may_change, engines, others=others)
        upgrade(engines, backups=folder, may_change=may_change)
    except BaseException:
        engines.dispose()
        raise
    return Database(engines, redactor, here)


def schema_of(url_or_path: str | Path) -> str | None:
    """The schema that a database has; it is left as it is."""
    engines = _engines(url_or_path, "NORMAL")
    try:
        return stored_revision(engines)
    finally:
        engines.dispose()


def postgres(address: str) -> Engines:
    url = _parsed(address) if "://" in address else None
    if url is None or url.drivername.partition("+")[0] not in POSTGRES:
        raise InvalidConfig("That is no address of a Postgres database; give postgresql://…")
    return postgres_engines(url)


def _parsed(address: str) -> URL:
    try:
        return make_url(address)
    except (ArgumentError, ValueError) as error:
        raise InvalidConfig("The database address cannot be read.") from error


def _engines(url_or_path: str | Path, synchronous: Synchronous) -> Engines:
    if isinstance(url_or_path, str) and "://" in url_or_path:
        url = _parsed(url_or_path)
        kind = url.drivername.partition("+")[0]
        if kind in POSTGRES:
            return postgres_engines(url)
        if kind != "sqlite" or not url.database:
            raise InvalidConfig(
                f'A database of kind "{kind}" cannot be used; give a path, or postgresql://…'
            )
        url_or_path = url.database
    path = Path(url_or_path).expanduser().absolute()
    marks.refuse(path)
    _prepare(path)
    return sqlite_engines(path, synchronous)


def _prepare(path: Path) -> None:
    """The file belongs to its user alone; SQLite gives its journals the same mode."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            path.touch(mode=0o600)
    except OSError as error:
        raise StoreError(
            f'The database "{path}" cannot be created: {error.strerror}. '
            "Choose a folder that you can write to."
        ) from error
