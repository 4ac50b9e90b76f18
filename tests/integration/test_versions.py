"""Programs of two versions on one database: the older writes nothing more, and the newer changes
nothing under it."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from agents_manager.domain.host import DEAD_AFTER, Host, HostState
from agents_manager.domain.ids import ProjectId
from agents_manager.errors import SchemaInUse, SchemaMovedOn, StoreError
from agents_manager.flow.ports import Tx
from agents_manager.store import schema, versions
from agents_manager.store.database import Database, open_database
from agents_manager.store.migrate import HEAD, stored_revision
from tests import machines

LATER = "9000"


@pytest.fixture
def store(database_address: str) -> Iterator[Database]:
    database = open_database(database_address)
    yield database
    database.close()


def run(database: Database, *statements: str) -> None:
    with database.engines.writer.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def join(name: str) -> Callable[[Tx], Host]:
    return lambda tx: tx.hosts.join(machines.machine(name))


def test_a_program_writes_nothing_once_the_schema_is_anothers(store: Database) -> None:
    write = join("a")
    asyncio.run(store.write(write))
    run(store, f"UPDATE am_alembic_version SET version_num = '{LATER}'")
    with pytest.raises(SchemaMovedOn, match=f"schema {LATER}.* works with {HEAD}"):
        asyncio.run(store.write(write))
    with pytest.raises(SchemaMovedOn):
        asyncio.run(store.check_schema())
    # What it can still read, it may.
    assert asyncio.run(store.read(lambda tx: [host.name for host in tx.hosts.all()])) == ["a"]


@pytest.mark.parametrize("door", ["write", "read", "look"])
def test_a_server_waits_for_its_end_and_nothing_fails(store: Database, door: str) -> None:
    calls: dict[str, Callable[[], Any]] = {
        "write": lambda: store.write(join("a")),
        "read": lambda: store.read(
            lambda tx: tx.runs.page(task=None, live=True, after=None, limit=1)
        ),
        "look": store.check_schema,
    }
    run(
        store,
        f"UPDATE am_alembic_version SET version_num = '{LATER}'",
        "ALTER TABLE am_run RENAME COLUMN attempt TO tries",
    )

    async def walk() -> None:
        told = asyncio.Event()
        store.outdated = told.set
        waits = asyncio.create_task(calls[door]())
        await asyncio.wait_for(told.wait(), 20)
        await asyncio.sleep(0)
        assert not waits.done()
        waits.cancel()

    asyncio.run(walk())


def test_what_is_broken_otherwise_is_told(store: Database) -> None:
    store.outdated = lambda: pytest.fail("it is not outdated")
    run(store, "DROP TABLE am_look")
    with pytest.raises(Exception, match="am_look"):
        asyncio.run(store.read(lambda tx: tx.knowledge.looked(ProjectId("p"))))


def behind(store: Database) -> None:
    """As the version before this one left it, but for what the last script did."""
    run(store, "UPDATE am_alembic_version SET version_num = '0019'")


def test_a_schema_is_not_changed_under_others(store: Database, tmp_path: Path) -> None:
    behind(store)
    address = store.engines.path or store.engines.writer.url.render_as_string(hide_password=False)
    with pytest.raises(
        SchemaInUse, match=r"schema 0019, and a, b works on it.*am database upgrade"
    ):
        open_database(address, others=lambda engines: ["a", "b"])
    assert stored_revision(store.engines) == "0019"
    assert not (tmp_path / "home" / "backups").exists()


def test_others_are_the_machines_that_were_seen_lately(store: Database) -> None:
    for host in ("a", "b", "dead", "left"):
        asyncio.run(store.write(join(host)))
    dead = datetime.now(UTC) - DEAD_AFTER - timedelta(seconds=1)
    with store.engines.writer.begin() as connection:
        late = update(schema.host).where(schema.host.c.id == "dead").values(seen_at=dead)
        connection.execute(late)
    run(store, f"UPDATE am_host SET state = '{HostState.LEFT}' WHERE id = 'left'")
    assert versions.machines(store.engines, mine="b", dead_after=DEAD_AFTER) == ["a"]
    run(store, "ALTER TABLE am_host DROP COLUMN state", "ALTER TABLE am_host DROP COLUMN name")
    assert "a" in versions.machines(store.engines, mine=None, dead_after=DEAD_AFTER)
    run(store, "DROP TABLE am_host")
    assert versions.machines(store.engines, mine=None, dead_after=DEAD_AFTER) == []


def test_a_database_that_cannot_be_asked_is_not_outdated(store: Database) -> None:
    store.outdated = lambda: pytest.fail("it is not outdated")

    def fail(tx: Tx) -> None:
        raise StoreError("It cannot be reached.")

    with pytest.raises(StoreError, match="reached"):
        asyncio.run(store.read(fail))
