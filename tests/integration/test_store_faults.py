"""What disks, other processes and other programs do to a database, and what the user is told."""

import asyncio
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from agents_manager.domain.event import Noted
from agents_manager.domain.ids import PromptId, RunId, TaskId
from agents_manager.errors import CorruptRow, InvalidConfig, StoreError, StoreUnavailable
from agents_manager.flow.ports import Tx
from agents_manager.store import engines
from agents_manager.store.database import Database, open_database, sqlite_engine
from tests import small_disk as disks
from tests.contract.store_values import (
    ADA,
    NOW,
    a_history,
    a_prompt,
    a_run,
    a_task,
    an_artifact,
    an_effect,
    furnish,
)
from tests.postgres import fresh_database

TASK = TaskId("task-1")

HOLDER = """
import sys, time
from agents_manager.store.engines import sqlite_engine
from pathlib import Path
with sqlite_engine(Path(sys.argv[1]), immediate=True).begin():
    print("locked", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    with disks.small_disk(tmp_path / "disk", 2) as folder:
        yield folder


def test_the_files_belong_to_their_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "home" / "agents-manager.db"
    mask = os.umask(0)
    try:
        store = open_database(path)
        asyncio.run(store.write(furnish))
    finally:
        os.umask(mask)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    store.close()
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert modes[path.name] == modes[f"{path.name}-wal"] == modes[f"{path.name}-shm"] == 0o600


def test_addresses(tmp_path: Path) -> None:
    path = tmp_path / "by-address.db"
    store = open_database(f"sqlite:///{path}")
    assert store.engines.path == path
    store.close()
    for wrong in ("mysql://localhost/x", "sqlite://", "postgresql://host:port/x"):
        with pytest.raises(InvalidConfig):
            open_database(wrong)


@pytest.mark.parametrize(
    ("table", "column", "read"),
    [
        ("am_task", "tags", lambda tx: tx.tasks.get(TASK)),
        ("am_task", "tags", lambda tx: tx.tasks.move(a_task(), "doing", NOW)),
        ("am_task", "created_at", lambda tx: tx.tasks.find("task")),
        ("am_history", "guards", lambda tx: tx.history.of_task(TASK)),
        ("am_event", "data", lambda tx: tx.events.after(0, task=None, limit=9)),
        ("am_effect", "payload", lambda tx: tx.effects.due(NOW, 9)),
        ("am_run", "status", lambda tx: tx.runs.get(RunId("run-1"))),
        ("am_prompt", "resume", lambda tx: tx.prompts.get(PromptId("prompt-1"))),
        ("am_artifact", "data", lambda tx: tx.tasks.artifacts(TASK)),
        ("am_pipeline", "document", lambda tx: tx.pipelines.get("simple")),
    ],
)
async def test_a_value_that_cannot_be_read_is_named(
    store: Database, table: str, column: str, read: Any
) -> None:
    def write(tx: Tx) -> None:
        furnish(tx)
        tx.history.add(a_history())
        tx.events.add(TASK, Noted(text="x"), ADA, NOW)
        tx.effects.add(an_effect())
        tx.runs.add(a_run())
        tx.prompts.add(a_prompt())
        tx.tasks.add_artifact(an_artifact())

    await store.write(write)
    with store.engines.writer.begin() as connection:
        connection.exec_driver_sql(f"UPDATE {table} SET {column} = '{{\"cut of'")
        id = connection.exec_driver_sql(f"SELECT id FROM {table}").scalar()
    with pytest.raises(CorruptRow) as refused:
        await store.write(read)
    assert [word in refused.value.message for word in (table, f'"{column}"', str(id))] == [True] * 3


async def test_a_value_of_the_wrong_shape_is_named_on_postgres_too(
    postgres_store: Database,
) -> None:
    def write(tx: Tx) -> None:
        furnish(tx)
        tx.prompts.add(a_prompt())

    await postgres_store.write(write)
    with postgres_store.engines.writer.begin() as connection:
        connection.exec_driver_sql("UPDATE am_prompt SET resume = '{\"mode\": 1}'")
    with pytest.raises(CorruptRow, match='"resume" of row "prompt-1" in table am_prompt'):
        await postgres_store.read(lambda tx: tx.prompts.pending())


def test_a_file_that_is_not_a_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are my notes. " * 100)
    with pytest.raises(StoreError, match=r"notes\.txt.* is not a database") as refused:
        open_database(path)
    assert not refused.value.retryable
    assert path.read_text() == "These are my notes. " * 100


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot be created: .*Choose a folder"):
        open_database(tmp_path / "file" / "agents-manager.db")
    with pytest.raises(StoreError, match="cannot be opened"):
        open_database(tmp_path)


async def test_a_database_that_another_process_keeps_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The wait of 30 seconds is all that this shortens; the lock is real.
    monkeypatch.setattr(engines, "BUSY_TIMEOUT_S", 0.2)
    store = open_database(tmp_path / "agents-manager.db")
    arguments = ("-c", HOLDER, str(tmp_path / "agents-manager.db"))
    holder = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"locked\n"
    with pytest.raises(StoreUnavailable, match="locked by another process"):
        await store.write(furnish)
    assert await store.read(lambda tx: tx.projects.all()) == []
    await holder.communicate(b"")
    await store.write(furnish)
    store.close()


async def test_a_postgres_that_another_writer_keeps_busy(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "BUSY_TIMEOUT_S", 0.2)  # As above: the wait, not the lock.
    address = fresh_database(postgres_url)
    store, other = open_database(address), open_database(address)
    with other.engines.writer.begin():
        with pytest.raises(StoreError, match="kept busy by another process"):
            await store.write(furnish)
        assert await store.read(lambda tx: tx.projects.all()) == []
    await store.write(furnish)
    store.close()
    other.close()


async def test_a_full_disk_costs_only_the_transaction_that_did_not_fit(small_disk: Path) -> None:
    store = open_database(small_disk / "agents-manager.db")
    await store.write(furnish)
    with pytest.raises(StoreError, match="disk is full"):
        await store.write(lambda tx: tx.tasks.update(TASK, NOW, plan="x" * 4_000_000))
    assert (await store.read(lambda tx: tx.tasks.get(TASK))).plan is None
    await store.write(lambda tx: tx.tasks.update(TASK, NOW, plan="short"))
    store.close()
    store = open_database(small_disk / "agents-manager.db")
    assert (await store.read(lambda tx: tx.tasks.get(TASK))).plan == "short"
    store.close()


def test_a_disk_that_can_only_be_read(small_disk: Path) -> None:
    path = small_disk / "agents-manager.db"
    open_database(path).close()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(StoreError, match=r"can only be read|cannot be opened"):
        open_database(path)


def test_a_postgres_that_does_not_answer() -> None:
    address = "postgresql://ada:secret@127.0.0.1:1/agents"
    with pytest.raises(StoreUnavailable, match="cannot be reached") as refused:
        open_database(address)
    assert "secret" not in refused.value.message + "".join(refused.value.details)


def test_a_postgres_database_that_does_not_exist(postgres_url: str) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        open_database(postgres_url.rpartition("/")[0] + "/nothing")


async def test_postgres_connections_that_died_are_replaced(postgres_url: str) -> None:
    address = fresh_database(postgres_url)
    store, other = open_database(address), open_database(address)
    await store.write(furnish)
    with other.engines.writer.begin() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert (await store.read(lambda tx: tx.tasks.get(TASK))).status == "open"
    await store.write(lambda tx: tx.tasks.move(a_task(), "doing", NOW))
    store.close()
    other.close()


def test_a_postgres_user_who_may_not_create_tables(postgres_url: str) -> None:
    address = fresh_database(postgres_url)
    name = f"guest_{address.rpartition('_')[2]}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        connection.execute(f"CREATE ROLE {name} LOGIN".encode())
    with pytest.raises(StoreError, match="grant it the right"):
        open_database(address.replace("postgres@", f"{name}@"))


def test_a_folder_where_the_lock_cannot_be_taken(tmp_path: Path) -> None:
    path = tmp_path / "agents-manager.db"
    (tmp_path / "agents-manager.db.lock").mkdir()
    with pytest.raises(StoreError, match=r"agents-manager\.db\.lock"):
        open_database(path)


@pytest.mark.slow
def test_the_sqlite_of_the_python_serves_where_no_newer_one_is_installed(tmp_path: Path) -> None:
    script = """
