"""Sums over runs, the same on both databases. What is unknown is counted beside them."""

from typing import Any

import pytest

from agents_manager.domain.budget import BudgetScope, Grant
from agents_manager.domain.cost import By, Merges, Share, Spent, Work
from agents_manager.domain.ids import ProjectId, PromptId, TaskId
from agents_manager.domain.run import CostBasis, Run, RunStatus
from agents_manager.domain.task import ArtifactType, PullState, Result
from agents_manager.flow.ports import Tx
from agents_manager.store.database import Database
from tests.contract.store_values import (
    a_history,
    a_project,
    a_prompt,
    a_pull,
    a_run,
    a_task,
    an_artifact,
    furnish,
    later,
)

DAY = 86_400
OTHER = ProjectId("project-2")


def a_cost(id: str, task: str, usd: float | None, **fields: Any) -> Run:
    """A run that ended; it took ten seconds."""
    begun = fields.pop("at", 0)
    filled = {
        "status": RunStatus.COMPLETED,
        "cost_usd": usd,
        "cost_basis": None if usd is None else CostBasis.REPORTED,
        "created_at": later(begun),
        "started_at": later(begun),
        "ended_at": later(begun + 10),
    }
    return a_run(id, task, **{**filled, **fields})


def scene(tx: Tx) -> None:
    furnish(tx, "task-1", "task-2")
    tx.projects.add(a_project("project-2", name="Other"))
    tx.tasks.add(a_task("task-3", project_id=OTHER, title="Elsewhere"))
    tx.runs.add(a_cost("a", "task-1", 0.1, agent="codex", model="m"))
    tx.runs.add(a_cost("b", "task-1", 0.2, agent="codex", model="m", at=DAY))
    tx.runs.add(a_cost("c", "task-1", None, agent="claude", status=RunStatus.FAILED))
    tx.runs.add(a_cost("d", "task-2", None, agent="claude", at=DAY))
    tx.runs.add(a_cost("e", "task-3", 5.0, agent="claude", project_id=OTHER, at=2 * DAY))
    tx.runs.add(a_run("f", "task-3", project_id=OTHER, agent="claude"))


def spent(runs: int, unknown: int, usd: float | None) -> Spent:
    return Spent(runs=runs, unknown=unknown, cost_usd=usd)


@pytest.mark.parametrize(
    ("by", "shares"),
    [
        (By.PROJECT, [("project-2", "Other", 1, 0, 5.0), ("project-1", "Project-1", 4, 2, 0.3)]),
        (
            By.TASK,
            [
                ("task-3", "Elsewhere", 1, 0, 5.0),
                ("task-1", "Add a flag", 3, 1, 0.3),
                ("task-2", "Add a flag", 1, 1, None),
            ],
        ),
        (By.AGENT, [("claude", "claude", 3, 2, 5.0), ("codex", "codex", 2, 0, 0.3)]),
        (By.MODEL, [(None, None, 3, 2, 5.0), ("m", "m", 2, 0, 0.3)]),
        (
            By.DAY,
            [
                ("2026-03-03", "2026-03-03", 1, 0, 5.0),
                ("2026-03-02", "2026-03-02", 2, 1, 0.2),
                ("2026-03-01", "2026-03-01", 2, 1, 0.1),
            ],
        ),
    ],
)
async def test_cost_is_summed_by(any_store: Database, by: By, shares: list[Any]) -> None:
    await any_store.write(scene)
    report = await any_store.read(lambda tx: tx.figures.cost(by, project=None, since=None, limit=9))
    assert report.total == spent(5, 2, 5.3)
    assert report.left_out == 0
    assert report.shares == [
        Share(key=key, name=name, spent=spent(runs, unknown, usd))
        for key, name, runs, unknown, usd in shares
    ]


async def test_cost_of_a_project_since_a_time_and_the_dearest_first(any_store: Database) -> None:
    await any_store.write(scene)
    report = await any_store.read(
        lambda tx: tx.figures.cost(
            By.TASK, project=ProjectId("project-1"), since=later(DAY), limit=1
        )
    )
    assert report.total == spent(2, 1, 0.2)
    assert [s.key for s in report.shares] == ["task-1"]
    assert report.left_out == 1


@pytest.mark.parametrize(
    ("scope", "subject", "sum"),
    [
        (BudgetScope.RUN, "a", (1, 0, 0.1)),
        (BudgetScope.RUN, "f", (0, 0, None)),
        (BudgetScope.TASK, "task-1", (3, 1, 0.3)),
        (BudgetScope.PROJECT, "project-1", (4, 2, 0.3)),
        (BudgetScope.DAY, "2026-03-01", (2, 1, 0.1)),
        (BudgetScope.DAY, "2026-03-03", (1, 0, 5.0)),
        (BudgetScope.DAY, "2026-03-04", (0, 0, None)),
    ],
)
async def test_what_counts_for_a_budget(
    any_store: Database, scope: BudgetScope, subject: str, sum: Any
) -> None:
    await any_store.write(scene)
    assert await any_store.read(lambda tx: tx.figures.spent(scope, subject)) == spent(*sum)


