"""Runs, prompts, events, effects, pull requests and access, the same on both databases."""

from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy.exc import IntegrityError

from agents_manager.domain.event import AgentCancelled, Noted, StatusBlocked, ToolUsed
from agents_manager.domain.event.happening import Level
from agents_manager.domain.ids import EffectId, HistoryId, ProjectId, PromptId, RunId, TaskId
from agents_manager.domain.phase import Phase, PhaseStatus
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt, PromptStatus, QueuePlace, Undo
from agents_manager.domain.run import AgentError, ErrorClass, RunStatus, Usage
from agents_manager.domain.task import PullState
from agents_manager.errors import (
    Conflict,
    NotFound,
    PhaseNotFound,
    PromptNotFound,
    PullRequestNotFound,
    RunNotFound,
    TaskNotFound,
)
from agents_manager.flow.ports import KeyKind, Tx
from agents_manager.store.database import Database
from tests.contract.store_values import (
    ADA,
    NOW,
    a_project,
    a_prompt,
    a_pull,
    a_run,
    a_task,
    an_effect,
    furnish,
    later,
)

TASK = TaskId("task-1")
PROJECT = ProjectId("project-1")


async def test_a_run_comes_back_as_it_was_stored(any_store: Database) -> None:
    ended = {
        "status": RunStatus.FAILED,
        "payload": {"summary": "No."},
        "error": AgentError(error="It fell.", error_class=ErrorClass.CRASH),
        "usage": Usage(input_tokens=3, cost_usd=0.25),
        "ended_at": later(5),
    }

    def write(tx: Tx) -> None:
        furnish(tx)
        tx.runs.add(a_run())
        tx.runs.update(RunId("run-1"), **ended)

    await any_store.write(write)
    run = await any_store.read(lambda tx: tx.runs.get(RunId("run-1")))
    assert run == a_run(**ended)
    assert await any_store.read(lambda tx: tx.runs.find("run-")) == run
    with pytest.raises(RunNotFound, match="run-9"):
        await any_store.read(lambda tx: tx.runs.get(RunId("run-9")))
    with pytest.raises(RunNotFound, match="run-9"):
        await any_store.write(lambda tx: tx.runs.update(RunId("run-9"), mode="plan"))


async def test_a_task_has_one_live_run_for_each_part(any_store: Database) -> None:
    parts = ("", "1-1", "1-2")

    def write(tx: Tx) -> None:
        furnish(tx, "task-1")
        for n, part in enumerate(parts):
            tx.runs.add(a_run(f"run-{n}", part=part, created_at=later(n)))

    await any_store.write(write)
    for part in parts:
        with pytest.raises(Conflict, match="task-1"):
            await any_store.write(lambda tx, p=part: tx.runs.add(a_run("more", part=p)))
    live = await any_store.read(lambda tx: tx.runs.live(TASK))
    assert [run.part for run in live] == [*parts]


async def test_effects_of_different_parts_do_not_wait_for_each_other(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx, "task-1")
        tx.effects.add(an_effect("first", part="1-1"))
        tx.effects.add(an_effect("second", part="1-2"))
        tx.effects.add(an_effect("first again", part="1-1"))
        tx.effects.add(an_effect("whole", kind="join_parts"))
        tx.effects.add(an_effect("behind", part="1-3"))

    await any_store.write(write)

    async def due() -> list[str]:
        found = await any_store.read(lambda tx: tx.effects.due(later(0), 9))
        return [effect.id for effect in found]

    assert await due() == ["first", "second"]
    for done, then in (
        ("second", ["first"]),
        ("first", ["first again"]),
        ("first again", ["whole"]),
        ("whole", ["behind"]),
    ):
        await any_store.write(lambda tx, d=done: tx.effects.update(EffectId(d), status="done"))
        assert await due() == then


async def test_a_task_has_one_live_run_at_most(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx, "task-1", "task-2")
        tx.runs.add(a_run("one"))
        tx.runs.add(a_run("other", task="task-2", status=RunStatus.RUNNING))

    await any_store.write(write)
    with pytest.raises(IntegrityError):
        await any_store.write(lambda tx: tx.runs.add(a_run("one", status=RunStatus.FAILED)))
    for status in (RunStatus.QUEUED, RunStatus.RUNNING):
        with pytest.raises(Conflict, match="task-1"):
            await any_store.write(lambda tx, s=status: tx.runs.add(a_run("two", status=s)))

    def follow(tx: Tx) -> None:
        tx.runs.update(RunId("one"), status=RunStatus.COMPLETED)
        tx.runs.add(a_run("two", created_at=later(1)))

    await any_store.write(follow)
    (live,) = await any_store.read(lambda tx: tx.runs.live(TASK))
    assert live.id == "two"
    await any_store.write(lambda tx: tx.runs.update(RunId("two"), status=RunStatus.TIMEOUT))
    assert await any_store.read(lambda tx: tx.runs.live(TASK)) == []


