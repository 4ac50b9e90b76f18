"""SQLAlchemy engines for both databases: how they connect, and how their transactions begin.

A write transaction is alone on both: SQLite begins it with the write lock, Postgres with an
advisory lock. So what it has read stays true until it commits, ids of events become visible in
their order, and two writers cannot end in a deadlock.
"""

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import URL, Engine, QueuePool, create_engine, event

from agents_manager.store import library
from agents_manager.store.columns import dumps

Synchronous = Literal["NORMAL", "FULL"]

READERS = 4
BUSY_TIMEOUT_S = 30
TURN_MS = 5
"""How long SQLite waits for the write lock before it is asked again. By itself it looks ever more
seldom, in the end ten times a second, so that who has waited longest would come last."""
IN_LINE_S = 3600.0
"""For a connection to SQLite: each of those before may have to wait for the lock of the file."""
IDLE_TIMEOUT_S = 15
"""How long a machine that froze or was cut off within a transaction keeps all others waiting."""
CONNECT_TIMEOUT_S = 10
LIVELY = {
    "connect_timeout": CONNECT_TIMEOUT_S,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""A server that went without a word, with its machine or its network, is noticed in half a minute
and not in hours."""
JOURNAL_BYTES = 64 * 1024 * 1024
WRITE_LOCK = 0x616D_0001
"""Any number that other programs on the database do not use for an advisory lock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    writer: Engine
    reader: Engine
    where: str
    """How messages name the database."""
    path: Path | None
    """The file; None on Postgres."""

    def dispose(self) -> None:
        self.reader.dispose()
        self.writer.dispose()


def sqlite_engines(path: Path, synchronous: Synchronous) -> Engines:
    return Engines(
        writer=sqlite_engine(path, immediate=True, synchronous=synchronous),
        reader=sqlite_engine(path, immediate=False, readonly=True, pool_size=READERS),
        where=str(path),
        path=path,
    )


def sqlite_engine(
    path: Path,
    *,
    immediate: bool,
    synchronous: Synchronous = "NORMAL",
    readonly: bool = False,
    pool_size: int = 1,
) -> Engine:
    """With `immediate`, a transaction takes the write lock when it begins, so that it never fails
    by having read before it writes."""
    module = library.sqlite()
    engine = create_engine(
        URL.create("sqlite+pysqlite", database=str(path)),
        module=module,
        poolclass=QueuePool,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=IN_LINE_S,
        pool_reset_on_return=None,
        connect_args={
            "timeout": BUSY_TIMEOUT_S,
            # We begin transactions ourselves.
            "isolation_level": None,
            # The pool hands a connection to one thread at a time.
            "check_same_thread": False,
            "cached_statements": 256,
        },
    )

    def configure(connection: Any, record: object) -> None:
        for pragma in (
            "journal_mode=WAL",
            f"synchronous={synchronous}",
            f"busy_timeout={TURN_MS if immediate else BUSY_TIMEOUT_S * 1000}",
            "foreign_keys=ON",
            "temp_store=MEMORY",
            f"journal_size_limit={JOURNAL_BYTES}",
            f"query_only={'ON' if readonly else 'OFF'}",
        ):
            connection.execute(f"PRAGMA {pragma}")
        if module.sqlite_version_info < (3, 42):
            connection.create_function("unixepoch", -1, _unixepoch)

    event.listen(engine, "connect", configure)
    if immediate:
        engine.dialect.do_begin = partial(_take_turn, module.OperationalError)
    else:
        begin_with(engine, "BEGIN")
    return engine


def _take_turn(refused: type[Exception], dbapi_connection: Any) -> None:
    """Waits for the write lock as long as for any other."""
    end = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            dbapi_connection.execute("BEGIN IMMEDIATE")
            return
        except refused as error:
            if "database is locked" not in str(error) or time.monotonic() >= end:
                raise


def _unixepoch(*arguments: str) -> float:
    """What DBOS asks of SQLite 3.42; older ones get it from here."""
    now = time.time()
    return now if "subsec" in arguments else int(now)


def postgres_engines(url: URL) -> Engines:
    url = url.set(drivername="postgresql+psycopg")
    return Engines(
        writer=postgres_engine(url, "READ COMMITTED", 1, exclusive=True),
        reader=postgres_engine(url, "REPEATABLE READ", READERS, readonly=True),
        where=url.set(drivername="postgresql").render_as_string(hide_password=True),
        path=None,
    )


def postgres_engine(
    url: URL,
    isolation: Any,
    pool_size: int,
    *,
    exclusive: bool = False,
    readonly: bool = False,
    lock_timeout_s: int | None = None,
) -> Engine:
    """With `exclusive`, a transaction is alone among all of this kind."""
    engine = create_engine(
        url,
        isolation_level=isolation,
        json_serializer=dumps,
        # By position, as SQLite has it: statements are compiled once, for either driver alike.
        paramstyle="format",
        pool_size=pool_size,
        max_overflow=0,
        pool_pre_ping=True,
        connect_args={"application_name": "agents-manager", **LIVELY},
    )

    def configure(connection: Any, record: object) -> None:
        # By SET, as connection poolers refuse start-up options.
        for setting in (
            "timezone = 'UTC'",
            f"lock_timeout = '{lock_timeout_s or BUSY_TIMEOUT_S}s'",
            f"idle_in_transaction_session_timeout = '{IDLE_TIMEOUT_S}s'",
            f"default_transaction_read_only = {'on' if readonly else 'off'}",
        ):
            connection.execute(f"SET {setting}")
        connection.commit()

    event.listen(engine, "connect", configure)
    if exclusive:
        begin_with(engine, f"SELECT pg_advisory_xact_lock({WRITE_LOCK})")
    return engine


def begin_with(engine: Engine, statement: str) -> None:
    """By the dialect, as a listener for "begin" would make every statement of the engine slower."""

    def do_begin(dbapi_connection: Any) -> None:
        dbapi_connection.execute(statement)

    engine.dialect.do_begin = do_begin
