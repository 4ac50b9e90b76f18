"""Every task that is not finished has a next mover; where it has none, somebody is told."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain import pipeline
from agents_manager.domain.effects import Notify
from agents_manager.domain.ids import EffectId
from agents_manager.domain.names import visible_lines
from agents_manager.domain.pipeline import Policy
from agents_manager.domain.prompt import PromptStatus
from agents_manager.domain.run import RunStatus
from agents_manager.domain.task import Task
from agents_manager.errors import TransitionRefused
from agents_manager.flow import liveness, planning, supervisor, tasks, transitions
from agents_manager.flow.ports import Tx
from tests import repos, worlds
from tests.channel_players import MemoryChannel
from tests.channel_scene import notifications
from tests.repos import scripted_home
from tests.worlds import ANN, GREETING, NO_RETRIES, World

HANG = {"implement": [[{"hang": True}]]}
ASKS: Mapping[str, Any] = {"implement": [[{"ask": {"question": "Why?", "options": ["a", "b"]}}]]}

STRANDS: Mapping[str, Any] = {
    "id": "strands",
    "name": "Strands",
    "statuses": [
        {"id": "open", "category": "open"},
        {"id": "adrift", "category": "active"},
        {"id": "waits", "category": "active"},
        {"id": "done", "category": "final"},
        {"id": "cancelled", "category": "final"},
    ],
    "transitions": [
        {"id": "go", "from": "open", "to": "adrift", "trigger": "manual"},
        {"id": "wait", "from": "open", "to": "waits", "trigger": "manual"},
        {
            "id": "on",
            "from": "waits",
            "to": "done",
            "trigger": "manual",
            "guards": [{"type": "dependencies_resolved"}],
        },
        {"id": "never", "from": "adrift", "to": "done", "trigger": "agent_error"},
        {"id": "cancel", "from": "*", "to": "cancelled", "label": "Cancel", "trigger": "manual"},
    ],
}


async def save(world: World, document: Mapping[str, Any]) -> None:
    """Past every check, as an older version of the program may have done."""
    parsed, now = pipeline.parse(document), world.s.clock.now()
    await world.s.store.write(lambda tx: tx.pipelines.save(parsed, document, now))


async def adrift(world: World) -> Task:
    await save(world, STRANDS)
    task = await world.create({}, pipeline="strands")
    await tasks.move(world.s, task.id, ANN, to="adrift")
    return task


async def alarms(world: World, task: Task) -> list[str]:
    return [e.summary for e in await world.events(task) if e.type == "task.stranded"]


async def test_nobody_is_an_alarm_told_once_for_each_version(tmp_path: Path, repo: Path) -> None:
    channel = MemoryChannel(name="telegram")
    home = scripted_home(tmp_path / "home", notifications=notifications(), **NO_RETRIES)
    channels = {"telegram": lambda: channel}
    async with worlds.working(home, repo, channels=channels) as world:
        task = await adrift(world)
        view = await world.view(task)
        assert view.next_mover.kind == "nobody"
        assert "nobody was asked. By hand: Cancel." in view.next_mover.text
        assert await supervisor.look(world.s) == [task.id]
        assert await supervisor.look(world.s) == []
        await world.settled(task)
        [said] = await alarms(world, task)
        assert said.startswith("Nobody will move this task on from adrift.")
        async with asyncio.timeout(worlds.PATIENCE_S):
            while not channel.sent:
                await asyncio.sleep(0.02)
        [(_, _, card)] = channel.sent
        assert card.title == "Nobody will move: Add greeting"
        assert card.body == (visible_lines(view.next_mover.text),)
        [logged] = [e for e in await world.events(task) if e.type == "task.stranded"]
        assert (logged.level, logged.actor.type) == ("error", "supervisor")
        assert (await world.view(task)).next_mover == view.next_mover

        def stir(tx: Tx) -> None:
            now = world.s.clock.now()
            there = tx.tasks.move(tx.tasks.get(task.id), "open", now)
            tx.tasks.move(there, "adrift", now)

        await world.s.store.write(stir)
        assert await supervisor.look(world.s) == [task.id]
        assert len(await alarms(world, task)) == 2


async def test_a_starting_worker_looks_at_once(tmp_path: Path, repo: Path) -> None:
    async with worlds.working(tmp_path / "home", repo) as world:
        task = await adrift(world)
        assert await alarms(world, task) == []
    async with worlds.working(tmp_path / "home", repo) as world:
        async with asyncio.timeout(10):
            while not await alarms(world, task):
                await asyncio.sleep(0.05)
    assert supervisor.EVERY_S <= 30


async def test_told_twice_at_once_it_is_told_once(world: World) -> None:
    task = await adrift(world)
    for _ in range(2):
        await world.s.store.write(lambda tx: liveness.tell(tx, world.s, task.id))
    assert len(await alarms(world, task)) == 1
    await tasks.move(world.s, task.id, ANN, to="cancelled")
    await world.s.store.write(lambda tx: liveness.tell(tx, world.s, task.id))
    assert len(await alarms(world, task)) == 1


async def test_a_task_in_its_first_status_can_be_stranded(world: World) -> None:
    document = {**STRANDS, "id": "shut", "transitions": [STRANDS["transitions"][-1]]}
    await save(world, document)
    task = await world.create({}, pipeline="shut")
    assert await supervisor.look(world.s) == [task.id]
    assert len(await alarms(world, task)) == 1


async def test_a_question_past_its_time_is_closed_by_a_timer(world: World) -> None:
    task = await world.start(ASKS, pipeline="simple")
    view = await world.until(task, "needs_info")
    [prompt] = view.prompts
    assert (view.next_mover.kind, view.next_mover.id) == ("prompt", prompt.id)
    await world.settled(task)
    assert await supervisor.look(world.s) == []

    now = world.s.clock.now()

    def mover(tx: Tx) -> liveness.Mover:
        tx.prompts.update(prompt.id, expires_at=now)
        found = tx.tasks.get(task.id)
        return liveness.next_mover(tx, found, tx.pipelines.get(found.pipeline_id), now)

    late = await world.s.store.write(mover)
    assert (late.kind, late.id) == ("timer", prompt.id)
    view = await world.wait(task, lambda v: v.next_mover.kind == "choice", "a choice")
    assert view.prompts[0].payload["reason"] == "Nobody answered in time: Why?"
    assert await supervisor.look(world.s) == []


async def test_a_wait_without_a_question_is_an_alarm_though_moves_exist(world: World) -> None:
    task = await world.start({"implement": [[{"crash": 3}]]}, pipeline="simple")
    view = await world.until(task, "needs_decision")
    assert view.next_mover.kind == "choice"
    assert view.next_mover.text.startswith("An admin chooses: The agent failed:")
    await world.settled(task)
    await world.s.store.write(
        lambda tx: tx.prompts.close(view.prompts[0].id, status=PromptStatus.CANCELLED)
    )
    view = await world.view(task)
    assert view.next_mover.kind == "nobody"
    assert "It waits for a person, but nobody was asked." in view.next_mover.text
    assert await supervisor.look(world.s) == [task.id]


async def test_who_chose_to_leave_it_so_is_not_alarmed(world: World) -> None:
    """A choice with nothing else to choose offers to leave the task as it is."""
    task = await adrift(world)
    await world.s.store.write(
        lambda tx: transitions.report(
            tx, world.s, task.id, tasks.Fired(trigger=tasks.MANUAL, to="nowhere"), ANN
        )
    )
    assert (await world.view(task)).next_mover.kind == "choice"
    await world.choose(task, "stay")
    assert (await world.view(task)).next_mover.kind == "person"
    assert await supervisor.look(world.s) == []


async def test_a_run_moves_it_and_a_notice_does_not(world: World) -> None:
    task = await world.start(HANG, pipeline="simple")
    view = await world.wait(task, lambda v: v.run is not None and bool(v.run.started_at), "running")
    assert view.run is not None
    assert (view.next_mover.kind, view.next_mover.id) == ("run", view.run.id)
    assert view.next_mover.text == "scripted is working (implement)."
    lost = await adrift(world)

    def notice(tx: Tx) -> None:
        found, entry = tx.tasks.get(lost.id), tx.history.of_task(lost.id)[-1]
        words, name = Notify(title="Look"), EffectId("notice-1")
        planning.add(tx, world.s, found, words, name, entry.id, 7, Policy.BEST_EFFORT)
        tx.effects.update(name, due_at=world.s.clock.now() + timedelta(hours=1))

    await world.s.store.write(notice)
    assert (await world.view(lost)).next_mover.kind == "nobody"
    await tasks.move(world.s, task.id, ANN, to="cancelled")
    await world.until(task, "cancelled")


async def test_a_delayed_effect_is_a_timer(world: World) -> None:
    task = await world.create(GREETING, pipeline="simple")
    due = world.s.clock.now() + timedelta(hours=1)

    def write(tx: Tx) -> None:
        fired = tasks.Fired(trigger=tasks.MANUAL, to="in_progress")
        transitions.apply(tx, world.s, task.id, fired, ANN)
        [effect] = tx.effects.open(task.id)
        tx.effects.update(effect.id, due_at=due, attempt=2, error="The disk\nis full.")

    await world.s.store.write(write)
    view = await world.view(task)
    assert view.run is not None
    assert view.run.status is RunStatus.QUEUED
    at = f"{due:%Y-%m-%d %H:%M:%S} UTC"
    text = f"start_agent is due at {at} (attempt 2). The disk is full."
    assert (view.next_mover.kind, view.next_mover.text) == ("timer", text)
    assert f"start_agent was tried once and is tried again at {at}: The disk is full." in view.why
    assert await supervisor.look(world.s) == []


async def test_a_dependency_holds_up_only_what_asks_for_it(world: World) -> None:
    first = await world.create({}, pipeline="simple", title="First")
    await save(world, STRANDS)
    waits = await world.create({}, pipeline="strands", dependencies=[first.id])
    await tasks.move(world.s, waits.id, ANN, to="waits")
    mover = (await world.view(waits)).next_mover
    assert (mover.kind, mover.text) == ("dependency", 'It waits for "First" (Open, not started).')
    lost = await world.create({}, pipeline="strands", dependencies=[first.id])
    await tasks.move(world.s, lost.id, ANN, to="adrift")
    assert (await world.view(lost)).next_mover.kind == "nobody"
    await tasks.move(world.s, first.id, ANN, to="cancelled")
    assert (await world.view(waits)).next_mover.kind == "person"


async def test_why_tells_the_way_the_wait_and_the_trouble(world: World) -> None:
    first = await world.create({}, pipeline="simple", title="First")
    task = await world.create(GREETING, pipeline="simple", dependencies=[first.id])
    why = (await world.view(task)).why
    assert why.startswith('"Add greeting" is in Open (open) of pipeline simple 1. It was created')
    assert 'It waits for "First" (Open, not started).' in why
    with pytest.raises(TransitionRefused):
        await tasks.move(world.s, task.id, ANN, to="in_progress")
    why = (await world.view(task)).why
    assert 'was refused: It waits for "First".' in why
    assert "The last attempt (manual, ann, " in why
    await tasks.move(world.s, task.id, ANN, to="in_progress", force=True, reason="No time")
    await world.until(task, "review")
    why = (await world.view(task)).why
    assert "It came from in_progress with pr_ready, at " in why
    assert "A person answers: Review the work" in why
    assert "whoever has access may answer." in why
    assert "refused" not in why
    await world.review(task, "approved")
    view = await world.until(task, "done")
    assert view.why.endswith("The task is finished.")
    assert "\n" not in view.why


async def test_why_tells_of_a_failed_run_and_of_force(world: World) -> None:
    task = await world.start({"implement": [[{"crash": 3}], [{"hang": True}]]}, pipeline="simple")
    view = await world.until(task, "needs_decision")
    assert "It came from in_progress since the agent failed, at " in view.why
    assert f"Its last run, {view.runs[0].id} (implement), ended with crash: " in view.why
    await tasks.move(world.s, task.id, ANN, to="in_progress", reason="Once more")
    view = await world.wait(task, lambda v: v.run is not None and bool(v.run.started_at), "running")
    assert "It came from needs_decision by hand, at " in view.why
    assert "by ann (Once more)." in view.why
    assert "ended with crash" not in view.why
    await tasks.move(world.s, task.id, ANN, to="cancelled")
    await world.until(task, "cancelled")


@pytest.mark.worktree
async def test_why_tells_of_force_and_of_a_move_taken_back(world: World) -> None:
    first = await world.create({}, pipeline="simple", title="First")
    task = await world.create(GREETING, pipeline="simple", dependencies=[first.id])
    await save(world, STRANDS)
    stuck = await world.create({}, pipeline="strands", dependencies=[first.id])
    await tasks.move(world.s, stuck.id, ANN, to="waits")
    await tasks.move(world.s, stuck.id, ANN, to="done", force=True)
    assert "It came from waits by hand, past the guards, at " in (await world.view(stuck)).why
    await tasks.move(world.s, task.id, ANN, to="in_progress", force=True)
    view = await world.until(task, "review")
    await world.settled(task)
    repos.commit(Path(str(view.runs[0].workspace)), {"late.txt": "late\n"}, "Late")
    await world.review(task, "approved")
    view = await world.wait(task, lambda v: bool(v.prompts) and bool(v.prompts[0].note), "back")
    assert "It was taken back from merging at " in view.why
    assert "by engine: merge_pr failed: " in view.why


async def test_why_tells_of_a_migration_and_of_an_agent_started_again(world: World) -> None:
    task = await adrift(world)
    newer = {**STRANDS, "description": "Newer."}
    await save(world, newer)

    def carry(tx: Tx) -> None:
        found, version = tx.tasks.get(task.id), tx.pipelines.get("strands")
        transitions.carry(tx, world.s, found, version, "waits", {"adrift": "waits"}, ANN)

    await world.s.store.write(carry)
    why = (await world.view(task)).why
    assert "of pipeline strands 2. It was migrated to this version, from adrift, at " in why
    again = await world.start(
        {"implement": [[{"hang": True}], [{"hang": True}]]}, pipeline="simple"
    )
    view = await world.wait(
        again, lambda v: v.run is not None and bool(v.run.started_at), "running"
    )
    assert view.run is not None
    await tasks.stop_run(world.s, view.run.id, ANN)
    await world.choose(again, "rerun")
    assert "Its agent was started again at " in (await world.view(again)).why
    await world.wait(again, lambda v: v.run is not None and bool(v.run.started_at), "running")
    await tasks.move(world.s, again.id, ANN, to="cancelled")
    await world.until(again, "cancelled")
