"""A task's past, told under the names that statuses have after migrations."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from agents_manager.domain import pipeline
from agents_manager.domain.ids import HistoryId, TaskId
from agents_manager.domain.task import SYSTEM, History, Result
from agents_manager.domain.trail import MIGRATION, as_named_now, origin, rounds


def entry(source: str, to: str, trigger: str = "manual", **statuses: str) -> History:
    payload: dict[str, Any] | None = {"statuses": statuses} if trigger == MIGRATION else None
    return History(
        id=HistoryId(f"{source}-{to}"),
        task_id=TaskId("t"),
        version=1,
        result=Result.DONE,
        transition_id=None,
        source=source,
        to=to,
        trigger=trigger,
        outcome=None,
        actor=SYSTEM,
        payload=payload,
        guards=(),
        hooks=(),
        reason=None,
        time=datetime(2026, 1, 1, tzinfo=UTC),
    )


def back(move: History) -> History:
    return replace(move, source=move.to, to=move.source, result=Result.ROLLED_BACK, hooks=())


def named(*entries: History) -> list[tuple[str, str]]:
    return [(e.source, e.to) for e in as_named_now(entries)]


def test_names_follow_every_migration() -> None:
    past = (
        entry("open", "work"),
        entry("work", "code", MIGRATION, work="code"),
        entry("code", "ask"),
        entry("ask", "ask", MIGRATION, code="build"),
        entry("ask", "build"),
    )
    assert named(*past) == [
        ("open", "build"),
        ("build", "build"),
        ("build", "ask"),
        ("ask", "ask"),
        ("ask", "build"),
    ]


def test_names_may_change_places_and_come_to_mean_something_new() -> None:
    swapped = entry("b", "a", MIGRATION, a="b", b="a")
    assert named(entry("a", "b"), swapped, entry("a", "b")) == [("b", "a"), ("a", "a"), ("a", "b")]
    left = entry("a", "b", MIGRATION, a="b")
    assert named(entry("x", "a"), left, entry("b", "a")) == [("x", "b"), ("b", "b"), ("b", "a")]


def test_a_migration_is_no_round_and_leaves_a_failure_one() -> None:
    moves = [entry("open", "work"), entry("work", "failed", "agent_error")]
    migrated = entry("failed", "failed", MIGRATION)
    again = entry("failed", "work")
    assert rounds([*moves, again]) == rounds([*moves, migrated, again]) == {"work": 0}


GRANT = replace(entry("work", "work"), result=Result.GRANTED)


def test_what_was_taken_back_leaves_the_rounds_as_they_were() -> None:
    rework = [entry("open", "work"), entry("work", "review"), entry("review", "work")]
    for move in (
        entry("work", "review"),
        entry("work", "asks", "prompt_response"),
        entry("work", "failed", "agent_error"),
        replace(entry("work", "work"), result=Result.GRANTED),
    ):
        assert rounds([*rework, move, back(move)]) == rounds(rework)
    assert rounds([*rework, rework[-2], GRANT, back(rework[-2])]) == rounds([*rework, GRANT])


def test_what_was_taken_back_is_no_origin() -> None:
    document = {
        "id": "p",
        "name": "P",
        "statuses": [
            {"id": "open", "category": "open"},
            {"id": "plan", "category": "active"},
            {"id": "ask", "category": "waiting", "prompt": {"type": "choice"}},
            {"id": "work", "category": "active"},
        ],
        "transitions": [],
    }
    asked = [entry("open", "plan"), entry("plan", "ask")]
    went_on = entry("ask", "work", "prompt_response")
    graph = pipeline.parse(document)
    assert origin(graph, "ask", asked) == "plan"
    assert origin(graph, "ask", [*asked, went_on, back(went_on)]) == "plan"
