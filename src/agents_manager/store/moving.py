"""All of a SQLite database brought into an empty Postgres database.

It is one transaction there, which ends only after every value was read back and compared: whenever
this is killed, the file is as it was, and the other database as empty as it was or whole. The file
is locked against writers meanwhile and marked before it is let go, so that none of them is lost.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, String, Table, Text
from sqlalchemy.dialects import postgresql

from agents_manager.errors import StoreError
from agents_manager.flow import ports
from agents_manager.redaction import Redactor
from agents_manager.store import database, library, marks, migrate, schema
from agents_manager.store.catalog import Parsed
from agents_manager.store.columns import Json, UtcTime, Words, clean, loads
from agents_manager.store.engines import BUSY_TIMEOUT_S, Engines
from agents_manager.store.faults import named, store_error
from agents_manager.store.statements import Session
from agents_manager.store.tx import Tx

BATCH = 1000
ENGINES_OWN = "dbos.workflow_status"
"""Where the engine keeps what it began, in the same database."""
# Of the machines that share a database; a file is not shared.
LEFT_OUT = frozenset({schema.host.name, schema.place.name})
TABLES = [table for table in schema.metadata.sorted_tables if table.name not in LEFT_OUT]
BEGUN = {schema.effect.name: "status = 'started'", schema.run.name: "started_at IS NOT NULL"}
"""What was begun belongs to the machine where its processes and files are."""
_PLACES = (
    f"INSERT INTO {schema.place.name} (host, project_id, path)"  # noqa: S608 - names of ours
    f" SELECT %s, id, path FROM {schema.project.name}"
)

Driver = Any
Row = tuple[Any, ...]
Note = Callable[[ports.Tx, int], None]


@dataclass(frozen=True, slots=True)
class Moved:
    where: str
    """The database, without its password."""
    rows: Mapping[str, int]
    """By table."""
    again: bool
    """Whether all of it was there already: an earlier move was cut short before it told so."""


def move(
    path: Path, address: str, *, host: str, redactor: Redactor, note: Note, now: datetime
) -> Moved:
    """`host` is the name of this machine among others; `note` writes what is to be on record of
    the number of rows, in the same transaction."""
    marks.refuse(path)
    target = database.postgres(address)
    try:
        with _read(path) as source, _translated(target.where):
            with named(target.where), target.writer.begin() as connection:
                moved = _move(source, connection, target, host)
                if not moved.again:
                    total = sum(moved.rows.values())
                    note(Tx(Session(connection, redactor), Parsed()), total)
            marks.put(path, moved.where, now)
    finally:
        target.dispose()
    return moved


def _move(source: Driver, connection: Connection, target: Engines, host: str) -> Moved:
    driver: Driver = connection.connection.driver_connection
    there = _what_is_there(connection, target)
    if there and not all(_differs(source, driver, table, host) is None for table in TABLES):
        raise StoreError(
            f'The database "{target.where}" is not empty: there are rows in {", ".join(there)}.'
            " Nothing was moved; name an empty database."
        )
    counts = {table.name: _count(source, table) for table in TABLES}
    if not there:
        for table in TABLES:
            _copy(source, driver, table, host)
            _number_on(source, driver, table)
        for table in TABLES:
            _verify(source, driver, table, host)
            # Until Postgres has had a look by itself, it would read whole tables for a few rows.
            driver.execute(f"ANALYZE {table.name}")
        driver.execute(_PLACES, [host])
    return Moved(target.where, counts, again=bool(there))


@contextmanager
def _read(path: Path) -> Generator[Driver]:
    """Nobody else writes meanwhile, and nothing is written here."""
    sqlite = library.sqlite()
    try:
        with closing(
            sqlite.connect(str(path), timeout=BUSY_TIMEOUT_S, isolation_level=None)
        ) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")
    except sqlite.Error as error:
        raise store_error(str(path), str(error), postgres=False) from error


@contextmanager
def _translated(where: str) -> Generator[None]:
    """What Postgres refuses of what it is sent past SQLAlchemy."""
    import psycopg

    try:
        yield
    except psycopg.OperationalError as error:
        raise store_error(where, str(error), postgres=True) from error
    except psycopg.Error as error:
        told = [t for t in (error.diag.message_primary, error.diag.context) if t]
        raise StoreError(
            f'The database "{where}" does not take what is in the file; nothing was moved.',
            told or [str(error)],
        ) from error


# ---------------------------------------------------------------- where it goes to


def _what_is_there(connection: Connection, target: Engines) -> list[str]:
    """The tables that have rows; makes the tables if there are none."""
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar()
    if encoding != "UTF8":
        raise StoreError(
            f'The database "{target.where}" keeps text as {encoding}; make one with'
            " ENCODING 'UTF8'."
        )
    revision = migrate.revision_of(connection)
    if revision is None:
        _refuse_other_engine(connection, target)
        migrate.create_tables(connection)
        return []
    if revision != migrate.HEAD:
        raise StoreError(
            f'The database "{target.where}" has tables of another version (schema {revision}; this'
            f" is {migrate.HEAD}). Nothing was moved; name an empty database."
        )
    filled = [
        table.name
        for table in TABLES
        if connection.exec_driver_sql(f'SELECT EXISTS (SELECT 1 FROM "{table.name}")').scalar()  # noqa: S608 - a name of ours
    ]
    if not filled:
        _refuse_other_engine(connection, target)
    return filled


def _refuse_other_engine(connection: Connection, target: Engines) -> None:
    """What it holds for done would be taken for done here: names of effects are moved, too."""
    if connection.exec_driver_sql(f"SELECT to_regclass('{ENGINES_OWN}')").scalar() is None:
        return
    if connection.exec_driver_sql(f"SELECT EXISTS (SELECT 1 FROM {ENGINES_OWN})").scalar():  # noqa: S608 - a constant
        raise StoreError(
            f'The database "{target.where}" holds what an engine did there before, in its schema'
            ' "dbos". Nothing was moved; drop that schema, or name an empty database.'
        )


# ---------------------------------------------------------------- rows


def _rows(source: Driver, table: Table, host: str) -> Iterator[Row]:
    """As the file has them, in the order of their keys."""
    begun = BEGUN.get(table.name)
    whose = f"CASE WHEN {begun} AND host IS NULL THEN ? ELSE host END"
    columns = ", ".join(whose if begun and c.name == "host" else f'"{c.name}"' for c in table.c)
    keys = ", ".join(f'"{c.name}"' for c in table.primary_key)
    query = f'SELECT {columns} FROM "{table.name}" ORDER BY {keys}'  # noqa: S608 - names of ours
    cursor = source.execute(query, [host] if begun else [])
    while batch := cursor.fetchmany(BATCH):
        yield from batch


def _arrived(driver: Driver, table: Table, last: int | None) -> Iterator[Row]:
    """As they are there, in the same order."""
    columns = ", ".join(_shown(c) for c in table.c)
    keys = ", ".join(f'"{c.name}"{_bytewise(c)}' for c in table.primary_key)
    until = "" if last is None else f" WHERE id <= {last:d}"
    query = f'SELECT {columns} FROM "{table.name}"{until} ORDER BY {keys}'  # noqa: S608 - names of ours
    with driver.cursor(name="am_arrived") as cursor:
        cursor.itersize = BATCH
        cursor.execute(query)
        yield from cursor


def _shown(column: Column[Any]) -> str:
    if isinstance(column.type, Json):
        return f'"{column.name}"::text'
    return f'tsvector_to_array("{column.name}")' if _is_words(column) else f'"{column.name}"'


def _bytewise(column: Column[Any]) -> str:
    return ' COLLATE "C"' if isinstance(column.type, (String, Text)) else ""


def _is_words(column: Column[Any]) -> bool:
    return isinstance(column.type, Words)


def _copy(source: Driver, driver: Driver, table: Table, host: str) -> None:
    columns = ", ".join(f'"{c.name}"' for c in table.c)
    indexed = [_is_words(c) for c in table.c]
    words, dialect = Words(), postgresql.dialect()
    with (
        driver.cursor() as cursor,
        cursor.copy(f'COPY "{table.name}" ({columns}) FROM STDIN') as copy,
    ):
        for row in _rows(source, table, host):
            copy.write_row(
                words.process_bind_param(value.split(), dialect)
                if is_words and value is not None
                else clean(value)
                if isinstance(value, str)
                else value
                for value, is_words in zip(row, indexed, strict=True)
            )


def _count(source: Driver, table: Table) -> int:
    [count] = source.execute(f'SELECT COUNT(*) FROM "{table.name}"').fetchone()  # noqa: S608 - a name of ours
    return count


def _number_on(source: Driver, driver: Driver, table: Table) -> None:
    """Numbers go on behind the last that was given, also where its row is gone."""
    column = table.autoincrement_column
    if column is None:
        return
    [highest] = source.execute(f'SELECT MAX("{column.name}") FROM "{table.name}"').fetchone()  # noqa: S608 - names of ours
    given = source.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", [table.name])
    last = max(highest or 0, *(row[0] for row in given.fetchall()), 0)
    if last:
        driver.execute(
            "SELECT setval(pg_get_serial_sequence(%s, %s), %s)", [table.name, column.name, last]
        )


# ---------------------------------------------------------------- comparing


def _verify(source: Driver, driver: Driver, table: Table, host: str) -> None:
    row = _differs(source, driver, table, host)
    if row is not None:
        raise StoreError(
            f"Row {row} of {table.name} did not arrive as it is in the file; nothing was moved."
        )


def _differs(source: Driver, driver: Driver, table: Table, host: str) -> int | None:
    """The first row, by its place, that is not the same in both; None where all are."""
    last = _last_entry(source) if table is schema.audit else None
    here = _rows(source, table, host)
    there = _arrived(driver, table, last)
    compared = [_same(c) for c in table.c]
    for place, (mine, other) in enumerate(zip_longest(here, there), 1):
        if mine is None or other is None:
            return place
        pairs = zip(compared, mine, other, strict=True)
        if not all(_equal(same, a, b) for same, a, b in pairs):
            return place
    return None


def _last_entry(source: Driver) -> int:
    """The move itself is on record behind it."""
    [last] = source.execute(f'SELECT MAX(id) FROM "{schema.audit.name}"').fetchone()  # noqa: S608 - a name of ours
    return last or 0


Same = Callable[[Any, Any], bool]


def _equal(same: Same, mine: Any, other: Any) -> bool:
    return mine is None and other is None if mine is None or other is None else same(mine, other)


def _same(column: Column[Any]) -> Same:
    match column.type:
        case Json():
            return lambda mine, other: loads(clean(mine)) == loads(other)
        case UtcTime():
            return lambda mine, other: datetime.fromisoformat(mine) == other
        case Words():
            return lambda mine, other: set(mine.split()) == set(other)
        case _:
            return lambda mine, other: (clean(mine) if isinstance(mine, str) else mine) == other
