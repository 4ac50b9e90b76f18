"""What the board reads, the same on both databases."""

from typing import Any

from agents_manager.domain.board import CardCost, CardPhases, CardPull, Place, TaskRow
from agents_manager.domain.ids import ProjectId, TaskId
from agents_manager.domain.phase import Phase, PhaseStatus
from agents_manager.domain.run import RunStatus
from agents_manager.domain.task import PullState, Result
from agents_manager.flow.ports import Tx
from agents_manager.store.database import Database
from tests.contract.store_values import (
    NOW,
    a_history,
    a_project,
    a_prompt,
    a_pull,
    a_run,
    a_task,
    an_effect,
    furnish,
    later,
)

OPEN, DONE = Place("simple", 1, "open"), Place("simple", 1, "done")
IDS = [TaskId("task-1"), TaskId("task-2")]


def a_phase(number: int, status: PhaseStatus) -> Phase:
    return Phase(
        id=f"phase-{number}",
        task_id=IDS[0],
        position=number,
        number=number,
        name="P",
        description="",
        complexity="low",
        status=status,
        created_at=NOW,
    )


def scene(tx: Tx) -> None:
    furnish(tx, "task-1", "task-2")
    tx.projects.add(a_project("project-2"))
    elsewhere: dict[str, Any] = {"project_id": ProjectId("project-2"), "status": "done"}
    for number in (3, 4, 5):
        tx.tasks.add(a_task(f"task-{number}", updated_at=later(number), **elsewhere))
    tx.tasks.add(a_task("task-6", dependencies=("task-1", "task-3")))
    for number, status in enumerate((PhaseStatus.DONE, PhaseStatus.SKIPPED, PhaseStatus.ACTIVE)):
        tx.phases.add(a_phase(number, status))
    tx.runs.add(a_run("r1", status=RunStatus.COMPLETED, started_at=NOW, cost_usd=0.1))
    tx.runs.add(a_run("r2", status=RunStatus.FAILED, started_at=NOW, cost_usd=0.2))
    tx.runs.add(a_run("r3", status=RunStatus.RUNNING, started_at=NOW))
    tx.runs.add(a_run("r4", "task-2"))
    for number, state in enumerate((PullState.CLOSED, PullState.OPEN, PullState.MERGED), 1):
        head = f"am/{number}"
        tx.pulls.add(a_pull(f"pull-{number}", number=number, state=state, head_branch=head))
    tx.prompts.add(a_prompt("p1"))
    tx.effects.add(an_effect("e1"))
    tx.effects.add(an_effect("e2", kind="notify"))
    tx.effects.add(an_effect("e3", status="done"))


async def test_what_stands_where(any_store: Database) -> None:
    await any_store.write(scene)

    def read(tx: Tx) -> list[Any]:
        return [
            tx.board.counts(None),
            tx.board.counts(ProjectId("project-1")),
            tx.board.tasks([OPEN], None),
            tx.board.tasks([OPEN, DONE], ProjectId("project-2"), most=2),
            tx.board.tasks([Place("simple", 2, "open"), Place("other", 1, "done")], None),
            tx.board.tasks([], None),
        ]

    counts, of_one, standing, newest, other_versions, nowhere = await any_store.read(read)
    assert counts == [(DONE, 3), (OPEN, 3)]
    assert of_one == [(OPEN, 3)]
    assert {task.id for task in standing} == {"task-1", "task-2", "task-6"}
    assert standing[0] == TaskRow(
        *(
            standing[0].id,
            ProjectId("project-1"),
            "Add a flag",
            "feature",
            "medium",
            ["cli", "größe"],
        ),
        *("simple", 1, "open", 1, NOW, None),
    )
    assert [task.id for task in newest] == ["task-5", "task-4"]
    assert (other_versions, nowhere) == ([], [])


async def test_what_belongs_to_cards(any_store: Database) -> None:
    await any_store.write(scene)

    def read(tx: Tx) -> None:
        assert tx.board.costs(IDS) == {"task-1": CardCost(0.3, 1)}
        assert tx.board.phases(IDS) == {"task-1": CardPhases(2, 3)}
        assert tx.board.pulls(IDS) == {"task-1": CardPull(2, PullState.OPEN)}
        assert [(p.task_id, p.id, p.type) for p in tx.board.prompts()] == [
            ("task-1", "p1", "info_request")
        ]
        assert {(r.id, r.status) for r in tx.board.runs()} == {("r3", "running"), ("r4", "queued")}
        assert [(e.task_id, e.id, e.due_at) for e in tx.board.effects()] == [("task-1", "e1", NOW)]
        awaited = tx.board.awaited([TaskId("task-6")])
        assert {(one.task_id, one.place) for one in awaited} == {("task-6", DONE), ("task-6", OPEN)}
        assert len({(one.id, one.title) for one in awaited}) == 2
        for found in (tx.board.costs, tx.board.phases, tx.board.pulls, tx.board.awaited):
            assert not found([])

    await any_store.read(read)


async def test_the_last_answer_counts(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx, "task-1", "task-2")
        closed: dict[str, Any] = {"status": "responded", "type": "choice"}
        tx.prompts.add(a_prompt("p2", response={"choice_id": "stay"}, **closed))
        tx.prompts.add(a_prompt("p1", created_at=later(1), response={"choice_id": "x"}, **closed))
        tx.prompts.add(a_prompt("p3", "task-2"))

    await any_store.write(write)
    found = await any_store.read(lambda tx: tx.board.last_answers(IDS))
    assert found == {"task-1": {"choice_id": "x"}, "task-2": None}


async def test_only_the_past_of_those_that_came_again_is_read(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx, "task-1", "task-2", "task-3", "task-4")
        for number in (1, 2):
            tx.history.add(a_history(f"a{number}", "task-1"))
            tx.history.add(a_history(f"b{number}", "task-2", trigger="prompt_response"))
            tx.history.add(a_history(f"c{number}", "task-3", to="elsewhere"))
        tx.history.add(a_history("a3", "task-1", result=Result.REFUSED))
        named = {"statuses": {"old": "doing"}}
        tx.history.add(a_history("d1", "task-4", trigger="migration", payload=named))

    await any_store.write(write)
    ids = [TaskId(f"task-{n}") for n in (1, 2, 3, 4)]
    found = await any_store.read(lambda tx: tx.board.steps(ids, ["doing"]))
    assert [(s.task_id, s.to, s.hooks[0].name) for s in found] == [
        *[("task-1", "doing", "start_agent")] * 2,
        ("task-4", "doing", "start_agent"),
    ]
    assert [s.payload for s in found] == [None, None, {"statuses": {"old": "doing"}}]


async def test_the_moves_of_a_pipeline(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx, "task-1", "task-2")
        tx.history.add(a_history("b", "task-2"))
        tx.history.add(a_history("a", "task-1", time=later(5)))
        tx.history.add(a_history("c", "task-2", result=Result.REFUSED))

    await any_store.write(write)
    project = ProjectId("project-1")
    found = await any_store.read(lambda tx: tx.board.moves(project, pipeline="simple"))
    assert [(m.task_id, m.began, m.time, m.to) for m in found] == [
        ("task-1", NOW, later(5), "doing"),
        ("task-2", NOW, NOW, "doing"),
    ]
    assert await any_store.read(lambda tx: tx.board.moves(None, pipeline="other")) == []
    assert await any_store.read(lambda tx: tx.board.moves(None, since=later(1))) == []
