"""What people look at all day is read from an index: no statement sorts or goes through all rows,
so that it does not matter how many tasks were finished before."""

from collections.abc import Callable
from typing import Any

import pytest

from agents_manager.domain import recall
from agents_manager.domain.board import Place
from agents_manager.domain.budget import BudgetScope
from agents_manager.domain.cost import By
from agents_manager.domain.ids import ProjectId, TaskId
from agents_manager.domain.knowledge import NodeKind, Query
from agents_manager.flow.ports import Tx
from agents_manager.store.database import Database
from tests.contract.store_values import NOW, furnish

SHOP = ProjectId("project-1")
DONE = Place("simple", 1, "done")
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
    plan = await planned(store, PAGES[asked])
    assert [step for step in plan if "TEMP B-TREE" in step] == []
    assert [step for step in plan if step.startswith("SCAN") and "INDEX" not in step] == []


async def planned(store: Database, read: Callable[[Tx], object]) -> list[str]:
    """The steps that SQLite takes."""
    statements: list[str] = []
    with store.engines.reader.connect() as connection:
        driver: Any = connection.connection.dbapi_connection
        driver.set_trace_callback(statements.append)
    await store.read(read)
    selects = [s for s in statements if s.startswith(("SELECT", "WITH"))]
    assert selects
    with store.engines.reader.connect() as connection:
        return [
            row.detail
            for select in selects
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {select}")
        ]


async def test_open_questions_are_not_gone_through_for_every_idle_task(store: Database) -> None:
    await store.write(furnish)
    plan = await planned(
        store, lambda tx: tx.tasks.idle(["open"], NOW, told="-told-", after=None, limit=9)
    )
    for_each = plan[next(i for i, step in enumerate(plan) if "CORRELATED" in step) :]
    assert [step for step in plan if "am_prompt" in step]
    assert [step for step in for_each if "am_prompt" in step and "(task_id=?)" not in step] == []


KNOWN: dict[str, Callable[[Tx], object]] = {
    "newest": lambda tx: tx.knowledge.search(Query(project_id=SHOP), limit=9),
    "kinds": lambda tx: tx.knowledge.same(SHOP, NodeKind.GOTCHA, "x"),
    "words": lambda tx: tx.knowledge.ranked(Query(project_id=SHOP), ["x"], limit=9),
    "tags": lambda tx: tx.knowledge.ranked(Query(project_id=SHOP, tags=("x",)), [], limit=9),
    "files": lambda tx: tx.knowledge.ranked(Query(project_id=SHOP, files=("x",)), [], limit=9),
    "memory": lambda tx: tx.knowledge.memory(SHOP, limit=9),
    "doubtful": lambda tx: tx.knowledge.doubtful(SHOP, limit=9),
    "blocking": lambda tx: tx.knowledge.blocking(TaskId("task-1")),
    "map": lambda tx: tx.knowledge.files(SHOP, under="src", limit=9),
    "of-task": lambda tx: tx.knowledge.of_task(TaskId("task-1")),
    "about": lambda tx: tx.knowledge.about(SHOP, ["x"]),
}


@pytest.mark.parametrize("asked", KNOWN)
async def test_what_is_known_is_looked_up_however_much_it_is(store: Database, asked: str) -> None:
    await store.write(furnish)
    plan = await planned(store, KNOWN[asked])
    whole = [step for step in plan if step.startswith("SCAN") and "INDEX" not in step]
    # What FTS5 asks of its own tables is its own matter.
    own = ("json_each", "fts_am_node")
    assert [step for step in whole if not any(name in step for name in own)] == []


