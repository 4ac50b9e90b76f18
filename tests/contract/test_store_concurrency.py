"""Several writers on one database. Each `Database` has its own threads and connections, as another
process would; two tests use real processes."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator

import pytest

from agents_manager.domain.event import Noted
from agents_manager.domain.ids import ProjectId, PromptId, TaskId
from agents_manager.domain.prompt import PromptStatus
from agents_manager.domain.task import Task
from agents_manager.errors import StaleTask
from agents_manager.flow.ports import Tx
from agents_manager.store.database import Database, open_database
from tests.contract.store_values import ADA, NOW, a_prompt, a_pull, a_task, furnish

TASK = TaskId("task-1")

MOVER = """
import asyncio, sys
from datetime import UTC, datetime
from agents_manager.domain.event import Noted
from agents_manager.domain.task import SYSTEM
from agents_manager.store.database import open_database

def move(tx):
    now = datetime.now(UTC)
    moved = tx.tasks.move(tx.tasks.get("task-1"), "doing", now)
    tx.events.add("task-1", Noted(text=str(moved.version)), SYSTEM, now)

async def main():
    store = open_database(sys.argv[1])
    for _ in range(int(sys.argv[2])):
        await store.write(move)
    store.close()

asyncio.run(main())
"""


@pytest.fixture
def writers(ready_address: str) -> Iterator[list[Database]]:
    databases = [open_database(ready_address) for _ in range(4)]
    yield databases
    for database in databases:
        database.close()


async def test_of_several_moves_from_one_version_one_wins(writers: list[Database]) -> None:
    await writers[0].write(furnish)
    task = a_task()

    async def move(store: Database, task: Task, to: str) -> str:
        try:
            return (await store.write(lambda tx: tx.tasks.move(task, to, NOW))).status
        except StaleTask:
            return "stale"

    for _ in range(5):
        async with asyncio.TaskGroup() as group:
            moves = [group.create_task(move(w, task, f"s{n}")) for n, w in enumerate(writers)]
        task = await writers[0].read(lambda tx: tx.tasks.get(TASK))
        assert sorted(m.result() for m in moves) == [task.status, "stale", "stale", "stale"]


async def test_of_several_answers_one_wins(writers: list[Database]) -> None:
    def write(tx: Tx) -> None:
        furnish(tx)
        tx.prompts.add(a_prompt())

    await writers[0].write(write)
    won: list[str] = []

    async def answer(store: Database, name: str) -> None:
        fields = {"status": PromptStatus.RESPONDED, "responded_by": name}
        if await store.write(lambda tx: tx.prompts.close(PromptId("prompt-1"), **fields)):
            won.append(name)

    async with asyncio.TaskGroup() as group:
        for store, name in zip(writers, ("ada", "bob", "cyd", "dan"), strict=True):
            group.create_task(answer(store, name))
    prompt = await writers[0].read(lambda tx: tx.prompts.get(PromptId("prompt-1")))
    assert won == [prompt.responded_by]


async def test_what_a_transaction_read_stays_true_until_it_commits(writers: list[Database]) -> None:
    await writers[0].write(lambda tx: furnish(tx, "task-0", "task-1", "task-2", "task-3"))

    def add(tx: Tx, task: int, n: int) -> None:
        number = tx.pulls.next_number(ProjectId("project-1"))
        head = f"{task}/{n}"
        tx.pulls.add(a_pull(head, task=f"task-{task}", number=number, head_branch=head))

    async def add_many(store: Database, task: int) -> None:
        for n in range(8):
            await store.write(lambda tx, n=n: add(tx, task, n))

    async with asyncio.TaskGroup() as group:
        for n, store in enumerate(writers):
            group.create_task(add_many(store, n))
    numbers = await writers[0].read(lambda tx: tx.pulls.next_number(ProjectId("project-1")))
    assert numbers == 33


async def test_a_reader_that_follows_the_log_misses_nothing(writers: list[Database]) -> None:
    await writers[0].write(lambda tx: furnish(tx, "task-1", "task-2"))
    seen: list[tuple[str, int]] = []
    total = 3 * 20

    def note(tx: Tx) -> None:
        # Both tasks in both orders: writers must neither leave gaps nor block each other for ever.
        for task in ("task-1", "task-2") if len(seen) % 2 else ("task-2", "task-1"):
            tx.events.add(TaskId(task), Noted(text="x"), ADA, NOW)

    async def write_many(store: Database) -> None:
        for _ in range(20):
            await store.write(note)

    async def follow(store: Database) -> None:
        last = 0
        while len(seen) < 2 * total:
            events = await store.read(
                lambda tx, last=last: tx.events.after(last, task=None, limit=7)
            )
            seen.extend((event.task_id, event.seq) for event in events)
            last = events[-1].id if events else last
            await asyncio.sleep(0.001)

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(follow(writers[3]))
        for store in writers[:3]:
            group.create_task(write_many(store))
    for task in ("task-1", "task-2"):
        assert [seq for of, seq in seen if of == task] == list(range(1, total + 1))


def test_two_processes_move_one_task(ready_address: str) -> None:
    store = open_database(ready_address)
    asyncio.run(store.write(furnish))
    command = [sys.executable, "-c", MOVER, ready_address, "40"]
    processes = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait(90) for process in processes] == [0, 0]
    events = asyncio.run(store.read(lambda tx: tx.events.after(0, task=TASK, limit=99)))
    store.close()
    assert [event.seq for event in events] == list(range(1, 81))
    assert [event.summary for event in events] == [str(version) for version in range(2, 82)]


@pytest.mark.slow
def test_several_processes_open_a_new_database_at_once(database_address: str) -> None:
    script = (
        "import sys; from agents_manager.store.database import open_database; "
        "open_database(sys.argv[1]).close()"
    )
    command = [sys.executable, "-c", script, database_address]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(90) for process in processes] == [0, 0, 0, 0]