async def test_runs_are_listed_by_task_and_by_being_live(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx, "task-1", "task-2")
        tx.runs.add(a_run("a", status=RunStatus.FAILED))
        tx.runs.add(a_run("b", created_at=later(1)))
        tx.runs.add(a_run("c", task="task-2", created_at=later(2)))

    await any_store.write(write)

    def ids(tx: Tx, **more: Any) -> str:
        wanted: dict[str, Any] = {"task": None, "live": False, "after": None, "limit": 9, **more}
        return "".join(run.id for run in tx.runs.page(**wanted))

    assert await any_store.read(ids) == "cba"
    assert await any_store.read(lambda tx: ids(tx, task=TASK)) == "ba"
    assert await any_store.read(lambda tx: ids(tx, live=True)) == "cb"
    assert await any_store.read(lambda tx: ids(tx, limit=1)) == "c"
    assert await any_store.read(lambda tx: ids(tx, after="c", limit=1)) == "b"
    of_task = await any_store.read(lambda tx: tx.runs.of_task(TASK))
    assert [run.id for run in of_task] == ["a", "b"]


async def test_a_prompt_is_closed_once(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx)
        tx.prompts.add(a_prompt(note="The merge failed.", expires_at=later(60)))

    await any_store.write(write)
    answer = {
        "status": PromptStatus.RESPONDED,
        "response": {"answers": [{"question_id": "q1", "text": "this"}]},
        "responded_by": "ada",
        "responded_via": "web",
        "responded_at": later(1),
        "answer_key": "k1",
    }
    prompt = PromptId("prompt-1")
    assert await any_store.write(lambda tx: tx.prompts.close(prompt, **answer))
    late = {**answer, "responded_by": "bob"}
    assert not await any_store.write(lambda tx: tx.prompts.close(prompt, **late))
    expected = a_prompt(note="The merge failed.", expires_at=later(60), **answer)
    assert await any_store.read(lambda tx: tx.prompts.get(prompt)) == expected
    assert await any_store.read(lambda tx: tx.prompts.find("prom")) == expected
    with pytest.raises(PromptNotFound, match="prompt-9"):
        await any_store.read(lambda tx: tx.prompts.find("prompt-9"))


async def test_a_task_asks_one_question_of_its_flow_at_a_time(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx, "task-1", "task-2")
        tx.prompts.add(a_prompt("b", created_at=later(2)))
        tx.prompts.add(a_prompt("c", type=PromptType.CHOICE, created_at=later(1)))
        tx.prompts.add(a_prompt("d", type=PromptType.CHOICE, created_at=later(3)))
        tx.prompts.add(a_prompt("a", task="task-2"))

    await any_store.write(write)
    with pytest.raises(Conflict, match="task-1"):
        await any_store.write(lambda tx: tx.prompts.add(a_prompt("e", type=PromptType.REVIEW)))

    def ids(prompts: Sequence[Any]) -> str:
        return "".join(prompt.id for prompt in prompts)

    assert ids(await any_store.read(lambda tx: tx.prompts.pending())) == "acbd"
    assert ids(await any_store.read(lambda tx: tx.prompts.pending(TASK))) == "cbd"
    await any_store.write(
        lambda tx: tx.prompts.close(PromptId("b"), status=PromptStatus.SUPERSEDED)
    )
    await any_store.write(lambda tx: tx.prompts.add(a_prompt("e", created_at=later(9))))
    assert ids(await any_store.read(lambda tx: tx.prompts.pending(TASK))) == "cde"
    assert ids(await any_store.read(lambda tx: tx.prompts.of_task(TASK))) == "cbde"


