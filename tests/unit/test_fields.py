"""What the words of a task may be."""

from typing import Any

import pytest

from agents_manager.domain import fields


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("title", "  Two \n words\t", "Two words"),
        ("title", "x" * 200, "x" * 200),
        ("description", "  as it is \n", "  as it is \n"),
        ("type", "Bug ", "bug"),
        ("priority", "URGENT", "urgent"),
        ("size", "small", "small"),
        ("complexity", "high", "high"),
        ("tags", ["UI", " #ui ", "Zwei Wörter", "Zwei Wo\u0308rter"], ("ui", "zwei-wörter")),
        ("tags", ["a\u202eb"], ("a-b",)),
        ("tags", [], ()),
        ("acceptance_criteria", [" It works. ", "It works."], ("It works.",)),
        ("dependencies", ["abcd", "abcd"], ("abcd", "abcd")),
    ],
)
def test_words_are_kept_in_one_form(name: str, given: Any, kept: Any) -> None:
    assert fields.settled({name: given}) == ({name: kept}, [])


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("title", " \n", "a task needs a title"),
        ("title", "x" * 201, "at most 200 characters"),
        ("title", "a\x00b", "NUL"),
        ("title", "a\udcff", "half a surrogate pair"),
        ("description", "x" * 200_001, "at most 200000 characters"),
        ("description", "a\udcff", "half a surrogate pair"),
        ("type", "bgu", 'there is no "bgu". Did you mean "bug"? feature, bug, chore, document'),
        ("type", "", 'there is no ""'),
        ("priority", "hihg", 'there is no "hihg". Did you mean "high"? low, medium, high, urgent'),
        ("priority", "1", 'there is no "1".'),
        ("priority", "a\x1b[31m" * 50, "…"),
        ("size", "xl", "small, medium, large"),
        ("complexity", "hard", "low, medium, high"),
        ("complexity", "a\udcff", "half a surrogate pair"),
        ("tags", ["ui", " # "], '"#" is no word'),
        ("tags", [""], '"" is no word'),
        ("tags", ["x" * 51], "is longer than 50 characters"),
        ("tags", [str(n) for n in range(51)], "at most 50"),
        ("tags", ["a\udcff"], "half a surrogate pair"),
        ("acceptance_criteria", ["a", " "], "one of them is empty"),
        ("acceptance_criteria", ["x" * 2001], "at most 2000 characters each"),
        ("acceptance_criteria", [str(n) for n in range(101)], "at most 100"),
        ("dependencies", ["abcd"] * 101, "at most 100"),
        ("dependencies", ["a\udcff"], "half a surrogate pair"),
    ],
)
def test_bad_words_are_refused_by_name(name: str, given: Any, said: str) -> None:
    kept, [problem] = fields.settled({name: given})
    assert kept == {}
    assert problem.startswith(f"{name}: ")
    assert said in problem
    assert len(problem) < 200


def test_every_fault_is_named_at_once() -> None:
    kept, problems = fields.settled({"title": "", "size": "xl", "priority": "low"})
    assert kept == {"priority": "low"}
    assert [p.partition(":")[0] for p in problems] == ["title", "size"]


def test_a_project_may_know_more_types() -> None:
    assert fields.settled({"type": "spike"}, ("bug", "spike")) == ({"type": "spike"}, [])
