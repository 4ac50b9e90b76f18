"""What people look at all day is read from an index: no statement sorts or goes through all rows,
so that it does not matter how many tasks were finished before."""

from collections.abc import Callable
from typing import Any

import pytest

from agents_manager.domain.ids import ProjectId, TaskId
from agents_manager.flow.ports import Tx
from agents_manager.store.database import Database
from tests.contract.store_values import furnish

SHOP = ProjectId("project-1")
PAGES: dict[str, Callable[[Tx], object]] = {
    "all": lambda tx: tx.tasks.page(project=None, status=None, after=None, limit=9),
    "behind": lambda tx: tx.tasks.page(project=None, status=None, after="task-1", limit=9),
    "project": lambda tx: tx.tasks.page(project=SHOP, status=None, after=None, limit=9),
    "behind-in-project": lambda tx: tx.tasks.page(
        project=SHOP, status=None, after="task-1", limit=9
    ),
    "status": lambda tx: tx.tasks.page(project=None, status="open", after=None, limit=9),
    "project-status": lambda tx: tx.tasks.page(project=SHOP, status="open", after=None, limit=9),
    "events": lambda tx: tx.events.of_task(TaskId("task-1"), after_seq=0, limit=9),
    "events-of-all": lambda tx: tx.events.after(0, task=None, limit=9),
}


@pytest.mark.parametrize("asked", PAGES)
async def test_nothing_is_sorted_or_gone_through(store: Database, asked: str) -> None:
    await store.write(furnish)
    statements: list[str] = []
    with store.engines.reader.connect() as connection:
        driver: Any = connection.connection.dbapi_connection
        driver.set_trace_callback(statements.append)
    await store.read(PAGES[asked])
    selects = [s for s in statements if s.startswith("SELECT")]
    assert selects
    with store.engines.reader.connect() as connection:
        plan = [
            row.detail
            for select in selects
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {select}")
        ]
    assert [step for step in plan if "TEMP B-TREE" in step] == []
    assert [step for step in plan if step.startswith("SCAN") and "INDEX" not in step] == []
