"""Taking an answer back: all that followed from it is undone, or the undo is refused."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt, PromptStatus
from agents_manager.domain.run import RunStatus
from agents_manager.domain.task import Actor, ActorType, PullState
from agents_manager.errors import InvalidInput, NotAllowed, PromptClosed, UndoRefused
from agents_manager.flow import asking, prompts, remedies, tasks, undoing, views
from agents_manager.flow.ports import Tx
from agents_manager.flow.runs import brief
from tests import worlds
from tests.api.scenes import ANN, ANSWER
from tests.asking import Clock, Table, seated
from tests.contract.store_values import a_pull
from tests.worlds import BOB

pytestmark = pytest.mark.slow

SPLIT: Mapping[str, Any] = {
    "reason": "big",
    "proposed_phases": [{"name": "One"}, {"name": "Two"}],
}
OTHER = {"answers": [{"question_id": "q1", "option": 0}, {"question_id": "q2", "text": "Later."}]}


@pytest.fixture
async def table(tmp_path: Path, repo: Path, used_address: str) -> AsyncIterator[Table]:
    async with seated(tmp_path / "home", repo, used_address, Clock()) as table:
        yield table


async def answered(table: Table, prompt: Prompt, raw: Mapping[str, Any]) -> Prompt:
    table.clock.turn(seconds=1)
    done = await prompts.answer(table.s, prompt.id, raw, ANN, delay_s=5)
    assert done.prompt.undo_until is not None
    assert (done.prompt.undo_until - table.clock.now()).total_seconds() == 5
    table.clock.turn(seconds=1)
    return done.prompt


async def test_an_answer_is_held_taken_back_and_given_again(table: Table) -> None:
    prompt = await table.asking()
    before = await table.now(prompt.task_id)
    await answered(table, prompt, ANSWER)
    held = [e for e in await table.effects(before.id) if e.due_at > table.clock.now()]
    assert [e.kind for e in held] == ["start_agent"]

    done = await undoing.undo(table.s, prompt.id, ANN)
    assert (done.task.status, done.prompt.status) == ("needs_info", PromptStatus.PENDING)
    assert (done.prompt.revision, done.prompt.type) == (2, PromptType.INFO_REQUEST)
    assert (done.prompt.payload, done.prompt.resume) == (prompt.payload, prompt.resume)
    assert (await table.prompt(prompt.id)).status is PromptStatus.SUPERSEDED

    def read(tx: Tx) -> tuple[str, str, RunStatus]:
        run = tx.runs.of_task(before.id)[-1]
        return (
            tx.effects.get(held[0].id).status,
            tx.history.of_task(before.id)[-1].result,
            run.status,
        )

    assert await table.s.store.read(read) == ("cancelled", "rolled_back", RunStatus.CANCELLED)
    assert (await table.types(before.id))[-3:] == [
        "prompt_created",
        "status.changed",
        "prompt_undone",
    ]
    with pytest.raises(PromptClosed, match=f"Answer the newer question, {done.prompt.id}"):
        await prompts.answer(table.s, prompt.id, ANSWER, ANN)
    with pytest.raises(UndoRefused, match="is superseded: there is no answer to take back"):
        await undoing.undo(table.s, prompt.id, ANN)

    await prompts.answer(table.s, done.prompt.id, OTHER, BOB)
    await tell_the_agent(table, before.id)


async def tell_the_agent(table: Table, task_id: Any) -> None:
    """It hears the answer that stands, and nothing of the other."""

    def told(tx: Tx) -> str:
        run, task = tx.runs.of_task(task_id)[-1], tx.tasks.get(task_id)
        sections = brief.sections(tx, table.s, run, task, table.s.registry)
        parts = {part.heading: "\n".join(part.quoted) for part in sections}
        assert "cancelled" not in parts[brief.RUNS]
        assert parts[brief.ANSWER] == parts[brief.EXCHANGE]
        return parts[brief.ANSWER]

    text = await table.s.store.read(told)
    assert "Red" in text
    assert "Later." in text
    assert "Answer: Blue" not in text


async def test_too_late_too_early_and_not_at_all(table: Table) -> None:
    prompt = await table.asking()
    with pytest.raises(UndoRefused, match="is pending: there is no answer"):
        await undoing.undo(table.s, prompt.id, ANN)
    await answered(table, prompt, ANSWER)
    table.clock.turn(seconds=4)
    with pytest.raises(UndoRefused, match="could be taken back until 2026-03-02 12:00:06 UTC"):
        await undoing.undo(table.s, prompt.id, ANN)
    at_once = await table.asking(title="at once")
    await prompts.answer(table.s, at_once.id, ANSWER, ANN)
    with pytest.raises(UndoRefused, match="took effect at once"):
        await undoing.undo(table.s, at_once.id, ANN)
    for delay in (-1, 301, float("nan"), float("inf")):
        with pytest.raises(InvalidInput, match="0 to 300 seconds"):
            await prompts.answer(table.s, prompt.id, ANSWER, ANN, delay_s=delay)


async def test_what_has_begun_or_gone_on_is_not_undone(table: Table) -> None:
    """Also within the delay, should another host's clock be fast."""
    prompt = await table.asking()
    await answered(table, prompt, ANSWER)
    [effect] = [e for e in await table.effects(prompt.task_id) if e.due_at > table.clock.now()]
    await table.s.store.write(lambda tx: tx.effects.update(effect.id, status="started"))
    with pytest.raises(UndoRefused, match="has begun"):
        await undoing.undo(table.s, prompt.id, ANN)
    await table.s.store.write(lambda tx: tx.effects.update(effect.id, status="pending"))
    task = await table.now(prompt.task_id)
    await table.s.store.write(lambda tx: tx.tasks.move(task, "planned", table.clock.now()))
    with pytest.raises(UndoRefused, match="went on since"):
        await undoing.undo(table.s, prompt.id, ANN)


