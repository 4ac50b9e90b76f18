"""A power cut, as far as it can be had without one: SQLite's journal loses its end at any byte, or
keeps sectors that were never written. What is promised with `synchronous=NORMAL` is that the
database opens, is whole, and holds the first of all commits without a gap."""

import asyncio
import random
import shutil
from pathlib import Path

import pytest

from agents_manager.domain.event import Noted
from agents_manager.domain.ids import TaskId
from agents_manager.domain.task import SYSTEM
from agents_manager.flow.ports import Tx
from agents_manager.store.database import Database, open_database
from tests import figures
from tests.contract.store_values import NOW, furnish

TASK = TaskId("task-1")
SECTOR = 512
COMMITS = 120


def _commit(tx: Tx) -> None:
    """Two rows that belong together, one of them in another table."""
    task = tx.tasks.move(tx.tasks.get(TASK), "doing", NOW)
    tx.events.add(TASK, Noted(text=f"{task.version} {'x' * 600}"), SYSTEM, NOW)


def _standing(store: Database) -> tuple[str, int, list[int]]:
    with store.engines.reader.begin() as connection:
        whole = connection.exec_driver_sql("PRAGMA integrity_check").scalar()
    task = asyncio.run(store.read(lambda tx: tx.tasks.get(TASK)))
    events = asyncio.run(store.read(lambda tx: tx.events.of_task(TASK, after_seq=0, limit=999)))
    return str(whole), task.version, [int(e.summary.split()[0]) for e in events]


def _cut(wal: Path, chance: random.Random) -> None:
    """The end is missing, and now and then a sector before it."""
    data = bytearray(wal.read_bytes())
    del data[chance.randrange(len(data) + 1) :]
    if data and chance.random() < 0.5:
        start = chance.randrange(len(data)) // SECTOR * SECTOR
        data[start : start + SECTOR] = bytes(len(data[start : start + SECTOR]))
    wal.write_bytes(data)


@pytest.mark.timeout(0)
def test_what_a_power_cut_leaves_is_whole_and_begins_at_the_beginning(tmp_path: Path) -> None:
    tries = 3 if not figures.MODE else figures.size(100, 1000)
    home = tmp_path / "home"
    store = open_database(home / "am.db")
    asyncio.run(store.write(furnish))
    with store.engines.writer.begin() as connection:
        connection.exec_driver_sql("PRAGMA wal_autocheckpoint=400")
    for _ in range(COMMITS):
        asyncio.run(store.write(_commit))
    wal = home / "am.db-wal"
    assert wal.stat().st_size > 100 * SECTOR
    shutil.copytree(home, tmp_path / "pulled")
    store.close()

    chance, lost, wrong = random.Random(6), 0, list[str]()
    for n in range(tries):
        left = tmp_path / f"left-{n}"
        shutil.copytree(tmp_path / "pulled", left, ignore=shutil.ignore_patterns("*-shm"))
        _cut(left / "am.db-wal", chance)
        found = open_database(left / "am.db")
        whole, version, told = _standing(found)
        if whole != "ok" or told != list(range(2, version + 1)):
            wrong.append(f"{n}: {whole}, version {version}, {told[-3:]}")
        asyncio.run(found.write(_commit))
        found.close()
        lost += version < COMMITS + 1
        shutil.rmtree(left)
    figures.note("power", "SQLite", tries=tries, wrong=len(wrong), lost_some=lost)
    assert not wrong
