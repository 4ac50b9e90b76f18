"""What a transaction keeps of its reads, and what it must not keep; the same on both databases."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

from agents_manager.domain import pipeline as pipelines
from agents_manager.domain.event import Noted
from agents_manager.domain.ids import EffectId, PromptId, RunId, TaskId
from agents_manager.domain.prompt import PromptStatus
from agents_manager.domain.run import RunStatus
from agents_manager.errors import StoreError, TaskNotFound
from agents_manager.flow.ports import Tx
from agents_manager.store.database import Database, open_database
from tests.contract.store_values import (
    ADA,
    NOW,
    PIPELINE,
    a_history,
    a_prompt,
    a_pull,
    a_run,
    a_task,
    an_artifact,
    an_effect,
    furnish,
)
from tests.postgres import fresh_database

TASK = TaskId("task-1")
Do = Callable[[Any], Any]


@pytest.mark.parametrize(
    ("read", "write"),
    [
        (lambda tx: tx.tasks.get(TASK), lambda tx: tx.tasks.move(a_task(), "doing", NOW)),
        (lambda tx: tx.tasks.get(TASK), lambda tx: tx.tasks.update(TASK, NOW, plan="x")),
        (
            lambda tx: tx.tasks.depending_on(TASK),
            lambda tx: tx.tasks.update(TaskId("task-2"), NOW, dependencies=(TASK,)),
        ),
        (lambda tx: tx.tasks.artifacts(TASK), lambda tx: tx.tasks.add_artifact(an_artifact())),
        (lambda tx: tx.history.of_task(TASK), lambda tx: tx.history.add(a_history())),
        (
            lambda tx: tx.runs.live(TASK),
            lambda tx: tx.runs.update(RunId("run-1"), status=RunStatus.COMPLETED),
        ),
        (
            lambda tx: tx.prompts.pending(TASK),
            lambda tx: tx.prompts.close(PromptId("prompt-1"), status=PromptStatus.CANCELLED),
        ),
        (
            lambda tx: tx.effects.open(TASK),
            lambda tx: tx.effects.update(EffectId("effect-1"), status="done"),
        ),
        (lambda tx: tx.pulls.of_task(TASK), lambda tx: tx.pulls.add(a_pull())),
        (lambda tx: tx.events.last_id(), lambda tx: tx.events.add(TASK, Noted(text="x"), ADA, NOW)),
    ],
)
async def test_what_was_written_is_read_anew(any_store: Database, read: Do, write: Do) -> None:
    def both(tx: Tx) -> None:
        furnish(tx, "task-1", "task-2")
        tx.runs.add(a_run())
        tx.prompts.add(a_prompt())
        tx.effects.add(an_effect())
        before = read(tx)
        assert read(tx) == before
        write(tx)
        assert read(tx) != before

    await any_store.write(both)


async def test_a_caller_may_change_the_list_it_got(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx)
        tx.runs.add(a_run())
        tx.runs.of_task(TASK).clear()
        assert len(tx.runs.of_task(TASK)) == 1

    await any_store.write(write)


async def test_a_version_that_was_taken_back_is_forgotten(any_store: Database) -> None:
    lost, kept = ({**PIPELINE, "name": name} for name in ("Lost", "Kept"))

    def save(tx: Tx, document: dict[str, Any]) -> str:
        tx.pipelines.save(pipelines.parse(document), document, NOW)
        return tx.pipelines.get("simple", 1).name

    def fail(tx: Tx) -> None:
        assert save(tx, lost) == "Lost"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await any_store.write(fail)
    assert await any_store.write(lambda tx: save(tx, kept)) == "Kept"
    for _ in range(2):
        assert (await any_store.read(lambda tx: tx.pipelines.get("simple", 1))).name == "Kept"


async def test_json_of_every_shape(any_store: Database) -> None:
    deep: Any = "NaN, Infinity"
    for _ in range(300):
        deep = [deep]
    data = {"deep": deep, "large": 2**70, "small": 1e-9, "text": "ünï \U0001f600"}

    def write(tx: Tx) -> None:
        furnish(tx)
        tx.tasks.add_artifact(an_artifact(data=data))

    await any_store.write(write)
    [found] = await any_store.read(lambda tx: tx.tasks.artifacts(TASK))
    assert found.data == data
    with pytest.raises(ValueError, match="JSON"):
        await any_store.write(
            lambda tx: tx.tasks.add_artifact(an_artifact(data={"nan": float("nan")}))
        )


async def test_an_event_needs_its_task(any_store: Database) -> None:
    with pytest.raises(TaskNotFound, match="nowhere"):
        await any_store.write(
            lambda tx: tx.events.add(TaskId("nowhere"), Noted(text="x"), ADA, NOW)
        )


async def test_a_connection_that_dies_in_a_transaction(postgres_url: str) -> None:
    address = fresh_database(postgres_url)
    store, other = open_database(address), open_database(address)
    await store.write(furnish)
    kill = text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )

    def write(tx: Tx) -> None:
        tx.tasks.update(TASK, NOW, plan="lost")
        with other.engines.reader.begin() as connection:
            connection.execute(kill)
        tx.tasks.get(TASK)

    with pytest.raises(StoreError, match="cannot be reached"):
        await store.write(write)
    assert (await store.read(lambda tx: tx.tasks.get(TASK))).plan is None
    await store.write(lambda tx: tx.tasks.update(TASK, NOW, plan="kept"))
    assert (await store.read(lambda tx: tx.tasks.get(TASK))).plan == "kept"
    store.close()
    other.close()
