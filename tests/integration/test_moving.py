"""All of a file goes to Postgres, or nothing does."""

import asyncio
import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from agents_manager.domain.audit import Deed
from agents_manager.domain.ids import ProjectId
from agents_manager.domain.knowledge import Query
from agents_manager.errors import DatabaseMoved, InvalidConfig, StoreError
from agents_manager.flow import audit
from agents_manager.flow.ports import Tx
from agents_manager.redaction import NOTHING
from agents_manager.store import knowledge_tables, marks, migrate, moving, schema
from agents_manager.store.database import open_database
from agents_manager.store.engines import sqlite_engines
from tests import machines
from tests.contract.store_values import a_node, furnish
from tests.postgres import fresh_database
from tests.table_rows import fill
from tests.worlds import ANN

NOW = datetime(2026, 3, 2, tzinfo=UTC)
HOST = "this-machine"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with rows in every table, in which numbers were given that are gone."""
    path = tmp_path / "agents-manager.db"
    open_database(path).close()
    engines = sqlite_engines(path, "NORMAL")
    with engines.writer.begin() as connection:
        fill(connection)
        connection.exec_driver_sql("UPDATE sqlite_sequence SET seq = 40 WHERE name = 'am_event'")
        connection.exec_driver_sql("UPDATE am_effect SET status = 'started' WHERE seq < 3")
        connection.exec_driver_sql("UPDATE am_effect SET host = NULL WHERE seq <> 2")
    engines.dispose()
    return path


@pytest.fixture
def address(postgres_url: str) -> str:
    return fresh_database(postgres_url)


def move(path: Path, address: str, note: Callable[[Tx, int], None] | None = None) -> moving.Moved:
    def noted(tx: Tx, rows: int) -> None:
        tx.hosts.join(machines.machine(HOST))
        audit.note(tx, NOW, ANN, Deed.DATA_MOVED, f"moved {rows}", rows=rows)

    return moving.move(path, address, host=HOST, redactor=NOTHING, note=note or noted, now=NOW)


def tables_of(address: str) -> set[str]:
    with psycopg.connect(address) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return {name for (name,) in found}


def rows_of(address: str, query: str) -> list[Any]:
    with psycopg.connect(address) as connection:
        return connection.execute(query.encode()).fetchall()


def test_every_row_of_every_table_arrives(path: Path, address: str) -> None:
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    moved = move(path, address)
    assert moved.rows == dict.fromkeys(schema.metadata.tables.keys() - moving.LEFT_OUT, 3)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    for name in moved.rows.keys() - {"am_audit"}:
        assert rows_of(address, f"SELECT COUNT(*) FROM {name}") == [(3,)], name
    known = rows_of(address, "SELECT relname, reltuples FROM pg_class WHERE relkind = 'r'")
    assert {name: count for name, count in known if name in moved.rows} == moved.rows
    assert rows_of(address, "SELECT id, what FROM am_audit WHERE id > 3") == [(4, "data.moved")]
    [event] = rows_of(address, "SELECT actor, data FROM am_event WHERE id = 2")
    assert event[1]["ünï"][:5] == ["😀", 1e-7, 100.0, 2**60, True]
    # What was at work belongs to this machine, which counts as seen.
    started = "SELECT seq, host FROM am_effect ORDER BY seq"
    other = "am_effect.host 2"
    assert [(s, h if h in (None, HOST) else other in h) for s, h in rows_of(address, started)] == [
        (1, HOST),
        (2, True),
        (3, None),
    ]
    assert rows_of(address, "SELECT id FROM am_host") == [(HOST,)]
    assert len(rows_of(address, f"SELECT path FROM am_place WHERE host = '{HOST}'")) == 3


@pytest.mark.slow
def test_numbers_go_on_behind_the_last_that_was_given(path: Path, address: str) -> None:
    move(path, address)
    given = "SELECT nextval(pg_get_serial_sequence('{}', '{}'))"
    assert rows_of(address, given.format("am_event", "id")) == [(41,)]
    assert rows_of(address, given.format("am_node", "number")) == [(4,)]
    assert rows_of(address, given.format("am_audit", "id")) == [(5,)]


@pytest.mark.slow
def test_the_record_stays_append_only(path: Path, address: str) -> None:
    move(path, address)
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        rows_of(address, "DELETE FROM am_audit")


@pytest.mark.slow
def test_words_are_found_on_the_other_database(tmp_path: Path, address: str) -> None:
    path = tmp_path / "agents-manager.db"
    store = open_database(path)
    asyncio.run(store.write(furnish))
    asyncio.run(store.write(lambda tx: tx.knowledge.add(a_node(text="Locks are by host"))))
    store.close()
    move(path, address)
    store = open_database(address)
    asked = Query(text="locks", project_id=ProjectId("project-1"))
    found = asyncio.run(store.read(lambda tx: tx.knowledge.search(asked, limit=5)))
    store.close()
    assert [node.id for node in found] == ["node-1"]


def test_the_file_is_not_worked_on_any_more(path: Path, address: str) -> None:
    store = open_database(path)
    move(path, address)
    for refused in (
        lambda: open_database(path),
        # One that had the file open already.
        lambda: asyncio.run(store.write(lambda tx: tx.hosts.join(machines.machine("x")))),
        lambda: move(path, address),
    ):
        with pytest.raises(DatabaseMoved, match="Set AM_DATABASE_URL") as told:
            refused()
        assert "delete" in told.value.message
    store.close()
    marks.beside(path).unlink()
    open_database(path).close()


@pytest.mark.slow
def test_a_writer_that_waits_meanwhile_is_refused_not_lost(path: Path, address: str) -> None:
    store = open_database(path)
    writes: list[asyncio.Task[Any]] = []

    async def walk() -> None:
        def note(tx: Tx, rows: int) -> None:
            write = store.write(lambda tx: tx.hosts.join(machines.machine("x")))
            loop.call_soon_threadsafe(lambda: writes.append(loop.create_task(write)))

        loop = asyncio.get_running_loop()
        await asyncio.to_thread(move, path, address, note)
        with pytest.raises(DatabaseMoved):
            await writes[0]

    asyncio.run(walk())
    store.close()


@pytest.mark.slow
@pytest.mark.parametrize("table", ["am_project", "am_event", "am_look", "am_effect"])
def test_what_fails_on_the_way_leaves_both_as_they_were(
    path: Path, address: str, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = moving._copy

    def fail(source: Any, driver: Any, one: Any, host: str) -> None:
        if one.name == table:
            raise StoreError("no more")
        copy(source, driver, one, host)

    monkeypatch.setattr(moving, "_copy", fail)
    with pytest.raises(StoreError, match="no more"):
        move(path, address)
    assert tables_of(address) == set()
    assert not marks.beside(path).exists()
    open_database(path).close()
    monkeypatch.undo()
    assert not move(path, address).again


@pytest.mark.slow
def test_what_does_not_arrive_as_it_was_is_not_kept(
    path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = moving._number_on

    def damage(source: Any, driver: Any, table: Any) -> None:
        number(source, driver, table)
        if table is knowledge_tables.node:
            driver.execute("UPDATE am_node SET detail = detail || '{\"n\": 0}' WHERE number = 3")

    monkeypatch.setattr(moving, "_number_on", damage)
    with pytest.raises(StoreError, match="Row 3 of am_node did not arrive"):
        move(path, address)
    assert tables_of(address) == set()


@pytest.mark.slow
def test_a_row_that_cannot_be_kept_there_is_told_of(path: Path, address: str) -> None:
    engines = sqlite_engines(path, "NORMAL")
    with engines.writer.begin() as connection:
        connection.exec_driver_sql("UPDATE am_run SET usage = '{broken' WHERE attempt = 2")
    engines.dispose()
    with pytest.raises(StoreError, match="nothing was moved") as told:
        move(path, address)
    assert "am_run, line" in " ".join(told.value.details)
    assert "usage" in " ".join(told.value.details)
    assert tables_of(address) == set()


@pytest.mark.slow
def test_a_move_that_was_cut_short_before_it_told_so_is_ended(path: Path, address: str) -> None:
    move(path, address)
    marks.beside(path).unlink()
    assert move(path, address).again
    assert marks.beside(path).exists()
    assert rows_of(address, "SELECT COUNT(*) FROM am_audit") == [(4,)]


@pytest.mark.slow
def test_a_database_that_holds_something_else_is_left_alone(path: Path, address: str) -> None:
    move(path, address)
    marks.beside(path).unlink()
    with psycopg.connect(address) as connection:
        connection.execute("UPDATE am_task SET title = 'Later' WHERE version = 2")
    with pytest.raises(StoreError, match=r"not empty.*am_project"):
        move(path, address)
    assert not marks.beside(path).exists()


@pytest.mark.slow
def test_tables_without_rows_are_empty_enough(path: Path, address: str) -> None:
    open_database(address).close()
    assert not move(path, address).again


@pytest.mark.slow
def test_tables_of_another_version_are_left_alone(path: Path, address: str) -> None:
    open_database(address).close()
    with psycopg.connect(address) as connection:
        connection.execute("UPDATE am_alembic_version SET version_num = '0001'")
    with pytest.raises(StoreError, match=f"schema 0001; this is {migrate.HEAD}"):
        move(path, address)


@pytest.mark.slow
def test_what_an_engine_did_there_before_is_in_the_way(path: Path, address: str) -> None:
    with psycopg.connect(address) as connection:
        connection.execute("CREATE SCHEMA dbos")
        connection.execute("CREATE TABLE dbos.workflow_status AS SELECT 'x' AS workflow_uuid")
    with pytest.raises(StoreError, match='schema "dbos"'):
        move(path, address)


@pytest.mark.slow
def test_text_must_be_kept_as_utf8(path: Path, postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE am_latin ENCODING 'LATIN1' TEMPLATE template0")
    address = f"{postgres_url.rpartition('/')[0]}/am_latin"
    with pytest.raises(StoreError, match="LATIN1"):
        move(path, address)


@pytest.mark.parametrize("address", ["mysql://x/y", "agents-manager.db", "postgresql"])
def test_only_postgres_will_do(path: Path, address: str) -> None:
    with pytest.raises(InvalidConfig, match="postgresql://"):
        move(path, address)


def test_a_database_that_cannot_be_reached(path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be reached") as told:
        move(path, "postgresql://am:secret@127.0.0.1:1/am")
    assert "secret" not in str(told.value)
    assert not marks.beside(path).exists()