async def test_who_may_not_answer_may_not_undo(table: Table) -> None:
    await table.change_pipeline("needs_info", roles=["lead", "owner"])
    prompt = await table.asking()
    eve = Actor(type=ActorType.USER, name="eve", via="http", role="dev")
    agent = Actor(type=ActorType.AGENT, name="scripted", admin=True)
    says = f"eve may not answer prompt {prompt.id}; an admin or the role lead or owner may."
    for who, words in ((eve, says), (agent, "scripted may not answer")):
        with pytest.raises(NotAllowed, match=words):
            await prompts.answer(table.s, prompt.id, ANSWER, who)
    lead = eve.model_copy(update={"role": "lead"})
    await prompts.answer(table.s, prompt.id, ANSWER, lead, delay_s=5)
    with pytest.raises(NotAllowed, match=says):
        await undoing.undo(table.s, prompt.id, eve)
    await undoing.undo(table.s, prompt.id, lead)


async def test_a_split_is_undone_with_its_phases(table: Table) -> None:
    prompt = await table.asking("propose_split", SPLIT)
    task_id, project = prompt.task_id, table.project.id
    pull = a_pull(task=task_id, project_id=project)
    await table.s.store.write(lambda tx: tx.pulls.add(pull))

    def read(tx: Tx) -> tuple[str, int, PullState]:
        state = tx.pulls.all_of_task(task_id)[0].state
        return tx.tasks.get(task_id).status, len(tx.phases.of_task(task_id)), state

    await answered(table, prompt, {"decision": "approved"})
    assert await table.s.store.read(read) == ("in_progress", 2, PullState.CLOSED)
    done = await undoing.undo(table.s, prompt.id, ANN)
    assert await table.s.store.read(read) == ("pending_split", 0, PullState.OPEN)
    table.clock.turn(seconds=1)
    await prompts.answer(table.s, done.prompt.id, {"decision": "rejected"}, ANN)
    assert (await table.now(task_id)).status == "planning"


async def test_a_choice_is_undone_with_the_question_beside_it(table: Table) -> None:
    prompt = await table.asking()

    def choose(tx: Tx) -> None:
        task = tx.tasks.get(prompt.task_id)
        pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        asking.open_choice(tx, table.s, task, pipeline, prompt.history_id, "What now?")

    await table.s.store.write(choose)
    [choice] = [p for p in await table.open(prompt.task_id) if p.type is PromptType.CHOICE]
    await answered(table, choice, {"choice_id": "cancel"})
    assert (await table.now(prompt.task_id)).status == "cancelled"
    done = await undoing.undo(table.s, choice.id, ANN)
    assert done.task.status == "needs_info"
    kinds = {p.type for p in await table.open(prompt.task_id)}
    assert kinds == {PromptType.CHOICE, PromptType.INFO_REQUEST}