import asyncio, sys
sys.modules["pysqlite3"] = None
from agents_manager.store.database import open_database
from tests.contract.store_values import furnish
store = open_database(sys.argv[1])
asyncio.run(store.write(furnish))
assert asyncio.run(store.read(lambda tx: tx.tasks.find("task"))).status == "open"
with store.engines.reader.begin() as connection:
    assert connection.exec_driver_sql("SELECT unixepoch('subsec')").scalar() > 1.7e9
assert store.engines.writer.dialect.dbapi.__name__ == "sqlite3.dbapi2"
store.close()
"""
    command = [sys.executable, "-c", script, str(tmp_path / "agents-manager.db")]
    assert subprocess.run(command, cwd=Path(__file__).parents[2]).returncode == 0


def test_an_engine_for_another_file_is_set_up_alike(tmp_path: Path) -> None:
    engine = sqlite_engine(tmp_path / "engine.db", immediate=True)
    wanted = {"journal_mode": "wal", "foreign_keys": 1, "synchronous": 1}
    with engine.connect() as connection:
        found = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in wanted}
        asked = "SELECT unixepoch('subsec') >= unixepoch()"
        assert connection.exec_driver_sql(asked).scalar() == 1
    engine.dispose()
    assert found == wanted


def test_threads_wait_in_line_for_another_file(tmp_path: Path) -> None:
    engine = sqlite_engine(tmp_path / "engine.db", immediate=True)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE counted (number INTEGER)")
        connection.exec_driver_sql("INSERT INTO counted VALUES (0)")

    def count(_: int) -> None:
        with engine.begin() as connection:
            known = connection.exec_driver_sql("SELECT number FROM counted").scalar_one()
            connection.exec_driver_sql("UPDATE counted SET number = ?", (known + 1,))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(count, range(200)))
    with engine.begin() as connection:
        assert connection.exec_driver_sql("SELECT number FROM counted").scalar() == 200
    engine.dispose()
