"""JSON Schema of a project's outcomes: what is read, what is refused, and that it ends."""

import time
from typing import Any

import pytest

from agents_manager.domain.json_schema import CIRCLES, DRAFT, MAX_FAULT, faults, problems
from agents_manager.domain.outcome import Malformed, Outcome, Reported, validate

TICKET: dict[str, Any] = {
    "$schema": DRAFT,
    "title": "A ticket was filed",
    "type": "object",
    "required": ["ticket"],
    "properties": {
        "ticket": {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"},
        "labels": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/label"}},
        "parent": {"$ref": "#"},
    },
    "$defs": {"label": {"enum": ["bug", "risk"]}},
    "additionalProperties": False,
}


def test_a_value_is_held_to_the_schema() -> None:
    assert problems(TICKET) == []
    fine = {"ticket": "SHOP-12", "labels": ["bug"], "parent": {"ticket": "SHOP-1"}}
    assert faults(TICKET, fine) == []
    wrong = {"ticket": "12", "labels": ["bug", "bug", "x"], "parent": {}, "more": 1}
    assert sorted(faults(TICKET, wrong)) == [
        "document: Additional properties are not allowed ('more' was unexpected)",
        "labels.2: 'x' is not one of ['bug', 'risk']",
        "labels: an item stands there twice",
        "parent: 'ticket' is a required property",
        'ticket: the text does not fit the pattern "^[A-Z]+-[0-9]+$"',
    ]


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ([], "document: a schema is an object"),
        ({"type": "string"}, "type: the payload of an outcome is an object"),
        ({"type": "object", "$schema": "http://json-schema.org/draft-04/schema#"}, "$schema: only"),
        ({"type": "object", "requried": ["a"]}, 'not read. Did you mean "required"?'),
        ({"type": "object", "properties": {"a": {"tpye": "string"}}}, "properties.a.tpye: "),
        ({"type": "object", "allOf": [{"patternProperties": {}}]}, "allOf.0.patternProperties"),
        ({"type": "object", "unevaluatedProperties": False}, "unevaluatedProperties"),
        ({"type": "object", "$dynamicRef": "#x"}, '"$dynamicRef" is not read'),
        ({"type": "object", "properties": {"a": {"$id": "x"}}}, '"$id" is not read'),
        ({"type": "object", "properties": []}, "properties: [] is not of type 'object'"),
        ({"type": "object", "items": {"type": "strin"}}, "items.type"),
        ({"type": "object", "not": {"$ref": "https://example.org/x"}}, "no place in this file"),
        ({"type": "object", "not": {"$ref": "file:///etc/passwd"}}, "no place in this file"),
        ({"type": "object", "not": {"$ref": "#/$defs/x"}}, "no place in this file"),
        ({"type": "object", "not": {"$ref": "#/type"}}, "no place in this file"),
        ({"type": "object", "items": {"pattern": "("}}, "items.pattern: "),
        ({"type": "object", "items": {"pattern": "(?=x)"}}, "look-around"),
        ({"type": "object", "items": {"pattern": r"(a)\1"}}, "backreferences"),
        ({"type": "object", "allOf": [{"$ref": "#"}]}, CIRCLES),
    ],
)
def test_a_schema_that_cannot_be_held_to_is_refused_with_its_place(
    schema: object, says: str
) -> None:
    found = problems(schema)
    assert any(says in problem for problem in found), found


def doubling(depth: int) -> dict[str, Any]:
    defs: dict[str, Any] = {
        f"a{i}": {"allOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(depth)
    }
    return {**defs, f"a{depth}": {"type": "object"}}


def test_it_ends_whatever_the_schema_and_the_value() -> None:
    """References that double each other, expressions that backtrack, items compared pairwise, and
    values nested as deep as the schema follows."""
    began = time.monotonic()
    assert problems({"type": "object", "$ref": "#/$defs/a0", "$defs": doubling(60)}) == [CIRCLES]
    backtracks = {"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}}
    assert problems(backtracks) == []
    assert len(faults(backtracks, {"a": "a" * 100_000 + "!"})) == 1
    unique = {"type": "object", "properties": {"a": {"uniqueItems": True}}}
    assert faults(unique, {"a": [{"n": n} for n in range(20_000)]}) == []
    nested: dict[str, Any] = {}
    for _ in range(30):
        nested = {"parent": nested}
    assert faults({"type": "object", "properties": {"parent": {"$ref": "#"}}}, nested) == []
    assert time.monotonic() - began < 10


def test_a_fault_is_told_briefly() -> None:
    (fault,) = faults({"type": "object", "properties": {"a": {"const": 1}}}, {"a": "x" * 100_000})
    assert len(fault) <= MAX_FAULT


def test_an_outcome_with_a_schema_is_validated_like_any_other() -> None:
    filed = Outcome("ticket_filed", "You filed a ticket.", schema=TICKET)
    known, offered = {filed.name: filed}, [filed.name]
    payload = {"ticket": "SHOP-1"}
    assert validate(filed.name, payload, offered, known) == Reported(filed.name, payload, "")
    missing = validate(filed.name, None, offered, known)
    assert missing == Malformed('The outcome "ticket_filed" needs a payload.')
    wrong = validate(filed.name, {"ticket": 1}, offered, known)
    assert wrong == Malformed(
        "The payload of outcome \"ticket_filed\" is not valid: ticket: 1 is not of type 'string'."
    )
    assert filed.payload_schema is TICKET
