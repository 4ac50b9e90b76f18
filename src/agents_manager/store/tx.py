"""The store: transactions as plain functions, run one after another on a thread of their own."""

import asyncio
import contextvars
import inspect
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TypeVar

import structlog
from sqlalchemy.exc import DBAPIError

from agents_manager.errors import HostReplaced, SchemaMovedOn, StoreError
from agents_manager.flow import ports
from agents_manager.flow.ports import Here
from agents_manager.meters import Times
from agents_manager.redaction import NOTHING, Redactor
from agents_manager.store import marks, versions, watch
from agents_manager.store.access import Access
from agents_manager.store.audit import Audit
from agents_manager.store.beats import Beats
from agents_manager.store.board import Board
from agents_manager.store.catalog import Parsed, Pipelines, Projects
from agents_manager.store.deliveries import Deliveries
from agents_manager.store.effects import Effects
from agents_manager.store.engines import READERS, Engines
from agents_manager.store.events import Events
from agents_manager.store.faults import named
from agents_manager.store.figures import Figures
from agents_manager.store.grants import Grants
from agents_manager.store.hosts import Hosts
from agents_manager.store.knowledge import Knowledge
from agents_manager.store.outputs import Outputs
from agents_manager.store.phases import Phases
from agents_manager.store.prompts import Prompts
from agents_manager.store.pulls import Pulls
from agents_manager.store.retention import Retention
from agents_manager.store.runs import Runs
from agents_manager.store.schedules import Schedules
from agents_manager.store.standing import Standing
from agents_manager.store.statements import Session
from agents_manager.store.tasks import Histories, Tasks

T = TypeVar("T")
log = structlog.get_logger()

SLOW_S = 0.1


class Tx:
    def __init__(self, session: Session, parsed: Parsed, here: Here | None = None) -> None:
        self.wrote = False
        """Whether somebody waits for what was written: an event or an effect."""
        self.projects = Projects(session, here, self._note)
        self.pipelines = Pipelines(session, parsed)
        self.tasks = Tasks(session)
        self.history = Histories(session)
        self.runs = Runs(session)
        self.phases = Phases(session)
        self.prompts = Prompts(session)
        self.events = Events(session, self._note)
        self.effects = Effects(session, self._note)
        self.pulls = Pulls(session)
        self.access = Access(session)
        self.audit = Audit(session)
        self.board = Board(session)
        self.figures = Figures(session)
        self.grants = Grants(session)
        self.retention = Retention(session)
        self.hosts = Hosts(session)
        self.deliveries = Deliveries(session)
        self.knowledge = Knowledge(session)
        self.standing = Standing(session)
        self.outputs = Outputs(session)
        self.schedules = Schedules(session)

    def _note(self) -> None:
        self.wrote = True


class Database:
    """Has threads of its own, as DBOS replaces the loop's default executor."""

    def __init__(
        self, engines: Engines, redactor: Redactor = NOTHING, here: Here | None = None
    ) -> None:
        self.engines = engines
        self._here = here
        self.times = Times()
        self.outdated: Callable[[], None] | None = None
        """Of a program that goes on for long. It is told that another version changed the schema,
        and whoever reads or writes waits from then on for its end: to fail would go on record."""
        self._redactor = redactor
        self._parsed = Parsed()
        self._callbacks: list[Callable[[], None]] = []
        self._writer = ThreadPoolExecutor(1, "store-write")
        self._readers = ThreadPoolExecutor(READERS, "store-read")

    async def write(self, fn: Callable[[ports.Tx], T]) -> T:
        assert not inspect.iscoroutinefunction(fn), "a transaction is a plain function"
        return await self._while_current(_run(self._writer, lambda: self._write(fn)))

    async def read(self, fn: Callable[[ports.Tx], T]) -> T:
        assert not inspect.iscoroutinefunction(fn), "a transaction is a plain function"
        return await self._while_current(_run(self._readers, lambda: self._read(fn)))

    async def check_schema(self) -> None:
        """Whether this program may go on, where nothing else asks."""
        await self._while_current(_run(self._readers, self._refuse_outdated))

    def after_commit(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)

    def watch(self, poll_s: float = 0.05) -> AsyncGenerator[None, None]:
        """Yields at the start, and whenever another connection, of any process, has committed."""
        if self.engines.path is None:
            return watch.postgres(self.engines.writer.url)
        return watch.sqlite(self.engines.path, poll_s)

    def beats(self) -> Beats:
        """Of the machine that this is; several must share the database."""
        assert self._here is not None, "one machine alone tells nobody that it lives"
        return Beats(self.engines.writer.url, self.engines.where, self._here.host)

    def close(self) -> None:
        """Waits for the transactions that were begun."""
        self._writer.shutdown()
        self._readers.shutdown()
        self.engines.dispose()

    async def _while_current(self, call: Awaitable[T]) -> T:
        try:
            return await call
        except (StoreError, DBAPIError) as error:
            if self.outdated is None or not await self._is_outdated(error):
                raise
        self.outdated()
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")

    async def _is_outdated(self, error: Exception) -> bool:
        if isinstance(error, SchemaMovedOn):
            return True
        return await _run(self._readers, lambda: versions.outdated(self.engines)) is not None

    def _refuse_outdated(self) -> None:
        error = versions.outdated(self.engines)
        if error is not None:
            raise error

    def _write(self, fn: Callable[[ports.Tx], T]) -> T:
        begun = time.monotonic()
        with named(self.engines.where), self.engines.writer.begin() as connection:
            waited = time.monotonic() - begun
            if self.engines.path is not None:
                marks.refuse(self.engines.path)
            versions.may_go_on(connection.connection.driver_connection, self.engines.where)
            tx = Tx(Session(connection, self._redactor), self._parsed, self._here)
            _refuse_replaced(tx)
            result = fn(tx)
            if tx.wrote and self.engines.path is None:
                connection.exec_driver_sql(watch.NOTIFY)
        spent = time.monotonic() - begun
        self.times.note(spent, "write")
        if spent > SLOW_S:
            log.warning(
                "store.slow_write",
                transaction=getattr(fn, "__qualname__", str(fn)),
                waited_ms=round(waited * 1000),
                total_ms=round(spent * 1000),
            )
        if tx.wrote:
            for callback in self._callbacks:
                callback()
        return result

    def _read(self, fn: Callable[[ports.Tx], T]) -> T:
        begun = time.monotonic()
        try:
            with named(self.engines.where), self.engines.reader.begin() as connection:
                return fn(Tx(Session(connection), self._parsed, self._here))
        finally:
            self.times.note(time.monotonic() - begun, "read")


def _refuse_replaced(tx: Tx) -> None:
    """In the transaction itself: who gives a machine up and takes its work writes alone, too."""
    term = ports.ACTING.get()
    if term is not None and not tx.hosts.holds(term):
        raise HostReplaced(
            "Others have given this machine up and taken over its work, so what it came to is not"
            " written."
        )


async def _run(executor: Executor, call: Callable[[], T]) -> T:
    # The log's context belongs to the caller, and threads do not inherit it.
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(executor, context.run, call)
