"""Real damage, and the repairs of the supervisor: each through the ordinary functions, each with an
event, none for ever."""

import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from agents_manager.domain.run import Limits, Run, RunStatus
from agents_manager.domain.task import Task
from agents_manager.flow import admission, repairs, supervisor, tasks, watchdog
from agents_manager.flow.runs.places import job_dir
from agents_manager.flow.watchdog import Seen, Watchdog
from tests import repos
from tests.worlds import ANN, GREETING, World

HANG: Mapping[str, Any] = {"implement": [[{"say": "Up."}, {"hang": True}], *GREETING["implement"]]}
SOON = {"tries": 1, "delay": 20}
ASKS: Mapping[str, Any] = {
    "implement": [
        [{"ask": {"question": "Why?", "options": ["a", "b"]}}],
        *GREETING["implement"],
    ]
}


def lose(world: World, table: str, id: str) -> None:
    """As a backup that was restored may have lost it."""
    with world.program.database.engines.writer.begin() as connection:
        connection.execute(text(f"DELETE FROM {table} WHERE id = :id"), {"id": id})


async def at_work(world: World, task: Task) -> Run:
    """The run of an agent that is up."""

    def up(run: Run | None) -> bool:
        output = job_dir(world.s, run.id, 1) / "output" if run else None
        return output is not None and output.exists() and output.stat().st_size > 0

    view = await world.wait(task, lambda v: up(v.run), "at work")
    assert view.run is not None
    return view.run


def runner_pid(world: World, run: Run) -> int:
    return int(json.loads((job_dir(world.s, run.id, 1) / "runner.json").read_text())["pid"])


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


async def repaired(world: World, task: Task) -> list[str]:
    found = [e for e in await world.events(task) if e.type == "task.repaired"]
    assert all(e.actor.type == "supervisor" for e in found)
    return [e.summary for e in found]


async def test_a_run_whose_process_was_killed_is_tried_again(world: World) -> None:
    world.configure({"retries": {"interrupted": SOON}})
    task = await world.start(HANG, pipeline="simple")
    run = await at_work(world, task)
    os.kill(runner_pid(world, run), signal.SIGKILL)
    view = await world.until(task, "review")
    error = view.runs[0].error
    assert error is not None
    assert error.error_class == "interrupted"


async def test_a_run_that_nothing_performs_any_more_is_interrupted(world: World) -> None:
    world.configure({"retries": {"interrupted": SOON}})
    task = await world.start(HANG, pipeline="simple")
    run = await at_work(world, task)
    pid = runner_pid(world, run)
    assert await repairs.runs(world.s) == []
    lose(world, "am_effect", run.effect_id)
    assert await repairs.runs(world.s) == [run.id]
    assert not lives(pid)
    assert await repairs.runs(world.s) == []
    view = await world.until(task, "review")
    assert [r.status for r in view.runs] == [RunStatus.FAILED, RunStatus.COMPLETED]
    told = "The engine had lost track of this run. It ends as interrupted."
    assert await repaired(world, task) == [told]


async def test_a_retry_whose_timer_was_lost_is_queued_again_once(world: World) -> None:
    world.configure({"retries": {"crash": {"tries": 1, "delay": 3_600_000}}})
    task = await world.start({"implement": [[{"crash": 3}], *HANG["implement"]]}, pipeline="simple")
    view = await world.wait(task, lambda v: v.next_mover.kind == "timer", "waiting")
    assert view.run is not None
    lose(world, "am_effect", view.run.effect_id)
    assert await repairs.runs(world.s) == [view.run.id]
    run = await at_work(world, task)
    assert run.id == view.run.id
    assert (await repaired(world, task))[0].endswith("It is queued again.")
    lose(world, "am_effect", run.effect_id)
    assert await repairs.runs(world.s) == [run.id]
    await world.until(task, "needs_decision")
    assert await repairs.runs(world.s) == []


async def test_an_active_status_without_a_run_gets_one_once(world: World) -> None:
    task = await world.start(HANG, pipeline="simple")
    run = await at_work(world, task)
    pid = runner_pid(world, run)
    lose(world, "am_run", run.id)
    assert await repairs.processes(world.s) == [run.id]
    assert not lives(pid)
    await world.settled(task)
    assert (await world.view(task)).next_mover.kind == "nobody"
    assert await supervisor.look(world.s) == [task.id]
    assert (await repaired(world, task))[-1].endswith("The agent was started again.")
    again = await at_work(world, task)
    assert again.mode == "implement"
    lose(world, "am_run", again.id)
    await repairs.processes(world.s)
    await world.settled(task)
    await supervisor.look(world.s)
    view = await world.view(task)
    assert (view.next_mover.kind, view.run) == ("choice", None)
    assert await supervisor.look(world.s) == []


async def test_an_agent_whose_run_is_over_is_ended(world: World) -> None:
    task = await world.start(HANG, pipeline="simple")
    run = await at_work(world, task)
    pid = runner_pid(world, run)
    assert await repairs.processes(world.s) == []
    await world.s.store.write(lambda tx: tx.runs.update(run.id, status=RunStatus.FAILED))
    assert await repairs.processes(world.s) == [run.id]
    assert not lives(pid)
    assert "It was ended." in (await repaired(world, task))[0]


