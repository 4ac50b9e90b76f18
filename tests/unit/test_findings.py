"""What becomes of the findings of a handoff."""

from dataclasses import replace
from typing import Any

import pytest

from agents_manager.domain import findings, likeness
from agents_manager.domain.findings import Finding
from agents_manager.domain.handoff import Handoff, Level
from agents_manager.domain.knowledge import NodeKind, NodeState
from tests.contract.store_values import a_node, a_source


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use AuthContext for the user state", "Always use AuthContext for user state."),
        ("The API limits requests to 100/min", "The payment API limits requests to 100/min"),
        ("Token refresh fails after midnight", "token refresh fails after the midnight"),
    ],
)
def test_findings_that_say_the_same(one: str, other: str) -> None:
    assert likeness.alike(one, other)
    assert likeness.alike(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The API limit is 100/min for all", "The API limit is 1000/min for all"),
        ("The timeout must be -1 for workers", "The timeout must be 1 for workers"),
        ("Use getUser for the session state", "Use setUser for the session state"),
        ("Validate the token before the save", "Save the token before the validate"),
        ("Cache the session token here", "Never cache the session token here"),
        ("Writers lock the table for readers", "Readers lock the table for writers"),
        ("Use the cache", "Use the cache of the gateway for tokens and sessions"),
        ("Use caches", "Use caches here"),
    ],
)
def test_findings_that_may_mean_something_else_stay_apart(one: str, other: str) -> None:
    assert not likeness.alike(one, other)
    assert not likeness.alike(other, one)


def test_a_person_looks_at_what_is_nearly_the_same() -> None:
    assert likeness.near("Never cache the session token here", "Cache the session token here")
    assert not likeness.near("Cache the token", "Lock the table for readers")


@pytest.mark.parametrize(
    ("said", "file", "lines"),
    [
        ("src/auth/jwt.ts", "src/auth/jwt.ts", None),
        ("`src/auth/jwt.ts:10-20`", "src/auth/jwt.ts", "10-20"),
        ("a.py:7", "a.py", "7-7"),
        ("Makefile", None, None),
        ("External payment API", None, None),
        ("../etc/passwd.txt", None, None),
        ("-rf/x.py", None, None),
        ("https://example.org/a.py", None, None),
        ("", None, None),
    ],
)
def test_places_that_are_nothing_but_a_file(said: str, file: str | None, lines: str | None) -> None:
    assert findings.place(said) == (file, lines)


def test_tags_are_lower_case_with_hyphens() -> None:
    assert findings.tags(["User State", "user_state", "Größe", "--", "x" * 90]) == (
        "user-state",
        "user_state",
        "grösse",
        "x" * 50,
    )


def test_a_handoff_tells_findings_of_three_kinds() -> None:
    handoff = Handoff.model_validate(
        {
            "outcome": "completed",
            "patterns_discovered": [
                {"pattern": "P", "location": "src/a.py", "applies_to": ["auth"]},
                {"pattern": "Q", "location": "everywhere"},
            ],
            "gotchas": [
                {"issue": "G", "discovered_in": "b.py", "mitigation": "M", "severity": "low"}
            ],
            "open_questions": [{"question": "W?", "blocking": True}],
        }
    )
    told = {one.text: one for one in findings.of(handoff, ["Web"])}
    assert [one.kind for one in told.values()] == ["pattern", "pattern", "gotcha", "question"]
    assert (told["P"].tags, told["P"].file) == (("auth",), "src/a.py")
    assert (told["Q"].tags, told["Q"].file) == (("web",), None)
    assert (told["G"].severity, told["G"].file) == (Level.LOW, "b.py")
    assert told["W?"].detail["blocking"] is True


def test_what_is_found_again_may_be_worse_and_holds() -> None:
    node = a_node(
        kind=NodeKind.GOTCHA,
        severity=Level.LOW,
        state=NodeState.STALE,
        tags=("auth",),
        detail={"mitigation": "As known", "discovered_in": ""},
    )
    again = Finding(
        kind=NodeKind.GOTCHA,
        text=node.text,
        severity=Level.HIGH,
        tags=("web",),
        detail={"mitigation": "Otherwise", "discovered_in": "here"},
    )
    assert findings.merged(node, again) == {
        "severity": Level.HIGH,
        "tags": ("auth", "web"),
        "detail": {"mitigation": "As known", "discovered_in": "here"},
        "state": NodeState.ACTIVE,
    }
    doubted = replace(node, state=NodeState.CONTRADICTED, severity=Level.HIGH)
    less = replace(again, severity=Level.LOW, tags=(), detail={})
    assert findings.merged(doubted, less) == {}


def test_another_kind_never_says_the_same() -> None:
    finding = Finding(kind=NodeKind.GOTCHA, text=a_node().text)
    assert findings.nearest(finding, [a_node()]) is None
    assert findings.nearest(replace(finding, kind=NodeKind.PATTERN), [a_node()]) == a_node()


A, B = "a" * 40, "b" * 40
FILE = a_source().file


@pytest.mark.parametrize(
    ("fields", "changed", "stale"),
    [
        ({}, {A: frozenset()}, False),
        ({}, {A: frozenset({FILE})}, True),
        ({}, {A: None}, True),
        ({"sources": (a_source(file=None),)}, {A: None}, False),
        ({"sources": (a_source(), a_source(commit=B))}, {A: {FILE}, B: frozenset()}, False),
        ({"confirmed_commit": B}, {A: {FILE}, B: frozenset()}, False),
        ({"confirmed_commit": B}, {B: {FILE}}, True),
    ],
)
def test_stale_is_what_every_source_of_has_changed(
    fields: dict[str, Any], changed: Any, stale: bool
) -> None:
    assert findings.is_stale(a_node(**fields), changed) is stale


QUESTIONS = {"questions": [{"id": "q1", "question": "Which store?", "context": "Two work."}]}


def test_answers_are_decisions() -> None:
    answers = {"answers": [{"question_id": "q1", "option": "Cookies", "text": "as they are safe"}]}
    [decided] = findings.decided(QUESTIONS, answers)
    assert decided.text == "Which store? Cookies. as they are safe"
    assert decided.detail["reason"] == "Two work."
    options = {"summary": "Where?", "options": [{"id": "o1", "label": "Here"}]}
    chosen = {"option_id": "o1", "text": None, "instructions": "soon"}
    [decided] = findings.decided(options, chosen)
    assert decided.text == "Where? Here. soon"
    assert findings.decided(QUESTIONS, None) == []
    assert findings.decided({"title": "The work"}, {"decision": "approved"}) == []
