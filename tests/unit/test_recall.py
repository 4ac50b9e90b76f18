"""Which findings a task is told, in which order, and why."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agents_manager.domain import recall
from agents_manager.domain.handoff import Level
from agents_manager.domain.ids import TaskId
from agents_manager.domain.knowledge import Fit, Node, NodeKind, NodeState
from agents_manager.domain.recall import About
from tests.contract.store_values import NOW, a_task
from tests.knowledge import finding

ABOUT = About(
    task_id=TaskId("t"), complexity="low", tags=("auth",), files=("src/jwt.ts",), words=("token",)
)


def fit(text: str, kind: NodeKind = NodeKind.PATTERN, **fields: Any) -> Fit:
    of_fit = {name: fields.pop(name) for name in ("tags", "files", "words") if name in fields}
    found = fields.pop("text_fit", 0.0)
    node = finding(text, kind, **fields)
    return Fit(node=node, text=found, **{"tags": (), "files": (), "words": (), **of_fit})


def texts(chosen: recall.Chosen) -> list[str]:
    return [hit.node.text for hit in chosen.hits]


def reasons(chosen: recall.Chosen) -> dict[str, str]:
    return {left.node.text: left.reason for left in chosen.left_out}


def test_what_has_more_in_common_comes_first_and_says_why() -> None:
    candidates = [
        fit("by words", words=("token", "refresh"), text_fit=0.5),
        fit("by file", files=("src/jwt.ts",)),
        fit("by both", tags=("auth",), files=("src/jwt.ts",)),
    ]
    chosen = recall.chosen(candidates, ABOUT)
    assert texts(chosen) == ["by both", "by file", "by words"]
    assert [hit.why for hit in chosen.hits] == [
        ("tag auth", "file src/jwt.ts"),
        ("file src/jwt.ts",),
        ("words: token, refresh",),
    ]


def test_one_common_word_is_not_enough() -> None:
    chosen = recall.chosen([fit("far off", words=("token",), text_fit=1.0)], ABOUT)
    assert reasons(chosen) == {"far off": "has too little in common with the task"}


@pytest.mark.parametrize(("complexity", "most"), [("low", 3), ("medium", 6), ("high", 10)])
def test_harder_tasks_are_told_more(complexity: str, most: int) -> None:
    candidates = [fit(f"n{number:02}", tags=("auth",)) for number in range(12)]
    chosen = recall.chosen(candidates, replace(ABOUT, complexity=complexity))
    assert len(chosen.hits) == most
    told = f"beyond the limit of {most} for a task of {complexity} complexity (scored 2)"
    assert reasons(chosen)["n11"] == told


def test_long_findings_take_the_room_of_others() -> None:
    long = "x" * 900
    chosen = recall.chosen([fit(f"{n}{long}", tags=("auth",)) for n in range(3)], ABOUT)
    assert len(chosen.hits) == 2
    assert [left.reason for left in chosen.left_out] == [
        "no room: all findings have 2,400 characters together (scored 2)"
    ]


def test_retired_low_told_and_answered_ones_are_left_out() -> None:
    tags = ("auth",)
    told, asked = fit("told", tags=tags), fit("asked", NodeKind.QUESTION, tags=tags)
    candidates = [
        fit("retired", tags=tags, state=NodeState.RETIRED),
        fit("low", NodeKind.GOTCHA, tags=tags, severity=Level.LOW),
        told,
        asked,
    ]
    chosen = recall.chosen(candidates, ABOUT, told={told.node.id}, answered={asked.node.id})
    assert chosen.hits == ()
    assert reasons(chosen) == {
        "retired": "retired",
        "low": "low severity",
        "told": "is in the prompt already",
        "asked": "a decision answers it",
    }


def test_what_is_stale_or_did_not_help_counts_less() -> None:
    tags = ("auth",)
    candidates = [
        fit("stale", tags=tags, state=NodeState.STALE),
        fit("useless", tags=tags, used=8, helpful=0),
        fit("fresh", tags=tags),
        fit("confirmed", tags=tags, confirmed_at=NOW),
    ]
    chosen = recall.chosen(candidates, replace(ABOUT, complexity="high"))
    assert texts(chosen) == ["confirmed", "fresh", "stale", "useless"]
    by_text = {hit.node.text: hit for hit in chosen.hits}
    assert by_text["stale"].why == ("tag auth", "stale, which counts half")
    assert by_text["useless"].why == ("tag auth", "helped in 0 of 8 runs")
    assert recall.sentence(by_text["stale"].node).startswith(
        "- [pattern, stale: its file has changed since] stale"
    )


def test_both_sides_of_a_contradiction_are_shown_as_one() -> None:
    one = fit("Cookies", tags=("auth",), state=NodeState.CONTRADICTED, confirmed_at=NOW)
    other = fit("Storage", tags=("auth",), state=NodeState.CONTRADICTED)
    against = {one.node.id: other.node, other.node.id: one.node}
    chosen = recall.chosen([one, other], ABOUT, against=against)
    assert texts(chosen) == ["Cookies"]
    shown = recall.sentence(one.node, other.node)
    assert "Cookies" in shown
    assert "But: Storage" in shown


def test_the_memory_begins_with_the_newest_and_ends_with_what_never_helped() -> None:
    def high(text: str, day: int, **fields: Any) -> Node:
        at = NOW + timedelta(days=day)
        return finding(text, NodeKind.GOTCHA, severity=Level.HIGH, updated_at=at, **fields)

    nodes = [
        high("old", 1),
        high("useless", 9, used=9),
        high("new", 5),
        high("proven", 3, used=4, helpful=4),
    ]
    assert texts(recall.remembered(nodes)) == ["new", "proven", "old", "useless"]
    many = recall.remembered([high(f"g{n:02}", n) for n in range(12)])
    assert texts(many)[0] == "g11"
    assert len(many.hits) == recall.MEMORY
    assert [left.node.text for left in many.left_out] == ["g01", "g00"]
    long = recall.remembered([high(f"{n}" + "x" * 900, n) for n in range(5)])
    assert len(long.hits) == 3


def test_files_and_words_of_a_task() -> None:
    task = a_task(
        title="Refresh the token",
        objective="",
        tags=("Log In",),
        description="See src/auth/jwt.ts, `config.py` and e.g. docs/how-to/setup.md. Version 1.2.",
    )
    about = recall.about(task, ["The phase"], ["lib/a.c"])
    assert about.files == ("lib/a.c", "src/auth/jwt.ts", "config.py", "docs/how-to/setup.md")
    assert about.tags == ("log-in",)
    assert about.words[:3] == ("refresh", "token", "phase")
