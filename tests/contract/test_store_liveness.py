"""Deleting tasks, and finding those at which nothing goes on, the same on both databases."""

from typing import Any

import pytest
from sqlalchemy import func, select

from agents_manager.domain.event import Noted
from agents_manager.domain.ids import TaskId
from agents_manager.domain.prompt import PromptStatus
from agents_manager.domain.run import RunStatus
from agents_manager.errors import TaskNotFound
from agents_manager.flow.ports import Tx
from agents_manager.store import schema
from agents_manager.store.database import Database
from tests.contract.store_values import (
    ADA,
    NOW,
    a_history,
    a_prompt,
    a_pull,
    a_run,
    a_task,
    an_artifact,
    an_effect,
    furnish,
    later,
)

TASK = TaskId("task-1")


async def test_a_deleted_task_leaves_nothing_and_no_other_is_touched(any_store: Database) -> None:
    def belongings(tx: Tx, n: int) -> None:
        task = f"task-{n}"
        tx.tasks.add_artifact(an_artifact(f"artifact-{n}", task))
        tx.history.add(a_history(f"history-{n}", task))
        tx.effects.add(an_effect(f"effect-{n}", task))
        tx.runs.add(a_run(f"run-{n}", task))
        tx.prompts.add(a_prompt(f"prompt-{n}", task))
        tx.pulls.add(a_pull(f"pull-{n}", task, number=n, head_branch=task))
        tx.events.add(TaskId(task), Noted(text="Hello"), ADA, NOW)
        tx.tasks.update(TaskId(task), NOW, dependencies=("task-3",))

    def write(tx: Tx) -> None:
        furnish(tx, "task-1", "task-2", "task-3")
        belongings(tx, 1)
        belongings(tx, 2)

    def counts() -> dict[str, int]:
        with any_store.engines.reader.begin() as connection:
            return {
                table.name: connection.execute(
                    select(func.count()).select_from(table).where(table.c.task_id == TASK)
                ).scalar_one()
                for table in schema.metadata.sorted_tables
                if "task_id" in table.c
            }

    await any_store.write(write)
    assert set(counts().values()) <= {0, 1}
    await any_store.write(lambda tx: tx.tasks.delete(TASK))
    assert set(counts().values()) == {0}
    with pytest.raises(TaskNotFound, match="task-1"):
        await any_store.write(lambda tx: tx.tasks.delete(TASK))
    other = TaskId("task-2")
    assert (await any_store.read(lambda tx: tx.tasks.get(other))).dependencies == ("task-3",)
    assert await any_store.read(lambda tx: len(tx.tasks.artifacts(other))) == 1
    assert await any_store.read(lambda tx: len(tx.events.of_task(other, after_seq=0, limit=9))) == 1
    left = await any_store.read(lambda tx: tx.tasks.depending_on(TaskId("task-3")))
    assert [task.id for task in left] == [other]


async def test_the_id_of_a_deleted_event_is_not_given_again(any_store: Database) -> None:
    await any_store.write(lambda tx: furnish(tx, "task-1", "task-2"))

    def note(tx: Tx, task: str) -> int:
        return tx.events.add(TaskId(task), Noted(text="Hello"), ADA, NOW).id

    first = await any_store.write(lambda tx: note(tx, "task-1"))
    await any_store.write(lambda tx: tx.tasks.delete(TASK))
    assert await any_store.write(lambda tx: note(tx, "task-2")) > first


async def test_failed_effects_of_a_task_in_their_order(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx, "task-1", "task-2")
        tx.effects.add(an_effect("z", status="failed", error="No."))
        tx.effects.add(an_effect("a", status="failed"))
        tx.effects.add(an_effect("b", status="done"))
        tx.effects.add(an_effect("c", "task-2", status="failed"))

    await any_store.write(write)
    failed = await any_store.read(lambda tx: tx.effects.failed(TASK))
    assert [(e.id, e.error) for e in failed] == [("z", "No."), ("a", None)]


BUSY: dict[str, Any] = {
    "a live run": lambda tx: tx.runs.add(a_run()),
    "a question": lambda tx: tx.prompts.add(a_prompt()),
    "a question that does not expire yet": lambda tx: tx.prompts.add(a_prompt(expires_at=later(1))),
    "a pending effect": lambda tx: tx.effects.add(an_effect()),
    "a delayed effect": lambda tx: tx.effects.add(an_effect(due_at=later(99))),
    "a started effect": lambda tx: tx.effects.add(an_effect(status="started")),
    "an alarm for this version": lambda tx: tx.effects.add(
        an_effect("task-1-told-3", kind="notify", status="done")
    ),
    "another status": lambda tx: tx.tasks.update(TASK, NOW, status="open"),
}
IDLE: dict[str, Any] = {
    "nothing": lambda tx: None,
    "a run that is over": lambda tx: tx.runs.add(a_run(status=RunStatus.FAILED)),
    "an answered question": lambda tx: tx.prompts.add(a_prompt(status=PromptStatus.RESPONDED)),
    "a question that expired": lambda tx: tx.prompts.add(a_prompt(expires_at=later(-1))),
    "a failed effect": lambda tx: tx.effects.add(an_effect(status="failed")),
    "a notice": lambda tx: tx.effects.add(an_effect(kind="notify")),
    "an alarm for another version": lambda tx: tx.effects.add(
        an_effect("task-1-told-2", kind="notify", status="done")
    ),
}


@pytest.mark.parametrize(
    ("prepare", "found"),
    [(p, []) for p in BUSY.values()] + [(p, ["task-1"]) for p in IDLE.values()],
    ids=[*BUSY, *IDLE],
)
async def test_a_task_is_idle_when_nothing_goes_on(
    any_store: Database, prepare: Any, found: list[str]
) -> None:
    def write(tx: Tx) -> None:
        furnish(tx, "other")
        tx.tasks.add(a_task(status="doing", version=3))
        prepare(tx)

    await any_store.write(write)
    idle = await any_store.read(
        lambda tx: tx.tasks.idle({"doing", "done"}, NOW, told="-told-", after=None, limit=9)
    )
    assert [task.id for task in idle] == found


async def test_idle_tasks_are_paged_by_id(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx)
        for id in ("c", "a", "b"):
            tx.tasks.add(a_task(id, status="doing"))

    await any_store.write(write)

    async def page(after: str | None) -> str:
        found = await any_store.read(
            lambda tx: tx.tasks.idle(["doing"], NOW, told="-", after=after, limit=2)
        )
        return "".join(task.id for task in found)

    assert [await page(None), await page("b"), await page("c")] == ["ab", "c", ""]
    nowhere = await any_store.read(lambda tx: tx.tasks.idle([], NOW, told="-", after=None, limit=2))
    assert nowhere == []
