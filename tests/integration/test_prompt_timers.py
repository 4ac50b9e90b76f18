"""What time does to questions, on both databases: expiry, defaults, reminders."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import PromptStatus, ResumePoint
from agents_manager.domain.question import Ask
from agents_manager.errors import PromptAlreadyAnswered, PromptClosed
from agents_manager.flow import asking, prompts, timers
from agents_manager.flow.ports import Tx
from tests import worlds
from tests.api.scenes import ANN, ANSWER
from tests.asking import HASTY, Clock, Table, seated
from tests.channel_players import MemoryChannel
from tests.channel_scene import NAMES, notifications
from tests.contract.store_values import a_project
from tests.repos import make_repo, scripted_home
from tests.worlds import BOB


@pytest.fixture
async def table(tmp_path: Path, repo: Path, used_address: str) -> AsyncIterator[Table]:
    async with seated(tmp_path / "home", repo, used_address, Clock()) as table:
        yield table


# ------------------------------------------------------------------------------------- expiry


async def test_a_question_expires_and_an_admin_chooses(table: Table) -> None:
    await table.change_pipeline("needs_info", expires_after=60)
    prompt = await table.asking(payload=HASTY)
    table.clock.turn(seconds=59.9)
    await timers.fire(table.s)
    assert (await table.prompt(prompt.id)).status is PromptStatus.PENDING
    table.clock.turn(seconds=0.1)
    with pytest.raises(PromptClosed, match=r"expired at 2026-03-02 12:01:00 UTC, before anybody"):
        await prompts.answer(table.s, prompt.id, ANSWER, ANN)
    await timers.fire(table.s)
    await timers.fire(table.s)
    assert (await table.prompt(prompt.id)).status is PromptStatus.EXPIRED
    assert (await table.types(prompt.task_id)).count("prompt_closed") == 1
    with pytest.raises(PromptClosed, match="expired at 2026-03-02 12:01:00 UTC"):
        await prompts.answer(table.s, prompt.id, ANSWER, ANN)
    task = await table.now(prompt.task_id)
    assert task.status == "needs_info"
    [choice] = await table.open(task.id)
    assert choice.payload["reason"] == "Nobody answered in time: Which colour? (+1 more)"
    assert [c["id"] for c in choice.payload["choices"]] == ["ask", "cancel"]
    assert choice.roles == ("admin",)
    notices = [e.payload["title"] for e in await table.effects(task.id) if "expired" in e.id]
    assert notices == ["Not answered in time: Add search"]

    await prompts.answer(table.s, choice.id, {"choice_id": "ask"}, ANN)
    [again] = await table.open(task.id)
    assert (again.type, again.revision, again.default_at) == (PromptType.INFO_REQUEST, 2, None)
    assert again.expires_at is not None
    assert (again.expires_at - table.clock.now()).total_seconds() == 60
    await prompts.answer(table.s, again.id, ANSWER, ANN)
    assert (await table.now(task.id)).status == "planning"


async def test_nothing_expires_that_the_pipeline_does_not_let(table: Table) -> None:
    prompt = await table.asking()
    table.clock.turn(days=3650)
    await timers.fire(table.s)
    await prompts.answer(table.s, prompt.id, ANSWER, ANN)


async def test_a_permission_that_expires_moves_nothing(table: Table) -> None:
    prompt = await permission(table)
    now = table.clock.now()
    await table.s.store.write(lambda tx: tx.prompts.update(prompt.id, expires_at=now))
    await timers.fire(table.s)
    assert (await table.prompt(prompt.id)).status is PromptStatus.EXPIRED
    assert await table.open(prompt.task_id) == []


async def permission(table: Table) -> prompts.Prompt:
    task, run = await table.running()
    payload = {"tool": "bash", "action": "Run make."}

    def write(tx: Tx) -> prompts.Prompt:
        entry = tx.history.of_task(task.id)[-1]
        resume = ResumePoint(status=task.status, run=run.id)
        ask = Ask(PromptType.PERMISSION, payload, None)
        return asking.open_prompt(tx, table.s, task, ask, entry.id, resume)

    return await table.s.store.write(write)


async def test_permissions_stand_beside_each_other_and_move_nothing(table: Table) -> None:
    first = await permission(table)
    task = await table.now(first.task_id)

    def another(tx: Tx) -> None:
        ask = Ask(PromptType.PERMISSION, first.payload, None)
        asking.open_prompt(tx, table.s, task, ask, first.history_id, first.resume)

    await table.s.store.write(another)
    assert len(await table.open(task.id)) == 2
    given = await prompts.answer(table.s, first.id, {"allow": True, "scope": "run"}, ANN, delay_s=5)
    assert given.prompt.response == {"allow": True, "scope": "run"}
    assert given.prompt.undo_until is None
    assert given.task == task
    with pytest.raises(PromptAlreadyAnswered, match=r"allowed \(run\)"):
        await prompts.answer(table.s, first.id, {"allow": False}, BOB)


# ------------------------------------------------------------------------------------- defaults


async def test_the_suggested_answer_is_taken_after_the_time_that_was_allowed(table: Table) -> None:
    slow = await table.asking(title="slow")
    prompt = await table.asking(payload=HASTY, title="hasty")
    table.clock.turn(seconds=59)
    await timers.fire(table.s)
    assert (await table.now(prompt.task_id)).status == "needs_info"
    table.clock.turn(seconds=1)
    await timers.fire(table.s)
    await timers.fire(table.s)
    taken = await table.prompt(prompt.id)
    assert (taken.status, taken.responded_by, taken.responded_via) == (
        PromptStatus.RESPONDED,
        "engine",
        "default",
    )
    assert taken.response is not None
    given = [(a["option"], a["text"]) for a in taken.response["answers"]]
    assert given == [("Red", None), (None, "Because.")]
    assert (await table.now(prompt.task_id)).status == "planning"
    assert (await table.types(prompt.task_id)).count("prompt_response") == 1
    with pytest.raises(PromptAlreadyAnswered, match="engine answered this via default"):
        await prompts.answer(table.s, prompt.id, ANSWER, ANN)
    assert (await table.prompt(slow.id)).status is PromptStatus.PENDING


async def test_who_is_asked_by_role_is_waited_for(table: Table) -> None:
    await table.change_pipeline("needs_info", roles=["lead"])
    prompt = await table.asking(payload=HASTY)
    assert (prompt.roles, prompt.default_at) == (("lead",), None)


async def test_a_default_that_the_pipeline_refuses_is_tried_once(table: Table) -> None:
    prompt = await table.asking(payload=HASTY)
    # A run that should not be there stands in the way of starting another.
    _, run = await table.running("other")
    await table.s.store.write(lambda tx: tx.runs.update(run.id, task_id=prompt.task_id))
    table.clock.turn(minutes=2)
    for _ in range(3):
        await timers.fire(table.s)
    after = await table.prompt(prompt.id)
    assert (after.status, after.default_at) == (PromptStatus.PENDING, None)
    assert (await table.types(prompt.task_id)).count("status.blocked") == 1


async def test_one_that_cannot_be_read_does_not_hold_up_the_others(table: Table) -> None:
    broken = await table.asking(payload=HASTY, title="broken")
    prompt = await table.asking(payload=HASTY, title="sound")
    await table.s.store.write(lambda tx: tx.prompts.update(broken.id, type="nonsense"))
    table.clock.turn(minutes=2)
    await timers.fire(table.s)
    assert (await table.prompt(prompt.id)).status is PromptStatus.RESPONDED


async def test_the_first_of_answers_expiry_and_default_wins(
    tmp_path: Path, repo: Path, used_address: str
) -> None:
    """Two programs on one database, as two hosts are; each question ends once, and moves its task
    as often."""
    clock = Clock()
    async with (
        seated(tmp_path / "home", repo, used_address, clock) as one,
        seated(tmp_path / "home", repo, used_address, clock) as two,
    ):
        asked = [await one.asking(payload=HASTY, title=f"task {n}") for n in range(6)]
        soon = clock.now()
        for prompt in asked[::2]:
            await one.s.store.write(
                lambda tx, p=prompt: tx.prompts.update(p.id, expires_at=soon.replace(minute=1))
            )
        clock.turn(seconds=60)
        answers = [
            prompts.answer(table.s, prompt.id, ANSWER, who)
            for prompt in asked
            for table, who in ((one, ANN), (two, BOB))
        ]
        await asyncio.gather(
            *answers, timers.fire(one.s), timers.fire(two.s), return_exceptions=True
        )
        for prompt in asked:
            ended = await one.prompt(prompt.id)
            types = await one.types(prompt.task_id)
            expires = ended.expires_at is not None
            assert ended.status is (PromptStatus.EXPIRED if expires else PromptStatus.RESPONDED)
            assert types.count("prompt_response") + types.count("prompt_closed") == 1
            moves = [e for e in await one.effects(prompt.task_id) if e.kind == "start_agent"]
            assert len(moves) == (1 if expires else 2)  # The first run was never started here.


async def test_times_outlive_the_program(tmp_path: Path, repo: Path) -> None:
    """Asked under one worker; the next one finds the time in the rows."""
    asks = {**HASTY["questions"][0], "default_after_s": 1}
    script = {
        "plan": [
            [{"ask": {"questions": [asks]}}],
            [{"say": "# Plan"}, {"outcome": "plan_complete"}],
        ]
    }
    async with worlds.working(tmp_path / "home", repo, clock=Clock()) as world:
        task = await world.start(script)
        await world.until(task, "needs_info")
    async with worlds.working(tmp_path / "home", repo) as world:
        await world.until(task, "planned")


# ------------------------------------------------------------------------------------- reminders


def configure(repo: Path, text: str) -> None:
    (repo / ".agents-manager").mkdir(exist_ok=True)
    (repo / ".agents-manager" / "config.json").write_text(text)


async def reminders(table: Table, prompt: prompts.Prompt) -> list[str]:
    rows = await table.effects(prompt.task_id)
    return [e.payload["title"] for e in rows if "-reminder-" in e.id]


async def test_people_are_reminded_once_a_day(table: Table) -> None:
    prompt = await table.asking()
    table.clock.turn(hours=23.9)
    await timers.remind(table.s)
    assert await reminders(table, prompt) == []
    table.clock.turn(hours=0.1)
    for _ in range(3):
        await timers.remind(table.s)
    said = "Still waiting for an answer: Add search"
    assert await reminders(table, prompt) == [said]
    table.clock.turn(hours=23)
    await timers.remind(table.s)
    assert await reminders(table, prompt) == [said]
    table.clock.turn(days=5)  # Nobody was there to remind; it is not made up for.
    await timers.remind(table.s)
    await timers.remind(table.s)
    assert await reminders(table, prompt) == [said, said]
    assert (await table.prompt(prompt.id)).reminders == 2
    assert (await table.types(prompt.task_id)).count("prompt_reminded") == 2
    await prompts.answer(table.s, prompt.id, ANSWER, ANN)
    table.clock.turn(days=5)
    await timers.remind(table.s)
    assert len(await reminders(table, prompt)) == 2


async def test_quiet_hours_are_kept_and_edits_are_picked_up(table: Table, repo: Path) -> None:
    configure(repo, '{"quietHours": {"from": "21:00", "to": "09:00", "zone": "Asia/Tokyo"}}')
    prompt = await table.asking()  # At 12:00 UTC, 21:00 in Tokyo.
    table.clock.turn(hours=24)
    await timers.remind(table.s)
    table.clock.turn(hours=11.99)
    await timers.remind(table.s)
    assert await reminders(table, prompt) == []
    table.clock.turn(hours=0.02)
    await timers.remind(table.s)
    assert len(await reminders(table, prompt)) == 1
    configure(repo, '{"reminders": {"everyHours": 2}}')
    table.clock.turn(hours=2)
    await timers.remind(table.s)
    assert len(await reminders(table, prompt)) == 2
    configure(repo, '{"reminders": {"enabled": false}}')
    table.clock.turn(days=3)
    await timers.remind(table.s)
    assert len(await reminders(table, prompt)) == 2


async def test_a_broken_file_silences_its_own_project_only(table: Table, tmp_path: Path) -> None:
    broken = make_repo(tmp_path / "broken", {"README.md": "x"})
    configure(broken, "{")
    other = a_project("other", path=str(broken))
    await table.s.store.write(lambda tx: tx.projects.add(other))
    prompt = await table.asking()
    table.clock.turn(days=2)
    await timers.remind(table.s)
    assert len(await reminders(table, prompt)) == 1


async def test_two_programs_remind_once(tmp_path: Path, repo: Path, used_address: str) -> None:
    clock = Clock()
    async with (
        seated(tmp_path / "home", repo, used_address, clock) as one,
        seated(tmp_path / "home", repo, used_address, clock) as two,
    ):
        asked = [await one.asking(title=f"task {n}") for n in range(4)]
        clock.turn(days=1)
        await asyncio.gather(*(timers.remind(t.s) for t in (one, two) for _ in range(3)))
        assert [len(await reminders(one, p)) for p in asked] == [1, 1, 1, 1]


async def test_a_worker_reminds_by_every_channel(tmp_path: Path, repo: Path) -> None:
    made, clock = {n: MemoryChannel(name=n) for n in NAMES}, Clock()
    channels = {name: lambda channel=channel: channel for name, channel in made.items()}
    home = scripted_home(tmp_path / "home", notifications=notifications())
    ask: Any = {"implement": [[{"ask": {"question": "Why?", "options": ["a", "b"]}}]]}
    async with worlds.working(home, repo, channels=channels, clock=clock) as world:
        task = await world.start(ask, pipeline="simple")
        await world.until(task, "needs_info")
        await until(lambda: all(len(c.sent) == 1 for c in made.values()))
        clock.turn(days=1)
        await timers.remind(world.s)
        await until(lambda: all(len(c.sent) == 2 for c in made.values()))
        for channel in made.values():
            card = channel.sent[1][2]
            assert card.title == '🤖 Agent needs input on "Add greeting"'
            assert card.body[:2] == ("Open since 2026-03-02 12:00 UTC.", "Why?")


async def until(there: Callable[[], bool]) -> None:
    async with asyncio.timeout(worlds.PATIENCE_S):
        while not there():
            await asyncio.sleep(0.02)


# ----------------------------------------------------------------------------------- superseded


async def test_a_newer_question_takes_the_place_of_an_older_one(table: Table) -> None:
    old = await table.asking()
    task = await table.now(old.task_id)
    table.clock.turn(seconds=1)

    def ask(tx: Tx) -> prompts.Prompt:
        new = Ask(PromptType.INFO_REQUEST, old.payload, None)
        return asking.open_prompt(tx, table.s, task, new, old.history_id, old.resume)

    new = await table.s.store.write(ask)
    assert [p.id for p in await table.open(task.id)] == [new.id]
    with pytest.raises(PromptClosed, match=f"was superseded. Answer the newer question, {new.id}"):
        await prompts.answer(table.s, old.id, ANSWER, ANN)
    await prompts.answer(table.s, new.id, ANSWER, BOB)
    with pytest.raises(PromptClosed, match=f"The newer one is {new.id}: bob answered this via"):
        await prompts.answer(table.s, old.id, ANSWER, ANN)


async def test_a_choice_that_stands_beside_is_replaced_alone(table: Table) -> None:
    prompt = await table.asking()
    table.clock.turn(seconds=1)

    def choose(tx: Tx) -> None:
        task = tx.tasks.get(prompt.task_id)
        pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        for reason in ("one", "two"):
            asking.open_choice(tx, table.s, task, pipeline, prompt.history_id, reason)

    await table.s.store.write(choose)
    reasons = [p.payload.get("reason") for p in await table.open(prompt.task_id)]
    assert reasons == [None, "two"]
