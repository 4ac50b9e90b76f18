"""Noticing that another process wrote: by SQLite's counter of foreign commits, by Postgres's
notifications. What changed is for the reader to find out."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, cast

import structlog
from sqlalchemy import URL, Connection
from sqlalchemy.exc import DBAPIError

from agents_manager.store.engines import LIVELY, sqlite_engine

log = structlog.get_logger()

CHANNEL = "am_change"
NOTIFY = f"SELECT pg_notify('{CHANNEL}', '')"
SAFETY_POLL_S = 2.0
LONGEST_PAUSE_S = 5.0


async def sqlite(path: Path, poll_s: float) -> AsyncGenerator[None, None]:
    """A thread looks and tells the loop of changes only: to be asked twenty times a second would
    cost more than the looking, and a locked database would hold up the loop."""
    loop = asyncio.get_running_loop()
    changed = asyncio.Event()
    over = threading.Event()

    def look() -> None:
        seen: int | None = None
        with closing(_Counter(path)) as counter:
            while not over.is_set():
                version = counter.read()
                if version is not None and version != seen:
                    seen = version
                    with suppress(RuntimeError):  # The loop may have ended first.
                        loop.call_soon_threadsafe(changed.set)
                time.sleep(poll_s)  # Half the price of waiting for `over`, which is rare.

    thread = threading.Thread(target=look, name="store-watch", daemon=True)
    thread.start()
    try:
        while True:
            await changed.wait()
            changed.clear()
            yield
    finally:
        over.set()
        thread.join()


class _Counter:
    """`data_version` compares with what its own connection saw, so it needs one that stays, and
    that is in no transaction."""

    def __init__(self, path: Path) -> None:
        self._engine = sqlite_engine(path, immediate=False, readonly=True)
        self._connection: Connection | None = None

    def read(self) -> int | None:
        try:
            if self._connection is None:
                self._connection = self._engine.connect()
            driver = self._connection.connection.driver_connection
            assert driver is not None
            return driver.execute("PRAGMA data_version").fetchone()[0]
        except (DBAPIError, self._engine.dialect.loaded_dbapi.Error) as error:
            log.warning("store.watch_failed", reason=str(error))
            self.close()
            return None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._engine.dispose()


async def postgres(url: URL) -> AsyncGenerator[None, None]:
    import psycopg

    address = url.set(drivername="postgresql").render_as_string(hide_password=False)
    pause_s = 0.1
    while True:
        try:
            connection = await psycopg.AsyncConnection.connect(
                address, autocommit=True, **cast("Any", LIVELY)
            )
            async with connection:
                await connection.execute(f"LISTEN {CHANNEL}")
                pause_s = 0.1
                while True:
                    yield
                    async for _ in connection.notifies(timeout=SAFETY_POLL_S, stop_after=1):
                        pass
        except psycopg.OperationalError as error:
            log.warning("store.watch_failed", reason=str(error), again_in_s=pause_s)
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
