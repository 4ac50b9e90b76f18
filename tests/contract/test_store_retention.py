"""Old rows, found and removed in small parts, the same on both databases."""

from agents_manager.domain.ids import EffectId, RunId, TaskId
from agents_manager.domain.run import RunStatus
from agents_manager.flow.ports import Tx
from agents_manager.store.database import Database
from tests.contract.store_values import NOW, a_run, an_effect, furnish, later

TASK = TaskId("task-1")


async def test_of_some_tasks_the_old_ones_are_found(any_store: Database) -> None:
    await any_store.write(lambda tx: furnish(tx, "task-1", "task-2", "task-3"))
    some = [TaskId("task-3"), TaskId("task-1"), TaskId("gone")]
    found = await any_store.read(lambda tx: tx.retention.tasks(some, later(60)))
    assert [task.id for task in found] == ["task-1", "task-3"]
    assert await any_store.read(lambda tx: tx.retention.tasks(some, NOW)) == []


async def test_tasks_of_runs_and_with_old_effects_are_found(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx, "task-1", "task-2", "task-3")
        tx.runs.add(a_run("run-1", "task-2"))
        for number, status in enumerate(("done", "cancelled", "failed"), 1):
            tx.effects.add(an_effect(status, f"task-{number}", status=status))

    await any_store.write(write)
    assert await any_store.read(lambda tx: tx.retention.of_runs(["run-1", "no"])) == ["task-2"]

    def pages(tx: Tx) -> list[list[str]]:
        first = tx.retention.with_effects(later(60), after="", limit=1)
        return [list(first), list(tx.retention.with_effects(later(60), after=first[0], limit=9))]

    assert await any_store.read(pages) == [["task-1"], ["task-2"]]
    assert await any_store.read(lambda tx: tx.retention.with_effects(NOW, after="", limit=9)) == []


async def test_transcripts_are_marked_once_and_never_of_live_runs(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx)
        ended = {"status": RunStatus.COMPLETED, "started_at": NOW, "ended_at": NOW}
        tx.runs.add(a_run("run-1", **ended))
        tx.runs.add(a_run("run-2", status=RunStatus.RUNNING, started_at=NOW))

    await any_store.write(write)
    assert await any_store.read(lambda tx: tx.retention.runs(TASK)) == ["run-1"]
    both = [RunId("run-1"), RunId("run-2")]
    assert await any_store.write(lambda tx: tx.retention.mark(both, later(1))) == 1
    assert await any_store.write(lambda tx: tx.retention.mark(both, later(2))) == 0
    run = await any_store.read(lambda tx: tx.runs.get(RunId("run-1")))
    assert run.transcript_removed_at == later(1)


async def test_only_settled_effects_are_dropped(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx)
        for status in ("done", "cancelled", "failed", "pending", "started"):
            tx.effects.add(an_effect(status, status=status))

    await any_store.write(write)
    assert await any_store.read(lambda tx: tx.retention.effects(TASK, NOW)) == 0
    assert await any_store.read(lambda tx: tx.retention.effects(TASK, later(60))) == 2
    assert await any_store.write(lambda tx: tx.retention.drop_effects(TASK, later(60))) == 2
    kept = await any_store.read(
        lambda tx: [tx.effects.get(EffectId(name)) for name in ("failed", "pending", "started")]
    )
    assert len(kept) == 3


async def test_replies_go_in_parts(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        for number in range(5):
            tx.access.keep_reply(f"key-{number}", "r", 200, "{}", later(number))

    await any_store.write(write)
    assert await any_store.read(lambda tx: tx.retention.replies(later(4))) == 4
    gone = [await any_store.write(lambda tx: tx.retention.drop_replies(later(4), 3)) for _ in "ab"]
    assert gone == [3, 1]
    assert await any_store.read(lambda tx: tx.access.reply("key-4")) is not None
