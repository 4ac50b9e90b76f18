"""How much there is of everything, on both databases."""

from datetime import datetime

from agents_manager.domain.prompt import PromptStatus
from agents_manager.domain.run import RunStatus
from agents_manager.flow.ports import Standing, Tx
from agents_manager.store.database import Database
from tests.contract.store_values import NOW, a_prompt, a_run, an_effect, furnish, later


def everything(standing: Standing, at: datetime) -> tuple[object, ...]:
    since = (standing.due_since(at), standing.asked_since())
    counted = (standing.tasks(), standing.runs(), standing.cost(), standing.effects())
    return (*counted, standing.prompts(), standing.deliveries(), *since)


async def test_nothing_is_counted_as_nothing(any_store: Database) -> None:
    found = await any_store.read(lambda tx: everything(tx.standing, NOW))
    assert found == ({}, {}, (0, 0, 0.0), {}, {}, {}, None, None)


async def test_everything_is_counted_once(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx, "task-1", "task-2")
        for status in ("pending", "started", "failed", "done"):
            tx.effects.add(an_effect(status, status=status, kind="notify", due_at=later(5)))
        tx.effects.add(an_effect("first", kind="merge_pr", due_at=later(1)))
        ended = {"status": RunStatus.COMPLETED, "started_at": NOW, "ended_at": later(1)}
        tx.runs.add(a_run("known", **{**ended, "cost_usd": 1.5}))
        tx.runs.add(a_run("unknown", **{**ended, "cost_usd": None}))
        tx.prompts.add(a_prompt("old", status=PromptStatus.CANCELLED))
        tx.prompts.add(a_prompt("open", task="task-2", created_at=later(2)))

    await any_store.write(write)
    tasks, runs, cost, effects, prompts, _, due, asked = await any_store.read(
        lambda tx: everything(tx.standing, later(9))
    )
    assert tasks == {("simple", 1, "open"): 2}
    assert runs == {("completed",): 2}
    assert cost == (2, 1, 1.5)
    undone = {("notify", status): 1 for status in ("pending", "started", "failed")}
    assert effects == {**undone, ("merge_pr", "pending"): 1}
    assert prompts == {("info_request",): 1}
    assert (due, asked) == (later(1), later(2))
    assert await any_store.read(lambda tx: tx.standing.due_since(NOW)) is None
