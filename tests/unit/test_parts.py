"""Runs that work side by side, and what they come to together."""

from dataclasses import replace
from typing import Any

import pytest

from agents_manager.domain import parts
from agents_manager.domain.course import wave
from agents_manager.domain.run import AgentError, ErrorClass, Run, RunStatus
from agents_manager.domain.stages.outputs import Batch
from tests.unit.test_course import run

ASKING = {"needs_info"}
ERROR = AgentError(error="no", error_class=ErrorClass.CRASH)
FAILED: dict[str, Any] = {"status": RunStatus.FAILED, "error": ERROR, "outcome": None}
STOPPED: dict[str, Any] = {"status": RunStatus.CANCELLED, "outcome": None}
ASKS: dict[str, Any] = {"outcome": "needs_info"}
CALLED_OFF: dict[str, Any] = {**STOPPED, "started_at": None}


def member(name: str, part: str, **fields: Any) -> Run:
    begun = run(name, "build-agent", 0, part=part)
    return replace(begun, **{"started_at": begun.created_at, **fields})


@pytest.mark.parametrize(
    ("endings", "speaks"),
    [
        ([{}, {}, {}], "3"),
        ([{}, ASKS, {}], "2"),
        ([ASKS, FAILED, ASKS], "2"),
        ([FAILED, {}, STOPPED], "3"),
        ([FAILED, FAILED, {}], "1"),
    ],
)
def test_the_worst_ending_is_that_of_the_group(endings: list[Any], speaks: str) -> None:
    members = [member(str(n), f"1-{n}", **ending) for n, ending in enumerate(endings, 1)]
    assert parts.speaker(members, ASKING).id == speaks
    undone = [one.id for one in parts.undone(members, ASKING)]
    assert undone == [str(n) for n, ending in enumerate(endings, 1) if ending]


def test_of_each_part_the_newest_counts_and_of_groups_the_run_s_own() -> None:
    runs = [
        member("old", "1-1", **FAILED),
        member("a", "2-1", **FAILED),
        member("b", "2-10"),
        member("c", "2-2", **ASKS),
        member("a again", "2-1"),
        member("c called off", "2-2", **CALLED_OFF),
    ]
    assert [one.id for one in parts.beside(runs, runs[2])] == ["a again", "c", "b"]
    assert parts.new_group(runs, 2) == ["3-1", "3-2"]
    assert parts.new_group([], 1) == ["1-1"]


def test_what_never_began_is_undone_where_nothing_else_of_the_part_is_known() -> None:
    runs = [member("a", "1-1"), member("b", "1-2", **CALLED_OFF)]
    assert [one.id for one in parts.undone(runs, ASKING)] == ["b"]


def test_a_run_that_does_all_of_the_work_has_nobody_beside_it() -> None:
    runs = [member("a", "1-1", **FAILED), run("d", "debugger", 2)]
    assert parts.undone(runs, ASKING) == []
    assert parts.beside(runs, runs[1]) == []
    assert parts.undone([], ASKING) == []


@pytest.mark.parametrize(
    ("batches", "taken"),
    [
        (["a", "b", "c"], [1, 2, 3]),
        (["a", "a", "b"], [1, 3]),
        (["a", "a b", "b"], [1]),
        (["a", "b", "c", "d", "e", "f"], [1, 2, 3, 4, 5]),
        ([], []),
    ],
)
def test_a_wave_is_of_one_cycle_and_shares_no_file(batches: list[str], taken: list[int]) -> None:
    """A batch waits for every earlier one that it shares a file with, taken or not."""
    planned = [
        Batch.model_validate(
            {"number": n, "features": [{"id": "F1", "create": files.split(), "notes": ""}]}
        )
        for n, files in enumerate(batches, 1)
    ]
    assert [batch.number for batch in wave(planned)] == taken
    if len(planned) > 5:
        assert [batch.number for batch in wave(planned[5:])] == [6]


def test_a_test_that_two_batches_name_is_shared_too() -> None:
    tests = [{"path": "tests/test_a.py", "description": "all of it"}]
    planned = [
        Batch.model_validate(
            {"number": n, "features": [{"id": "F1", "create": [f"{n}.py"], "tests": tests}]}
        )
        for n in (1, 2)
    ]
    assert [batch.number for batch in wave(planned)] == [1]
