"""The signs of life of a machine: on a connection of their own, so that no transaction keeps them
waiting. It holds a lock by the machine's id for as long as the process lives, so that a copy of its
data directory cannot work as the same machine elsewhere."""

import asyncio
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from sqlalchemy import URL, event

from agents_manager.domain.host import BEAT_S, LEASE
from agents_manager.errors import HostLocked
from agents_manager.flow import ports
from agents_manager.store.engines import postgres_engine
from agents_manager.store.faults import named
from agents_manager.store.hosts import Hosts
from agents_manager.store.statements import Session

T = TypeVar("T")

LOCKS = 0x616D_0002
"""The first half of the key of an advisory lock; the other half is the machine's."""
# A server that lost a machine without a word notices it by these, and gives its lock free.
_SERVER_NOTICES = ("tcp_keepalives_idle = 5", "tcp_keepalives_interval = 5")


class Beats:
    def __init__(self, url: URL, where: str, host: str) -> None:
        self._host = host
        self._where = where
        self._thread = ThreadPoolExecutor(1, "store-beat")
        lively = {"keepalives_idle": 5, "keepalives_interval": 5, "keepalives_count": 3}
        url = url.update_query_dict({k: str(v) for k, v in lively.items()})
        url = url.update_query_dict({"tcp_user_timeout": str(round(LEASE.total_seconds() * 500))})
        self._engine = postgres_engine(url, "READ COMMITTED", 1, lock_timeout_s=round(BEAT_S))
        event.listen(self._engine, "connect", self._lock)

    async def call(self, fn: Callable[[ports.Hosts], T]) -> T:
        """In a transaction of its own, beside those that write; HostLocked while another process
        holds the lock."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._call, fn)

    def close(self) -> None:
        self._thread.shutdown()
        self._engine.dispose()

    def _call(self, fn: Callable[[ports.Hosts], T]) -> T:
        with named(self._where), self._engine.begin() as connection:
            return fn(Hosts(Session(connection)))

    def _lock(self, connection: Any, record: object) -> None:
        for setting in _SERVER_NOTICES:
            connection.execute(f"SET {setting}")
        key = zlib.crc32(self._host.encode()) - 2**31
        taken = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (LOCKS, key)).fetchone()
        connection.commit()
        if not taken[0]:
            connection.close()
            raise HostLocked(
                f"Another process works on the database as this machine ({self._host}). If the data"
                " directory was copied, delete the file host-id in the copy; else end the other"
                " process first."
            )
