"""How work went, from what happened. What nobody knows is never 0."""

from datetime import UTC, datetime, timedelta

from agents_manager.domain.ids import TaskId
from agents_manager.domain.performance import (
    Done,
    Failure,
    FirstPass,
    Ran,
    Reviewed,
    Spread,
    report,
)
from agents_manager.domain.run import RunStatus

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NONE = Spread(number=0, mean=None, median=None)


def ran(
    agent: str, status: RunStatus, seconds: float | None = 10, reason: str | None = None
) -> Ran:
    ended = None if seconds is None else NOW + timedelta(seconds=seconds)
    return Ran(agent, "m", status, NOW, ended, reason)


def reviewed(task: str, after_s: float, *, approved: bool) -> Reviewed:
    return Reviewed(TaskId(task), approved, NOW + timedelta(seconds=after_s), "a", "m")


def test_nothing_happened() -> None:
    told = report(None, [], [], [])
    assert (told.lead_s, told.review_rounds) == (NONE, NONE)
    assert told.first_pass == FirstPass(reviewed=0, approved=0, rate=None)
    assert (told.failures, told.agents, told.days) == ([], [], [])


def test_sums() -> None:
    done = [
        Done(TaskId("t1"), NOW, 100, 40, 20),
        Done(TaskId("t2"), NOW + timedelta(days=1), 300, 0, 30),
        Done(TaskId("t3"), NOW, 200, 0, 0),
    ]
    runs = [
        ran("a", RunStatus.COMPLETED),
        ran("a", RunStatus.FAILED, 30, "crash"),
        ran("a", RunStatus.TIMEOUT, reason="timeout"),
        ran("a", RunStatus.CANCELLED, reason="cancelled"),
        ran("b", RunStatus.RUNNING, None),
    ]
    reviews = [
        reviewed("t1", 5, approved=True),
        reviewed("t1", 1, approved=False),
        reviewed("t2", 1, approved=True),
    ]
    told = report(NOW, done, runs, reviews)
    assert told.lead_s == Spread(number=3, mean=200, median=200)
    assert told.waiting_s.mean == 13.333
    assert told.review_rounds == Spread(number=2, mean=1.5, median=1.5)
    assert told.first_pass == FirstPass(reviewed=2, approved=1, rate=0.5)
    assert told.failures == [Failure(reason="crash", runs=1), Failure(reason="timeout", runs=1)]
    first, second = told.agents
    assert (first.agent, first.completed, first.failed) == ("a", 1, 2)
    assert first.took_s == Spread(number=4, mean=15, median=10)
    assert first.first_pass.rate == 0.5
    assert (second.took_s, second.first_pass.rate) == (NONE, None)
    assert [(d.day, d.finished, d.completed, d.failed) for d in told.days] == [
        ("2026-03-02", 1, 0, 0),
        ("2026-03-01", 2, 1, 2),
    ]