async def test_grants_add_up_until_they_are_taken_back(any_store: Database) -> None:
    def grant(id: str, prompt: str, subject: str, usd: float) -> Grant:
        about = {"task_id": "task-1", "prompt_id": prompt, "scope": BudgetScope.PROJECT}
        return Grant(id=id, subject=subject, usd=usd, created_at=later(0), **about)

    def give(tx: Tx) -> None:
        furnish(tx, "task-1")
        for one in (grant("a", "p", "x", 1.5), grant("b", "q", "x", 2), grant("c", "q", "y", 9)):
            tx.grants.add(one)

    async def total(scope: BudgetScope, subject: str) -> float:
        return await any_store.read(lambda tx: tx.grants.total(scope, subject))

    await any_store.write(give)
    assert [await total(BudgetScope.PROJECT, one) for one in ("x", "y", "z")] == [3.5, 9, 0]
    assert await total(BudgetScope.TASK, "x") == 0
    await any_store.write(lambda tx: tx.grants.take_back(PromptId("q")))
    assert [await total(BudgetScope.PROJECT, one) for one in ("x", "y")] == [1.5, 0]
    await any_store.write(lambda tx: tx.tasks.delete(TaskId("task-1")))
    assert await total(BudgetScope.PROJECT, "x") == 0


async def test_nothing_has_run(any_store: Database) -> None:
    await any_store.write(furnish)
    for by in By:
        report = await any_store.read(
            lambda tx, by=by: tx.figures.cost(by, project=None, since=None, limit=9)
        )
        assert (report.total, report.shares, report.left_out) == (spent(0, 0, None), [], 0)
    stats = await any_store.read(lambda tx: tx.figures.stats(project=None, since=None))
    assert stats.agents == []
    assert (stats.work.success_rate, stats.work.mean_duration_s) == (None, None)
    assert stats.merges == Merges(tasks=0, review_rounds=None, unknown=0, cost_per_task_usd=None)


def merge(tx: Tx, task: str, number: int, **fields: Any) -> None:
    filled = {"number": number, "state": PullState.MERGED, "head_branch": f"am/{task}/{number}"}
    tx.pulls.add(a_pull(f"pull-{number}", task, **{**filled, **fields}))


def merged(tx: Tx) -> None:
    """One is merged, one only as far as its first phase, one is open."""
    scene(tx)
    tx.runs.add(a_cost("g", "task-1", 1.0, agent="reviewer", mode="review"))
    merge(tx, "task-1", 1)
    merge(tx, "task-1", 2)
    tx.tasks.add_artifact(
        an_artifact(task="task-2", type=ArtifactType.BRANCH, key="am/whole", label="am/whole")
    )
    merge(tx, "task-2", 3, base_branch="am/whole")
    merge(tx, "task-3", 4, project_id=OTHER, state=PullState.OPEN)
    reviews = (Result.DONE, Result.DONE, Result.REFUSED)
    for number, result in enumerate(reviews, 2):
        tx.history.add(
            a_history(f"h-{number}", version=number, trigger="review_submitted", result=result)
        )
    tx.history.add(a_history("h-9", version=9))


async def test_how_runs_went_and_what_merged_tasks_took(any_store: Database) -> None:
    await any_store.write(merged)
    report = await any_store.read(lambda tx: tx.figures.stats(project=None, since=None))
    assert report.work == Work(
        completed=5,
        failed=1,
        cancelled=0,
        live=0,
        success_rate=0.8333,
        mean_duration_s=10,
        spent=spent(6, 2, 6.3),
    )
    # One of its runs failed and nobody knows what that cost: neither does anybody of the task.
    assert report.merges == Merges(tasks=1, review_rounds=3, unknown=1, cost_per_task_usd=None)
    agents = {a.agent: a for a in report.agents}
    assert list(agents) == ["claude", "codex", "reviewer"]
    assert agents["claude"].work.success_rate == 0.6667
    assert agents["codex"].merges == Merges(
        tasks=1, review_rounds=3, unknown=0, cost_per_task_usd=0.3
    )
    assert agents["reviewer"].merges.tasks == 0


async def test_stats_of_a_project_since_a_time(any_store: Database) -> None:
    await any_store.write(merged)

    for project, since, expected in (
        ("project-1", 0, (5, 1)),
        ("project-1", DAY, (2, 0)),
        ("project-2", 0, (1, 0)),
    ):
        report = await any_store.read(
            lambda tx, p=project, t=since: tx.figures.stats(project=ProjectId(p), since=later(t))
        )
        assert (report.work.spent.runs, report.merges.tasks) == expected


async def test_runs_reviews_and_work(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx, "task-1", "task-2")
        error = {"error": "No.", "error_class": "crash", "output": "", "resets_at": None}
        tx.runs.add(a_cost("a", "task-1", None, model="m", status=RunStatus.FAILED, error=error))
        tx.runs.add(a_cost("b", "task-1", None, at=DAY))
        tx.runs.add(a_run("c", "task-2"))
        said: dict[str, Any] = {"type": "review", "status": "responded"}
        for id, run, decision, seconds in (
            ("p1", "a", "changes_requested", 0),
            ("p2", None, "approved", DAY),
        ):
            answer = {"response": {"decision": decision}, "responded_at": later(seconds)}
            tx.prompts.add(a_prompt(id, "task-1", run_id=run, **said, **answer))
        tx.prompts.add(a_prompt("p3", "task-2"))

    await any_store.write(write)

    def read(tx: Tx) -> None:
        runs = tx.figures.runs(project=None, since=None)
        assert {(r.agent, r.model, r.status, r.reason) for r in runs} == {
            ("scripted", "m", "failed", "crash"),
            ("scripted", None, "completed", None),
        }
        assert len(tx.figures.runs(project=ProjectId("project-1"), since=later(DAY))) == 1
        reviews = tx.figures.reviews(project=None, since=None)
        assert {(r.task_id, r.approved, r.model) for r in reviews} == {
            ("task-1", False, "m"),
            ("task-1", True, None),
        }
        assert len(tx.figures.reviews(project=ProjectId("project-1"), since=later(DAY))) == 1
        assert tx.figures.worked([TaskId("task-1"), TaskId("task-2")]) == {"task-1": 20}
        assert tx.figures.worked([]) == {}

    await any_store.read(read)
