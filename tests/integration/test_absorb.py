"""What a run tells as it ends is kept with its end, and what blocks a task holds it up."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.ids import EffectId
from agents_manager.domain.knowledge import EdgeKind, NodeKind, NodeState, Use
from agents_manager.domain.run import RunStatus
from agents_manager.errors import Conflict, TransitionRefused
from agents_manager.flow import blockers, removal, tasks, views
from agents_manager.flow.memory.absorb import absorb
from agents_manager.flow.ports import Tx
from agents_manager.flow.runs import close
from agents_manager.flow.runs.verdict import Verdict
from agents_manager.store.database import Database
from tests.contract.store_values import NOW
from tests.tellers import TOLD, Scene, opened, verdict
from tests.worlds import ANN


@pytest.fixture
async def scene(tmp_path: Path, own_home: Path) -> AsyncIterator[Scene]:
    async with opened(tmp_path) as scene:
        yield scene


async def test_what_a_run_tells_is_kept_with_its_end(scene: Scene) -> None:
    first = await scene.task("First", tags=("Web",))
    run = await scene.end(first)
    kept = await scene.s.store.read(lambda tx: tx.knowledge.handoff(run.id))
    assert kept is not None
    assert (kept.source, kept.completeness, kept.handoff.outcome) == ("message", 0.5, "partial")
    by_kind = {node.kind: node for node in await scene.nodes()}
    assert by_kind.keys() == {"task", "pattern", "gotcha", "question"}
    pattern, gotcha = by_kind[NodeKind.PATTERN], by_kind[NodeKind.GOTCHA]
    [source] = pattern.sources
    assert (source.task_id, source.run_id, source.by) == (first.id, run.id, "scripted")
    assert (source.commit, source.file, source.lines) == ("c" * 40, "src/auth/jwt.ts", "10-20")
    assert (pattern.tags, gotcha.tags) == (("auth",), ("web",))
    memory = await scene.s.store.read(lambda tx: tx.knowledge.memory(scene.project.id, limit=9))
    assert [node.id for node in memory] == [gotcha.id]
    files = await scene.s.store.read(lambda tx: tx.knowledge.files(scene.project.id, limit=9))
    assert [(f.path, f.change, f.lines) for f in files] == [
        ("src/auth/jwt.ts", "create", "1-150"),
        ("src/db.ts", "add", "4-6"),
    ]
    assert [n.kind for n in await scene.nodes(files=("src/db.ts",))] == ["task"]
    task = by_kind[NodeKind.TASK]
    edges = await scene.s.store.read(lambda tx: tx.knowledge.edges([task.id]))
    assert {(e.source, e.kind) for e in edges} == {
        (by_kind[kind].id, EdgeKind.FOUND_BY) for kind in by_kind if kind is not NodeKind.TASK
    }
    assert "knowledge.learned" in await scene.types(first)


async def test_a_task_follows_those_it_depends_on(scene: Scene) -> None:
    first = await scene.task("First")
    second = await scene.task("Second", dependencies=(first.id,))
    await scene.end(second)
    await scene.end(first)
    later, earlier = [
        await scene.s.store.read(lambda tx, t=t: tx.knowledge.of_task(t.id))
        for t in (second, first)
    ]
    assert later is not None
    assert earlier is not None
    edges = await scene.s.store.read(lambda tx: tx.knowledge.edges([later.id]))
    assert [(e.source, e.target) for e in edges if e.kind is EdgeKind.FOLLOWS] == [
        (later.id, earlier.id)
    ]


async def test_what_is_found_again_has_both_sources(scene: Scene) -> None:
    first, second = await scene.task("First"), await scene.task("Second")
    await scene.end(first)
    again = {
        **TOLD["gotchas"][0],
        "issue": "The payment API takes 100 requests a minute",
        "severity": "low",
    }
    await scene.end(second, gotchas=[again], patterns_discovered=[], open_questions=[])
    [gotcha] = await scene.nodes(kinds=(NodeKind.GOTCHA,))
    assert gotcha.text == TOLD["gotchas"][0]["issue"]
    assert gotcha.severity == "high"
    assert [(s.task_id, s.words) for s in gotcha.sources] == [
        (first.id, ""),
        (second.id, again["issue"]),
    ]
    assert await scene.nodes(text="payment", kinds=(NodeKind.GOTCHA,)) == [gotcha]
    assert len(await scene.nodes(kinds=(NodeKind.TASK,))) == 2


async def test_a_retired_finding_stays_retired_when_it_is_told_again(scene: Scene) -> None:
    first, second = await scene.task("First"), await scene.task("Second")
    await scene.end(first)
    [gotcha] = await scene.nodes(kinds=(NodeKind.GOTCHA,))
    await scene.s.store.write(
        lambda tx: tx.knowledge.update(gotcha.id, NOW, state=NodeState.RETIRED)
    )
    await scene.end(second)
    assert await scene.nodes(kinds=(NodeKind.GOTCHA,)) == []
    retired = await scene.s.store.read(lambda tx: tx.knowledge.get(gotcha.id))
    assert len(retired.sources) == 2


async def test_a_run_is_absorbed_once(scene: Scene) -> None:
    task = await scene.task()
    run = await scene.end(task)
    before = await scene.nodes()
    await close.close(run.id, verdict(), scene.s)

    def again(tx: Tx) -> None:
        kept = tx.knowledge.handoff(run.id)
        assert kept is not None
        absorb(tx, scene.s, run, tx.tasks.get(run.task_id), kept, None)

    await scene.s.store.write(again)
    assert await scene.nodes() == before
    assert (await scene.types(task)).count("knowledge.learned") == 1


async def test_a_database_that_refuses_loses_nothing(scene: Scene) -> None:
    """What is told and the end of the run stand or fall together; then the effect is retried."""
    task = await scene.task()
    run = await scene.run(task)
    store = scene.s.store
    assert isinstance(store, Database)
    engine = store.engines.writer
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE TRIGGER full BEFORE INSERT ON am_file_note"
            " BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        )
    with pytest.raises(Exception, match="disk is full"):
        await close.close(run.id, verdict(), scene.s)
    alive = await scene.s.store.read(lambda tx: tx.runs.get(run.id))
    assert alive.status is RunStatus.RUNNING
    assert await scene.nodes() == []
    assert await scene.s.store.read(lambda tx: tx.knowledge.handoff(run.id)) is None
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER full")
    await close.close(run.id, verdict(), scene.s)
    ended = await scene.s.store.read(lambda tx: tx.runs.get(run.id))
    assert ended.status is RunStatus.COMPLETED
    assert len(await scene.nodes()) == 4


@pytest.mark.parametrize(("outcome", "helpful"), [("pr_ready", 1), ("needs_info", 0)])
async def test_what_was_told_to_a_run_that_got_on_has_helped(
    scene: Scene, outcome: str, helpful: int
) -> None:
    await scene.end(await scene.task("First"))
    [gotcha] = await scene.nodes(kinds=(NodeKind.GOTCHA,))
    task = await scene.task("Second")
    run = await scene.run(task)
    use = Use(run_id=run.id, node_id=gotcha.id, score=1.0, why=(), at=NOW)
    await scene.s.store.write(lambda tx: tx.knowledge.use([use]))
    payload = {"questions": [{"id": "q", "question": "?", "input_type": "text"}]}
    told = Verdict(outcome=outcome, payload=payload if outcome == "needs_info" else None)
    await close.close(run.id, told, scene.s)
    [gotcha] = await scene.nodes(kinds=(NodeKind.GOTCHA,))
    assert (gotcha.used, gotcha.helpful) == (1, helpful)


def blocking(*task_ids: str) -> dict[str, Any]:
    told = {"blocker": "No key", "impact": "Nothing works", "suggested_resolution": "Ask for one"}
    return {"blockers": [{**told, "blocking_tasks": list(task_ids)}]}


async def test_a_blocked_task_waits_until_somebody_resolves_it(scene: Scene) -> None:
    first, second = await scene.task("First"), await scene.task("Second")
    await scene.end(first, **blocking(second.id[:8], "no-such-task"))
    [blocker] = await scene.s.store.read(lambda tx: tx.knowledge.blockers(scene.project.id))
    assert blocker.blocking_tasks == (second.id,)
    with pytest.raises(TransitionRefused) as refused:
        await tasks.move(scene.s, second.id, ANN)
    said = str(refused.value.details or refused.value.message)
    assert '"No key"' in said
    assert '"First"' in said
    assert f"am knowledge resolve {blocker.id[:8]}" in said
    view = await scene.s.store.read(lambda tx: views.task(tx, scene.s, second.id, ANN))
    assert view.next_mover.kind == "dependency"
    assert "No key" in view.next_mover.text

    done = await scene.s.store.write(
        lambda tx: blockers.resolve(tx, scene.s, blocker.id, ANN, "Here it is")
    )
    assert (done.resolved_by, done.note) == ("ann", "Here it is")
    assert "blocker.resolved" in await scene.types(second)
    await tasks.move(scene.s, second.id, ANN)
    with pytest.raises(Conflict, match="before, by ann"):
        await scene.s.store.write(lambda tx: blockers.resolve(tx, scene.s, blocker.id, ANN))
    entries = await scene.s.store.read(
        lambda tx: tx.audit.page(since=None, who=None, what="blocker", before=None, limit=9)
    )
    assert [entry.who for entry in entries] == ["ann"]


async def test_a_run_that_is_tried_again_tells_its_blocker_once(scene: Scene) -> None:
    first, second = await scene.task("First"), await scene.task("Second")
    run = await scene.run(first)
    told = {**verdict(**blocking(second.id)), "error": "It broke", "error_class": "crash"}
    await close.close(run.id, Verdict(**told), scene.s)
    (retried,) = await scene.s.store.read(lambda tx: tx.runs.live(first.id))
    await close.close(retried.id, verdict(**blocking(second.id)), scene.s)
    assert len(await scene.s.store.read(lambda tx: tx.knowledge.blockers(scene.project.id))) == 1


async def test_a_blocker_goes_with_the_task_that_told_of_it(scene: Scene) -> None:
    first, second = await scene.task("First"), await scene.task("Second")
    await scene.end(first, **blocking(second.id))
    await scene.s.store.write(
        lambda tx: tx.effects.update(EffectId(f"{first.id}-1"), status="done")
    )
    await removal.delete(scene.s, first.id, ANN)
    assert await scene.s.store.read(lambda tx: tx.knowledge.blocking(second.id)) == []
    assert await scene.nodes() == []
    await tasks.move(scene.s, second.id, ANN)