@pytest.mark.parametrize("script", [ASKS, GREETING], ids=["question", "review"])
async def test_a_wait_without_a_question_is_asked_again(
    world: World, script: Mapping[str, Any]
) -> None:
    task = await world.start(script, pipeline="simple")
    view = await world.wait(task, lambda v: bool(v.prompts) and v.run is None, "asked")
    await world.settled(task)
    [before] = view.prompts
    lose(world, "am_prompt", before.id)
    assert await supervisor.look(world.s) == [task.id]
    assert await supervisor.look(world.s) == []
    [after] = (await world.view(task)).prompts
    assert (after.type, after.payload) == (before.type, before.payload)
    assert after.note == "This question had been lost."
    if after.type == "review":
        await world.review(task, "approved")
        await world.until(task, "done")
    else:
        await world.answer(after, {"answers": [{"question_id": "q1", "text": "So."}]})
        await world.until(task, "review")


async def test_what_is_lost_again_and_again_is_an_alarm(world: World) -> None:
    task = await world.start(ASKS, pipeline="simple")
    await world.until(task, "needs_info")
    await world.settled(task)
    for _ in range(repairs.MOST):
        lose(world, "am_prompt", (await world.view(task)).prompts[0].id)
        assert await supervisor.look(world.s) == [task.id]
    lose(world, "am_prompt", (await world.view(task)).prompts[0].id)
    await supervisor.look(world.s)
    assert (await world.view(task)).next_mover.kind == "nobody"
    types = await world.types(task)
    assert (types.count("task.repaired"), types.count("task.stranded")) == (repairs.MOST, 1)


@pytest.mark.slow
async def test_a_runner_that_hangs_is_ended_with_its_agent(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It keeps the limits itself, unless it is stopped itself."""
    monkeypatch.setattr(watchdog, "GRACE_S", 0.0)
    limits = {"scripted": {"silenceTimeout": 1_000}}
    world.configure({"agents": limits, "retries": {"stalled": SOON}})
    task = await world.start(HANG, pipeline="simple")
    run = await at_work(world, task)
    pid = runner_pid(world, run)
    os.kill(pid, signal.SIGSTOP)
    watch = Watchdog()
    assert await watch.look(world.s, 0.0) == []
    assert await watch.look(world.s, 0.9) == []
    assert [r.id for r in await watch.look(world.s, 1.1)] == [run.id]
    assert not lives(pid)
    view = await world.until(task, "review")
    error = view.runs[0].error
    assert error is not None
    assert error.error_class == "stalled"
    assert await repaired(world, task) == ["Its runner did not keep its limits. It was ended."]


def test_only_what_is_long_over_a_limit_is_ended() -> None:
    limits = Limits(timeout_s=100, silence_s=10)
    grace = watchdog.GRACE_S
    assert watchdog.overdue(Seen(0, 5, 90), limits, 100 + grace) is None
    assert watchdog.overdue(Seen(0, 5, 160), limits, 101 + grace) == "timeout"
    assert watchdog.overdue(Seen(0, 5, 0), limits, 11 + grace) == "stalled"
    assert watchdog.overdue(Seen(0, 5, 0), Limits(timeout_s=100), 11 + grace) is None


async def test_below_a_threshold_no_agent_starts_and_those_at_work_go_on(world: World) -> None:
    config = world.program.settings.home / "config.json"
    first = await world.start(HANG, pipeline="simple")
    run = await at_work(world, first)
    before = config.read_text()
    config.write_text(json.dumps({**json.loads(before), "limits": {"freeDiskMb": 10**9}}))
    task = await world.start(GREETING, pipeline="simple", title="Second")
    assert await supervisor.disk(world.s) == [task.id]
    assert await supervisor.disk(world.s) == []
    [low] = [e for e in await world.events(task) if e.type == "disk.low"]
    assert "below 1000000000 MB (limits.freeDiskMb) no agent is started." in low.summary
    view = await world.wait(task, lambda v: "waits" in v.next_mover.text, "held")
    assert view.run is not None
    assert view.run.status is RunStatus.QUEUED
    assert f"The run (implement) waits. {admission.NO_ROOM}" in view.why
    assert lives(runner_pid(world, run))
    config.write_text(before)
    await world.until(task, "review")
    assert await supervisor.disk(world.s) == []
    await tasks.stop_run(world.s, run.id, ANN)
    await world.wait(first, lambda v: v.run is None, "stopped")


async def test_a_worktree_of_nobody_goes_only_if_nothing_is_lost_by_it(world: World) -> None:
    three = [await world.start(GREETING, pipeline="simple", title=name) for name in ("A", "B", "C")]
    paths: list[Path] = []
    for task in three:
        view = await world.until(task, "review")
        await world.settled(task)
        paths.append(Path(str(view.runs[0].workspace)))
    clean, dirty, owned = paths
    (dirty / "draft.txt").write_text("not saved anywhere\n")
    assert await supervisor.worktrees(world.s) == []
    for task in three[:2]:
        await world.s.store.write(lambda tx, t=task: tx.tasks.delete(t.id))
    assert await supervisor.worktrees(world.s) == [three[0].id]
    assert not clean.exists()
    assert (dirty / "draft.txt").read_text() == "not saved anywhere\n"
    assert owned.exists()
    assert len(repos.refs(world.repo, "refs/heads/agent")) == 3
    assert await supervisor.worktrees(world.s) == []
    told = [e.data for e in await world.events(three[2]) if e.type == "workspace.orphaned"]
    assert {t["path"]: t["removed"] for t in told} == {str(clean): True, str(dirty): False}
    assert len(told) == 2, "each is told once"
    await world.settled(three[2])
