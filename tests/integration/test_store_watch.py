"""Noticing commits: one's own by callback, those of others by watching."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
import structlog
from structlog.testing import LogCapture

from agents_manager.domain.event import Noted
from agents_manager.domain.ids import EffectId, TaskId
from agents_manager.flow.ports import Tx
from agents_manager.store import tx as store_tx
from agents_manager.store.database import Database, open_database
from tests.contract.store_values import ADA, NOW, an_effect, furnish

TASK = TaskId("task-1")

NOTER = """
import asyncio, sys
from datetime import UTC, datetime
from agents_manager.domain.event import Noted
from agents_manager.domain.task import SYSTEM
from agents_manager.store.database import open_database

store = open_database(sys.argv[1])
now = datetime.now(UTC)
asyncio.run(store.write(lambda tx: tx.events.add("task-1", Noted(text="x"), SYSTEM, now)))
store.close()
"""


def note(tx: Tx) -> None:
    tx.events.add(TASK, Noted(text="x"), ADA, NOW)


@pytest.fixture
def lines() -> Iterator[LogCapture]:
    capture = LogCapture()
    structlog.configure(processors=[structlog.contextvars.merge_contextvars, capture])
    yield capture
    structlog.reset_defaults()


async def test_events_and_effects_are_announced_after_their_commit(any_store: Database) -> None:
    calls: list[int] = []

    def callback() -> None:
        # On the writer's thread, so another connection sees only what is committed.
        with any_store.engines.reader.begin() as connection:
            calls.append(connection.exec_driver_sql("SELECT count(*) FROM am_event").scalar_one())

    await any_store.write(furnish)
    any_store.after_commit(callback)
    await any_store.write(note)
    assert calls == [1]
    for quiet in (lambda tx: tx.tasks.update(TASK, NOW, plan="x"), lambda tx: tx.events.last_id()):
        await any_store.write(quiet)
    assert calls == [1]
    await any_store.write(lambda tx: tx.effects.add(an_effect()))
    await any_store.write(lambda tx: tx.effects.update(EffectId("effect-1"), status="started"))
    assert calls == [1, 1, 1]


async def test_a_rolled_back_event_is_not_announced(any_store: Database) -> None:
    calls: list[None] = []
    any_store.after_commit(lambda: calls.append(None))

    def fail(tx: Tx) -> None:
        furnish(tx)
        note(tx)
        raise InterruptedError

    with pytest.raises(InterruptedError):
        await any_store.write(fail)
    assert calls == []


async def test_the_commit_of_another_process_is_noticed(ready_address: str) -> None:
    store = open_database(ready_address)
    await store.write(furnish)
    watch = store.watch()
    await anext(watch)
    noticed = asyncio.get_running_loop().time
    async with asyncio.timeout(20):
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", NOTER, ready_address)
        while not await store.read(lambda tx: tx.events.last_id()):
            await anext(watch)
        seen_at = noticed()
        assert await process.wait() == 0
    assert noticed() - seen_at >= 0
    await watch.aclose()
    store.close()


async def test_watching_is_quick_and_yields_once_for_a_burst(ready_address: str) -> None:
    store, other = open_database(ready_address), open_database(ready_address)
    await store.write(furnish)
    watch = store.watch()
    await anext(watch)
    clock = asyncio.get_running_loop().time
    delays: list[float] = []
    for _ in range(5):
        await other.write(note)
        written = clock()
        await asyncio.wait_for(anext(watch), 5)
        delays.append(clock() - written)
    assert sorted(delays)[2] < 0.5
    await watch.aclose()
    store.close()
    other.close()


async def test_sqlite_is_quiet_while_nobody_writes(store: Database) -> None:
    watch = store.watch(poll_s=0.01)
    await anext(watch)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(anext(watch), 0.2)


async def test_postgres_is_listened_to_again_after_a_break(postgres_store: Database) -> None:
    await postgres_store.write(furnish)
    watch = postgres_store.watch()
    await anext(watch)
    with postgres_store.engines.writer.begin() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE query LIKE 'LISTEN%%' AND datname = current_database()"
        )
    async with asyncio.timeout(10):
        await anext(watch)
        await postgres_store.write(note)
        await anext(watch)
    await watch.aclose()


async def test_slow_transactions_are_logged_with_the_caller_s_context(
    store: Database, lines: LogCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A tenth of a second of real work in a transaction would make the test slow.
    monkeypatch.setattr(store_tx, "SLOW_S", 0.0)
    with structlog.contextvars.bound_contextvars(task_id="task-1"):
        await store.write(furnish)
    [line] = lines.entries
    assert (line["event"], line["transaction"], line["task_id"]) == (
        "store.slow_write",
        "furnish",
        "task-1",
    )


async def test_transactions_do_not_need_the_loop_s_own_threads(any_store: Database) -> None:
    from concurrent.futures import ThreadPoolExecutor

    gone = ThreadPoolExecutor(1)
    asyncio.get_running_loop().set_default_executor(gone)
    gone.shutdown()
    await any_store.write(furnish)
    assert (await any_store.read(lambda tx: tx.tasks.get(TASK))).id == TASK


def test_closing_waits_for_what_was_begun(ready_address: str) -> None:
    async def main() -> None:
        store = open_database(ready_address)
        await store.write(furnish)
        begun = asyncio.Event()
        announce: Callable[[], object] = begun.set
        loop = asyncio.get_running_loop()

        def slow(tx: Tx) -> None:
            loop.call_soon_threadsafe(announce)
            note(tx)

        async with asyncio.TaskGroup() as group:
            group.create_task(store.write(slow))
            await begun.wait()
            store.close()

    asyncio.run(main())
    store = open_database(ready_address)
    assert asyncio.run(store.read(lambda tx: tx.events.last_id())) > 0
    store.close()


def test_a_command_does_not_load_alembic(ready_address: str) -> None:
    open_database(ready_address).close()
    script = (
        "import sys; from agents_manager.store.database import open_database; "
        "open_database(sys.argv[1]).close(); sys.exit('alembic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script, ready_address]).returncode == 0