async def test_a_finished_task_that_others_wait_for_is_not_taken_back(table: Table) -> None:
    prompt = await table.asking()
    other = await table.task("Next", dependencies=[prompt.task_id])
    item = await table.s.store.read(lambda tx: views.item(tx, prompt.id))
    assert item.waiting_behind == ["Next"]

    def choose(tx: Tx) -> None:
        task = tx.tasks.get(prompt.task_id)
        pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        asking.open_choice(tx, table.s, task, pipeline, prompt.history_id, "What now?")

    await table.s.store.write(choose)
    [choice] = [p for p in await table.open(prompt.task_id) if p.type is PromptType.CHOICE]
    await answered(table, choice, {"choice_id": "cancel"})
    with pytest.raises(UndoRefused, match="went on since"):
        await undoing.undo(table.s, choice.id, ANN)
    await tasks.move(table.s, other.id, ANN, to="cancelled")
    item = await table.s.store.read(lambda tx: views.item(tx, prompt.id))
    assert item.waiting_behind == []


async def test_rounds_are_as_if_it_had_never_been_said(table: Table) -> None:
    prompt = await table.asking("plan_complete", {})
    changes = {"decision": "changes_requested", "summary": "More."}
    for _ in range(8):  # The cap is 5.
        await answered(table, prompt, changes)
        prompt = (await undoing.undo(table.s, prompt.id, ANN)).prompt
    done = await prompts.answer(table.s, prompt.id, changes, ANN)
    assert done.task.status == "planning"


async def test_a_rollback_after_an_undo_asks_again(table: Table) -> None:
    prompt = await table.asking("plan_complete", {})
    await answered(table, prompt, {"decision": "approved"})
    again = (await undoing.undo(table.s, prompt.id, ANN)).prompt
    table.clock.turn(seconds=1)
    await prompts.answer(table.s, again.id, {"decision": "approved"}, ANN)
    effects = await table.effects(prompt.task_id)
    [branch] = [e for e in effects if e.kind == "create_task_branch"]
    table.clock.turn(seconds=1)
    await table.s.store.write(lambda tx: remedies.roll_back(tx, table.s, branch, "No space."))
    [third] = await table.open(prompt.task_id)
    assert (third.type, third.revision) == (PromptType.DOCUMENT_REVIEW, 3)
    assert third.note == "create_task_branch failed: No space."


async def test_of_an_undo_and_the_engine_one_is_first(
    tmp_path: Path, repo: Path, used_address: str
) -> None:
    """The engine takes the effect in a transaction of its own; never do both win."""
    clock = Clock()
    async with (
        seated(tmp_path / "home", repo, used_address, clock) as one,
        seated(tmp_path / "home", repo, used_address, clock) as two,
    ):
        asked = [await one.asking(title=f"task {n}") for n in range(6)]
        for prompt in asked:
            await prompts.answer(one.s, prompt.id, ANSWER, ANN, delay_s=5)
        fast = clock.now().replace(minute=1)

        def admit(tx: Tx) -> None:
            for prompt in asked:
                for effect in tx.effects.open(prompt.task_id):
                    if effect.status == "pending" and clock.now() < effect.due_at < fast:
                        tx.effects.update(effect.id, status="started")

        undos = [undoing.undo(t.s, p.id, who) for p in asked for t, who in ((one, ANN), (two, BOB))]
        results = await asyncio.gather(
            *undos[:6], two.s.store.write(admit), *undos[6:], return_exceptions=True
        )
        refused = [r for r in results if isinstance(r, UndoRefused)]
        assert len(refused) + sum(isinstance(r, undoing.Undone) for r in results) == 12
        for prompt in asked:
            started = [e for e in await one.effects(prompt.task_id) if e.status == "started"]
            undone = (await one.types(prompt.task_id)).count("prompt_undone")
            assert (len(started), undone) in {(1, 0), (0, 1)}


async def test_the_agent_is_woken_when_the_delay_is_over(tmp_path: Path, repo: Path) -> None:
    ask = {"question": "Why?", "options": ["a", "b"]}
    plan = [{"say": "# Plan"}, {"outcome": "plan_complete"}]
    script = {"plan": [[{"ask": ask}], plan, [{"crash": 1}]]}
    raw = {"answers": [{"question_id": "q1", "option": "a"}]}
    async with worlds.working(tmp_path / "home", repo) as world:
        task = await world.start(script)
        [prompt] = (await world.until(task, "needs_info")).prompts
        await world.answer(prompt, raw, delay_s=300)
        assert (await world.view(task)).next_mover.kind == "timer"
        again = (await undoing.undo(world.s, prompt.id, ANN)).prompt
        await world.settled(task)
        await world.answer(again, raw, delay_s=0.2)
        await world.until(task, "planned")
        with pytest.raises(UndoRefused, match="has begun"):
            await undoing.undo(world.s, again.id, ANN)