@pytest.mark.parametrize(
    ("kinds", "match"),
    [
        ((NodeKind.GOTCHA,), '"project-1_gotcha_x"'),
        ((NodeKind.GOTCHA, NodeKind.TASK), '"project-1_gotcha_x" OR "project-1_task_x"'),
        (recall.KINDS, '"project-1_finding_x"'),
    ],
)
async def test_a_word_is_looked_up_in_a_list_of_its_project(
    store: Database, kinds: tuple[NodeKind, ...], match: str
) -> None:
    """FTS5 goes through all of a project that is asked for beside a word, and no plan shows it."""
    await store.write(furnish)
    asked: list[str] = []
    with store.engines.reader.connect() as connection:
        driver: Any = connection.connection.dbapi_connection
        driver.set_trace_callback(asked.append)
    await store.read(
        lambda tx: tx.knowledge.ranked(Query(project_id=SHOP, kinds=kinds), ["x"], limit=9)
    )
    [looked_up] = [statement for statement in asked if "MATCH" in statement]
    assert f" MATCH '{match}'" in looked_up
    with store.engines.reader.connect() as connection:
        plan = list(connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {looked_up}"))
    [step] = [row.detail for row in plan]
    assert step.startswith("SCAN fts_am_node_bound VIRTUAL TABLE INDEX")


LATELY: dict[str, Callable[[Tx], object]] = {
    "cost": lambda tx: tx.figures.cost(By.AGENT, project=None, since=NOW, limit=9),
    "cost-of-project": lambda tx: tx.figures.cost(By.DAY, project=SHOP, since=NOW, limit=9),
    "stats": lambda tx: tx.figures.stats(project=None, since=NOW),
    "runs": lambda tx: tx.figures.runs(project=None, since=NOW),
    "reviews": lambda tx: tx.figures.reviews(project=None, since=NOW),
    "moves": lambda tx: tx.board.moves(None, since=NOW),
    "finished": lambda tx: tx.board.tasks([DONE], None, since=NOW),
    "finished-in-project": lambda tx: tx.board.tasks([DONE], SHOP, since=NOW),
    "spent-today": lambda tx: tx.figures.spent(BudgetScope.DAY, "2026-01-02"),
    "spent-by-project": lambda tx: tx.figures.spent(BudgetScope.PROJECT, SHOP),
    "permissions": lambda tx: tx.prompts.permissions(SHOP),
}
SPANS = ("started_at>", "updated_at>", "responded_at>", "type=?", "task_id=?", "project_id=?")
TABLES = ("am_task", "am_run", "am_prompt", "am_pull", "am_history")


@pytest.mark.parametrize("asked", LATELY)
async def test_what_was_long_ago_is_not_gone_through(store: Database, asked: str) -> None:
    """Of the rows that grow with time, those of the span, the project or the task are looked up."""
    await store.write(furnish)
    plan = await planned(store, LATELY[asked])
    growing = [s for s in plan if any(f" {table} " in f"{s} " for table in TABLES)]
    assert growing
    assert [s for s in growing if "SCAN" in s or not any(x in s for x in (*SPANS, "(id=?)"))] == []


async def test_old_effects_are_found_page_by_page(store: Database) -> None:
    await store.write(furnish)
    [step] = await planned(store, lambda tx: tx.retention.with_effects(NOW, after="a", limit=9))
    assert "(task_id>?)" in step


NEWEST: dict[str, Callable[[Tx], object]] = {
    "all": lambda tx: tx.board.tasks([DONE], None, most=9),
    "project": lambda tx: tx.board.tasks([DONE], SHOP, most=9),
}


@pytest.mark.parametrize("asked", NEWEST)
async def test_the_newest_of_all_that_is_finished_are_not_sorted_out(
    store: Database, asked: str
) -> None:
    await store.write(furnish)
    [step] = await planned(store, NEWEST[asked])
    assert "INDEX ix_am_task_" in step
    assert "updated_at" in step


@pytest.mark.parametrize("project", [None, SHOP])
async def test_tasks_are_counted_without_their_rows(
    store: Database, project: ProjectId | None
) -> None:
    await store.write(furnish)
    plan = await planned(store, lambda tx: (tx.board.counts(project), tx.standing.tasks()))
    of_tasks = [step for step in plan if "am_task" in step]
    assert of_tasks
    assert [step for step in of_tasks if "COVERING INDEX" not in step] == []


FIGURES: dict[str, Callable[[Tx], object]] = {
    **{
        by.value: lambda tx, by=by: tx.figures.cost(by, project=None, since=None, limit=9)
        for by in By
    },
    "stats": lambda tx: tx.figures.stats(project=SHOP, since=NOW),
}


@pytest.mark.parametrize("asked", FIGURES)
async def test_sums_over_runs_leave_their_long_rows_alone(store: Database, asked: str) -> None:
    await store.write(furnish)
    plan = await planned(store, FIGURES[asked])
    of_runs = [step for step in plan if "am_run" in step]
    assert of_runs
    assert [s for s in of_runs if "COVERING INDEX ix_am_run_" not in s] == []
    of_history = [step for step in plan if "am_history" in step]
    assert [s for s in of_history if "COVERING INDEX ix_am_history_reviews" not in s] == []
