"""Brings a database to the schema of this version, or leaves it exactly as it was.

A new database gets its tables at once; Alembic, which takes long to import, is loaded only for one
that is behind. A test proves that both ways end in the same schema.
"""

import fcntl
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    insert,
    inspect,
    select,
)

from agents_manager.errors import MigrationFailed, SchemaTooNew, StoreError
from agents_manager.store import schema
from agents_manager.store.engines import Engines
from agents_manager.store.faults import named, store_error

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0026"
SCRIPTS = Path(__file__).parent / "migrations"
KEPT_BACKUPS = 3

VERSION = Table(
    "am_alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="am_alembic_version_pkc"),
)


def upgrade(
    engines: Engines,
    *,
    backups: Path,
    scripts: Path = SCRIPTS,
    head: str = HEAD,
    may_change: Callable[[str, str], None] = lambda revision, head: None,
) -> None:
    """`may_change` is asked before a schema is changed, with what it is and what it would be."""
    if not _new_file(engines) and stored_revision(engines) == head:
        return
    try:
        with _locked(engines.path):
            revision = None if _new_file(engines) else stored_revision(engines)
            if revision is None:
                _create(engines)
            elif revision != head:
                _refuse_newer(engines, scripts, revision)
                may_change(revision, head)
                _migrate(engines, scripts, head, revision, backups)
    except OSError as error:
        raise StoreError(
            f'The database "{engines.where}" cannot be brought up to date: {error.strerror}: '
            f'"{error.filename}". Make its folder writable.'
        ) from error


def stored_revision(engines: Engines) -> str | None:
    """None: there are no tables of ours yet."""
    with named(engines.where), engines.reader.begin() as connection:
        return revision_of(connection)


def run_scripts(connection: Connection, scripts: Path, head: str) -> None:
    from alembic import command

    config = _config(scripts)
    config.attributes["connection"] = connection
    command.upgrade(config, head)


def _config(scripts: Path) -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def revision_of(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION.name):
        return None
    return connection.execute(select(VERSION.c.version_num)).scalar()


def _new_file(engines: Engines) -> bool:
    """Two processes must not both open an empty file: one would find it locked while the other
    changes its journal mode."""
    return engines.path is not None and engines.path.stat().st_size == 0


def _create(engines: Engines) -> None:
    with named(engines.where), engines.writer.begin() as connection:
        # On Postgres the lock that counts is the one this transaction began with.
        if revision_of(connection) is None:
            create_tables(connection)


def create_tables(connection: Connection) -> None:
    schema.metadata.create_all(connection, checkfirst=False)
    VERSION.create(connection)
    connection.execute(insert(VERSION), {"version_num": HEAD})


def _refuse_newer(engines: Engines, scripts: Path, revision: str) -> None:
    from alembic.script import ScriptDirectory

    known = {
        script.revision for script in ScriptDirectory.from_config(_config(scripts)).walk_revisions()
    }
    if revision not in known:
        raise SchemaTooNew(
            f'The database "{engines.where}" has schema {revision}, which this version of Agents '
            "Manager does not know; install the newer version that wrote it."
        )


def _migrate(engines: Engines, scripts: Path, head: str, revision: str, backups: Path) -> None:
    saved = _back_up(engines, revision, backups)
    try:
        with _schema_change(engines) as connection:
            if revision_of(connection) != head:
                run_scripts(connection, scripts, head)
    except Exception as error:
        kept = f" A copy is kept as {saved}." if saved else ""
        raise MigrationFailed(
            f'The database "{engines.where}" could not be brought from schema {revision} to '
            f"{head}; it is unchanged.{kept}",
            [str(error).partition("\n")[0]],
        ) from error


@contextmanager
def _schema_change(engines: Engines) -> Generator[Connection]:
    """One transaction for all steps. SQLite rebuilds a table to change it, which foreign keys would
    take for a deletion; they are checked as a whole before the commit instead."""
    with engines.writer.connect() as connection:
        if engines.path is None:
            with connection.begin():
                yield connection
            return
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.execute("PRAGMA foreign_keys=OFF")
        try:
            with connection.begin():
                yield connection
                broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
                if broken is not None:
                    raise StoreError(f"a row of {broken[0]} refers to a missing {broken[2]}")
        finally:
            driver.execute("PRAGMA foreign_keys=ON")


def _back_up(engines: Engines, revision: str, backups: Path) -> Path | None:
    if engines.path is None:
        return None
    backups.mkdir(mode=0o700, parents=True, exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    target = backups / f"{engines.path.stem}-{revision}-{stamp}.db"
    target.touch(mode=0o600)
    with named(engines.where), engines.writer.connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        try:
            driver.execute("VACUUM INTO ?", [str(target)])
        except engines.writer.dialect.loaded_dbapi.Error as error:
            target.unlink()
            raise store_error(engines.where, str(error), postgres=False) from error
    old = sorted(
        backups.glob(f"{engines.path.stem}-*.db"), key=lambda path: path.stat().st_mtime_ns
    )
    for path in old[:-KEPT_BACKUPS]:
        path.unlink()
    return target


@contextmanager
def _locked(path: Path | None) -> Generator[None]:
    if path is None:
        yield
        return
    beside = path.with_name(path.name + ".lock")
    beside.touch(mode=0o600)
    with beside.open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