async def test_open_prompts_in_pages(any_store: Database) -> None:
    shop, task = ProjectId("project-1"), TaskId("task-2")

    def fill(tx: Tx) -> None:
        furnish(tx, "task-1", "task-2")
        for n, id in enumerate("abcd"):
            tx.prompts.add(a_prompt(id, type=PromptType.PERMISSION, created_at=later(n // 2)))
        tx.prompts.add(a_prompt("e", "task-2", created_at=later(9)))
        tx.prompts.add(a_prompt("f", type=PromptType.CHOICE, status=PromptStatus.RESPONDED))

    await any_store.write(fill)

    async def ids(after: QueuePlace, limit: int | None, project: ProjectId | None = None) -> str:
        found = await any_store.read(
            lambda tx: tx.prompts.page([task], project, after=after, limit=limit)
        )
        return "".join(prompt.id for prompt in found)

    start = QueuePlace(alone=False, asked=NOW, id=PromptId(""))
    assert await ids(start, None) == "eabcd"
    assert await ids(start, 2) == "ea"
    assert await ids(start, 2, shop) == "ea"
    assert await ids(start, 2, ProjectId("project-9")) == ""
    assert await ids(QueuePlace(alone=False, asked=later(9), id=PromptId("e")), 9) == "abcd"
    assert await ids(QueuePlace(alone=True, asked=NOW, id=PromptId("a")), 2) == "bc"
    assert await any_store.read(lambda tx: tx.prompts.open(None)) == 5
    assert await any_store.read(lambda tx: tx.prompts.open(shop)) == 5
    assert await any_store.read(lambda tx: tx.prompts.open(ProjectId("project-9"))) == 0


async def test_permissions_stand_beside_each_other(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx)
        tx.prompts.add(a_prompt("a"))
        tx.prompts.add(a_prompt("b", type=PromptType.PERMISSION))
        tx.prompts.add(a_prompt("c", type=PromptType.PERMISSION))

    await any_store.write(write)
    assert len(await any_store.read(lambda tx: tx.prompts.pending(TASK))) == 3


UNDO = Undo(
    until=later(5),
    version=4,
    history=("history-2",),
    effects=("effect-2",),
    closed=(),
    opened=("prompt-2",),
    phases=({"id": "phase-1", "status": "active"},),
    pulls=(),
)


async def test_times_and_the_way_back_come_as_they_were_stored(any_store: Database) -> None:
    fields = {
        "roles": ("lead",),
        "default_at": later(7),
        "reminders": 2,
        "reminded_at": later(8),
        "undo": UNDO,
    }

    def write(tx: Tx) -> Prompt:
        furnish(tx)
        tx.prompts.add(a_prompt())
        tx.prompts.update(PromptId("prompt-1"), **fields)
        return tx.prompts.get(PromptId("prompt-1"))

    assert await any_store.write(write) == a_prompt(**fields)
    with pytest.raises(PromptNotFound, match="prompt-9"):
        await any_store.write(lambda tx: tx.prompts.update(PromptId("prompt-9"), reminders=1))


async def test_prompts_that_are_due(any_store: Database) -> None:
    times: dict[str, dict[str, Any]] = {
        "expires": {"expires_at": later(5)},
        "by itself": {"default_at": later(5)},
        "both": {"default_at": later(5), "expires_at": later(5)},
        "later": {"default_at": later(6), "expires_at": later(6)},
        "never": {},
        "over": {"default_at": later(5), "status": PromptStatus.RESPONDED},
    }

    def write(tx: Tx) -> None:
        furnish(tx, *times)
        for name, fields in times.items():
            tx.prompts.add(a_prompt(name, name, **fields))

    await any_store.write(write)
    tokyo = later(5).astimezone(ZoneInfo("Asia/Tokyo"))
    for now in (later(5), tokyo):
        due = await any_store.read(lambda tx, now=now: tx.prompts.due(now))
        assert sorted(due) == ["both", "by itself", "expires"]
    assert await any_store.read(lambda tx: tx.prompts.due(later(4))) == []


async def test_prompts_that_nobody_heard_of(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx, "a", "b", "c")
        tx.projects.add(a_project("project-2"))
        tx.tasks.add(a_task("d", project_id=ProjectId("project-2")))
        tx.prompts.add(a_prompt("new", "a", created_at=later(9)))
        tx.prompts.add(a_prompt("old", "b", created_at=later(2)))
        tx.prompts.add(a_prompt("older", "b", type=PromptType.CHOICE, created_at=later(1)))
        tx.prompts.add(a_prompt("reminded", "c", reminded_at=later(9)))
        tx.prompts.add(a_prompt("elsewhere", "d"))
        tx.prompts.add(a_prompt("over", "b", status=PromptStatus.EXPIRED))

    await any_store.write(write)
    found = await any_store.read(lambda tx: tx.prompts.silent(PROJECT, later(5)))
    assert found == ["older", "old"]


async def test_permissions_of_a_project_are_those_that_people_decided(any_store: Database) -> None:
    given = {"type": PromptType.PERMISSION, "status": PromptStatus.RESPONDED}

    def write(tx: Tx) -> None:
        furnish(tx, "a", "b")
        tx.projects.add(a_project("project-2"))
        tx.tasks.add(a_task("c", project_id=ProjectId("project-2")))
        tx.prompts.add(a_prompt("second", "b", created_at=later(2), **given))
        tx.prompts.add(a_prompt("first", "a", created_at=later(1), **given))
        tx.prompts.add(a_prompt("elsewhere", "c", **given))
        tx.prompts.add(a_prompt("open", "a", type=PromptType.PERMISSION))
        tx.prompts.add(a_prompt("other", "a", status=PromptStatus.RESPONDED))

    await any_store.write(write)
    found = await any_store.read(lambda tx: tx.prompts.permissions(PROJECT))
    assert [prompt.id for prompt in found] == ["first", "second"]


async def test_tasks_that_others_wait_for_are_those_that_ask(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx, "asking", "alone", "answered", "working")
        for task in ("asking", "alone", "answered"):
            tx.prompts.add(a_prompt(f"prompt-of-{task}", task))
        tx.prompts.update(PromptId("prompt-of-answered"), status=PromptStatus.RESPONDED)
        behind = (TaskId("asking"), TaskId("answered"), TaskId("working"))
        tx.tasks.add(a_task("behind", dependencies=behind))
        tx.tasks.add(a_task("behind-too", dependencies=behind[:1]))

    await any_store.write(write)
    assert await any_store.read(lambda tx: tx.prompts.awaited()) == {"asking"}


async def test_an_event_is_logged_with_its_sentence(any_store: Database) -> None:
    await any_store.write(furnish)
    blocked = StatusBlocked(status="open", trigger="manual", reasons=("No.", "Not now."))
    logged = await any_store.write(lambda tx: tx.events.add(TASK, blocked, ADA, NOW))
    assert (logged.seq, logged.category, logged.type) == (1, "transition", "status.blocked")
    assert (logged.level, logged.actor, logged.time) == (Level.WARNING, ADA, NOW)
    assert logged.summary == blocked.sentence()
    assert logged.data == {"status": "open", "trigger": "manual", "reasons": ["No.", "Not now."]}
    assert await any_store.read(lambda tx: tx.events.after(0, task=None, limit=9)) == [logged]
    with pytest.raises(TaskNotFound, match="task-9"):
        await any_store.write(lambda tx: tx.events.add(TaskId("task-9"), blocked, ADA, NOW))


async def test_events_are_read_from_where_a_reader_stopped(any_store: Database) -> None:
    assert await any_store.read(lambda tx: tx.events.last_id()) == 0
    await any_store.write(lambda tx: furnish(tx, "task-1", "task-2"))

    def note(tx: Tx, task: str, text: str) -> None:
        tx.events.add(TaskId(task), Noted(text=text), ADA, NOW)

    for text in "abcdef":
        task = "task-2" if text in "be" else "task-1"
        await any_store.write(lambda tx, task=task, text=text: note(tx, task, text))

    def said(events: Sequence[Any]) -> str:
        return "".join(event.summary for event in events)

    everything = await any_store.read(lambda tx: tx.events.after(0, task=None, limit=99))
    ids = [event.id for event in everything]
    assert said(everything) == "abcdef"
    assert ids == sorted(set(ids))
    assert [event.seq for event in everything] == [1, 1, 2, 3, 2, 4]
    assert await any_store.read(lambda tx: tx.events.last_id()) == ids[-1]
    rest = await any_store.read(lambda tx: tx.events.after(ids[1], task=None, limit=2))
    assert said(rest) == "cd"
    of_task = await any_store.read(lambda tx: tx.events.after(ids[1], task=TASK, limit=2))
    assert said(of_task) == "cd"
    by_seq = await any_store.read(lambda tx: tx.events.of_task(TASK, after_seq=1, limit=2))
    assert said(by_seq) == "cd"
    newest = await any_store.read(lambda tx: tx.events.newest(TASK, "note", limit=3))
    assert said(newest) == "fdc"
    assert await any_store.read(lambda tx: tx.events.newest(TASK, "git", limit=3)) == []
    last = await any_store.read(lambda tx: tx.events.last(TASK, newest[0].type))
    assert last == newest[0]
    assert await any_store.read(lambda tx: tx.events.last(TASK, "snapshot.saved")) is None


async def test_the_last_event_of_a_run_is_found_by_its_category(any_store: Database) -> None:
    await any_store.write(furnish)

    def used(run: str, number: int) -> ToolUsed:
        return ToolUsed(run=run, name="a", summary='"run":"c"', ok=True, number=number, at="")

    def write(tx: Tx) -> None:
        for told in (used("a", 1), used("b", 1), used("a", 2), used("b", 2)):
            tx.events.add(TASK, told, ADA, NOW)
        tx.events.add(TASK, AgentCancelled(run="a"), ADA, NOW)

    await any_store.write(write)
    last = await any_store.read(lambda tx: tx.events.last_of_run(TASK, "tool", RunId("a")))
    assert last is not None
    assert (last.data["run"], last.data["number"]) == ("a", 2)
    assert not await any_store.read(lambda tx: tx.events.last_of_run(TASK, "tool", RunId("c")))


async def test_effects_of_a_task_wait_for_their_turn(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx, "task-1", "task-2", "task-3")
        # Not at once, which would be whatever a clock says.
        tx.effects.add(an_effect("z-first", created_at=later(-9)))
        tx.effects.add(an_effect("a-second", kind="merge_pr", position=1))
        tx.effects.add(an_effect("notice", kind="notify", position=2, created_at=later(-9)))
        tx.effects.add(an_effect("other", task="task-2", due_at=later(-1)))
        tx.effects.add(an_effect("quick", task="task-3", kind="notify", status="started"))
        tx.effects.add(an_effect("behind-quick", task="task-3", due_at=later(-2)))

    await any_store.write(write)

    async def due(at: float = 0, limit: int = 9) -> list[str]:
        found = await any_store.read(lambda tx: tx.effects.due(later(at), limit))
        return [effect.id for effect in found]

    assert await due() == ["notice", "behind-quick", "other", "z-first"]
    assert await due(limit=1) == ["notice"]
    assert await due(-1) == ["behind-quick", "other"]
    for state in ("started", "done"):
        await any_store.write(lambda tx, s=state: tx.effects.update(EffectId("z-first"), status=s))
        second = ["a-second"] if state == "done" else []
        assert await due() == [*second, "notice", "behind-quick", "other"]


async def test_agents_start_by_priority_and_age_and_hold_nothing_up(any_store: Database) -> None:
    urgencies = ("low", "urgent", "medium", "high", "medium")

    def write(tx: Tx) -> None:
        furnish(tx, *(f"task-{n}" for n in range(6)))
        for n, priority in enumerate(urgencies):
            tx.tasks.update(TaskId(f"task-{n}"), NOW, priority=priority)
            tx.effects.add(an_effect(f"{priority}-{n}", task=f"task-{n}", due_at=later(-n)))
        tx.effects.add(an_effect("merge", task="task-5", kind="merge_pr", due_at=later(0)))

    await any_store.write(write)
    found = await any_store.read(lambda tx: tx.effects.due(NOW, 9))
    assert [e.id for e in found] == [
        "merge",
        "urgent-1",
        "high-3",
        "medium-4",
        "medium-2",
        "low-0",
    ]
    assert [e.id for e in await any_store.read(lambda tx: tx.effects.due(NOW, 1))] == ["merge"]


async def test_an_effect_that_waits_for_its_time_holds_up_those_behind(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx)
        tx.effects.add(an_effect("first", due_at=later(60), attempt=2))
        tx.effects.add(an_effect("second", position=1))

    await any_store.write(write)
    assert await any_store.read(lambda tx: tx.effects.due(later(59), 9)) == []
    assert await any_store.read(lambda tx: tx.effects.next_due(NOW)) == later(60)
    [first] = await any_store.read(lambda tx: tx.effects.due(later(60), 9))
    assert first == an_effect("first", due_at=later(60), attempt=2)


async def test_open_effects(any_store: Database) -> None:
    assert await any_store.read(lambda tx: tx.effects.next_due(NOW)) is None

    def write(tx: Tx) -> None:
        furnish(tx, "task-1", "task-2")
        for status in ("done", "started", "pending", "failed", "cancelled"):
            tx.effects.add(an_effect(status, status=status, due_at=later(5)))
        tx.effects.add(an_effect("elsewhere", task="task-2", status="started"))

    await any_store.write(write)

    def ids(effects: Sequence[Any]) -> list[str]:
        return [effect.id for effect in effects]

    assert ids(await any_store.read(lambda tx: tx.effects.open(TASK))) == ["started", "pending"]
    everywhere = ids(await any_store.read(lambda tx: tx.effects.open()))
    assert everywhere == ["started", "pending", "elsewhere"]
    assert ids(await any_store.read(lambda tx: tx.effects.started())) == ["started", "elsewhere"]
    assert await any_store.read(lambda tx: tx.effects.next_due(NOW)) == later(5)
    assert await any_store.read(lambda tx: tx.effects.next_due(later(5))) is None
    with pytest.raises(NotFound, match="nothing"):
        await any_store.read(lambda tx: tx.effects.get(EffectId("nothing")))


async def test_the_rest_of_a_transition_is_cancelled(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx)
        for position, status in enumerate(("pending", "failed", "started", "pending", "pending")):
            tx.effects.add(an_effect(f"e{position}", position=position, status=status))
        tx.effects.add(an_effect("later", history_id=HistoryId("history-2"), position=9))
        tx.effects.cancel_rest(HistoryId("history-1"), 1, later(1))

    await any_store.write(write)
    ids = ("e0", "e1", "e2", "e3", "e4", "later")
    effects = [await any_store.read(lambda tx, i=i: tx.effects.get(EffectId(i))) for i in ids]
    assert [effect.status for effect in effects] == [
        "pending",
        "failed",
        "started",
        "cancelled",
        "cancelled",
        "pending",
    ]
    assert [effect.finished_at for effect in effects][2:5] == [None, later(1), later(1)]


async def test_pull_requests_are_numbered_by_project(any_store: Database) -> None:
    await any_store.write(lambda tx: furnish(tx, "task-1", "task-2"))
    assert await any_store.read(lambda tx: tx.pulls.next_number(PROJECT)) == 1
    await any_store.write(lambda tx: tx.pulls.add(a_pull()))
    assert await any_store.read(lambda tx: tx.pulls.next_number(PROJECT)) == 2
    with pytest.raises(Conflict, match="#1"):
        await any_store.write(lambda tx: tx.pulls.add(a_pull("pull-2", head_branch="other")))
    with pytest.raises(Conflict, match="am/task-1"):
        await any_store.write(lambda tx: tx.pulls.add(a_pull("pull-2", number=2)))
    with pytest.raises(PullRequestNotFound, match="pull-9"):
        await any_store.write(lambda tx: tx.pulls.update("pull-9", NOW, body="x"))
    await any_store.write(lambda tx: tx.tasks.delete(TASK))
    assert await any_store.read(lambda tx: tx.pulls.next_number(PROJECT)) == 2


async def test_the_open_pull_request_counts_before_the_newest(any_store: Database) -> None:
    def find(tx: Tx) -> Any:
        found = tx.pulls.find(PROJECT, "am/task-1", "main")
        assert found == tx.pulls.of_task(TASK)
        return found

    await any_store.write(furnish)
    assert await any_store.read(find) is None
    await any_store.write(lambda tx: tx.pulls.add(a_pull()))
    merged = {"state": PullState.MERGED, "merge_sha": "b" * 40}
    await any_store.write(lambda tx: tx.pulls.update("pull-1", later(1), **merged))
    assert await any_store.read(find) == a_pull(updated_at=later(1), **merged)

    def add_two(tx: Tx) -> None:
        tx.pulls.add(a_pull("pull-2", number=2))
        tx.pulls.add(a_pull("pull-3", number=3, state=PullState.CLOSED))

    await any_store.write(add_two)
    assert (await any_store.read(find)).number == 2


async def test_a_token_goes_with_all_it_opened(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        tx.access.add_token("d1", "ada", "admin", NOW, kind=KeyKind.OWNER)
        tx.access.add_token("d2", "bob", "member", later(1))
        session = {"kind": KeyKind.SESSION, "expires": later(9)}
        tx.access.add_token("s1", "ada", "admin", later(2), parent="d1", **session)
        tx.access.add_token("s2", "bob", "member", later(2), parent="d2", **session)
        tx.access.add_code("c1", "d1", later(5))
        tx.access.used("d2", later(3))

    await any_store.write(write)
    keys = await any_store.read(lambda tx: tx.access.all())
    assert [key.digest for key in keys] == ["d1", "d2", "s1", "s2"]
    assert keys[1].used_at == later(3)
    assert (keys[2].kind, keys[2].expires_at, keys[2].parent) == (KeyKind.SESSION, later(9), "d1")
    assert await any_store.read(lambda tx: tx.access.find("d3")) is None
    await any_store.write(lambda tx: tx.access.remove("d1"))
    assert [k.digest for k in await any_store.read(lambda tx: tx.access.all())] == ["d2", "s2"]
    assert await any_store.write(lambda tx: tx.access.take_code("c1", NOW)) is None
    await any_store.write(lambda tx: tx.access.remove_expired(later(9)))
    assert [k.digest for k in await any_store.read(lambda tx: tx.access.all())] == ["d2"]


async def test_a_code_is_taken_once_and_in_time(any_store: Database) -> None:
    await any_store.write(lambda tx: tx.access.add_code("c1", "d1", later(5)))
    await any_store.write(lambda tx: tx.access.add_code("c2", "d1", later(5)))
    taken = [await any_store.write(lambda tx: tx.access.take_code("c1", NOW)) for _ in range(2)]
    assert taken == ["d1", None]
    assert await any_store.write(lambda tx: tx.access.take_code("c2", later(5))) is None


async def test_the_second_answer_under_a_key_undoes_its_transaction(any_store: Database) -> None:
    assert await any_store.read(lambda tx: tx.access.reply("k")) is None
    await any_store.write(lambda tx: tx.access.keep_reply("k", "POST x", 201, "{}", NOW))
    assert await any_store.read(lambda tx: tx.access.reply("k")) == ("POST x", 201, "{}")

    def act_again(tx: Tx) -> None:
        furnish(tx)
        tx.access.keep_reply("k", "POST x", 201, "{}", NOW)

    with pytest.raises(Conflict, match="Idempotency-Key"):
        await any_store.write(act_again)
    with pytest.raises(TaskNotFound):
        await any_store.read(lambda tx: tx.tasks.get(TASK))


async def test_rows_belong_to_their_task(any_store: Database) -> None:
    await any_store.write(furnish)
    with pytest.raises(IntegrityError):
        await any_store.write(lambda tx: tx.effects.add(an_effect(task="task-9")))
    with pytest.raises(IntegrityError):
        await any_store.write(lambda tx: tx.tasks.add(a_task("x", pipeline_version=9)))


async def test_phases_stand_in_their_order_and_one_is_at_work(any_store: Database) -> None:
    def phase(number: int, position: int, status: PhaseStatus) -> Phase:
        return Phase(
            id=f"phase-{number}",
            task_id=TASK,
            position=position,
            number=number,
            name=f"Part {number}",
            description="Words",
            complexity="high",
            status=status,
            created_at=later(number),
        )

    def write(tx: Tx) -> None:
        furnish(tx)
        tx.phases.add(phase(1, 1, PhaseStatus.PENDING))
        tx.phases.add(phase(2, 0, PhaseStatus.ACTIVE))

    await any_store.write(write)
    found = await any_store.read(lambda tx: tx.phases.of_task(TASK))
    assert found == [phase(2, 0, PhaseStatus.ACTIVE), phase(1, 1, PhaseStatus.PENDING)]
    with pytest.raises(IntegrityError):
        await any_store.write(lambda tx: tx.phases.update("phase-1", status=PhaseStatus.ACTIVE))
    with pytest.raises(PhaseNotFound):
        await any_store.write(lambda tx: tx.phases.update("phase-9", position=1))
    await any_store.write(lambda tx: tx.phases.update("phase-2", status=PhaseStatus.DONE))
    await any_store.write(lambda tx: tx.phases.remove("phase-2"))
    assert [p.id for p in await any_store.read(lambda tx: tx.phases.of_task(TASK))] == ["phase-1"]
    await any_store.write(lambda tx: tx.phases.update("phase-1", status=PhaseStatus.ACTIVE))
