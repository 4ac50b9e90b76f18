"""Forms of a project: which schemas are forms, and what an answer to one is held to."""

import json
from typing import Any

import pytest

from agents_manager.domain import form, form_schema, pipeline, question, registry
from agents_manager.domain.guards import Fired
from agents_manager.domain.outcome import Malformed, Outcome, Reported, validate
from agents_manager.domain.pipeline import PromptType, Trigger, TriggerType
from agents_manager.domain.prompt import default_after_s, recommended_answer, validate_answer
from agents_manager.errors import InvalidAnswer

RELEASE: dict[str, Any] = {
    "title": "Which release?",
    "type": "object",
    "required": ["version", "channel"],
    "properties": {
        "version": {"type": "string", "pattern": "^[0-9]+[.][0-9]+$", "maxLength": 10},
        "channel": {"enum": ["stable", "beta"]},
        "share": {"type": "integer", "minimum": 1, "maximum": 100, "default": 100},
        "price": {"type": "number"},
        "announce": {"type": "boolean"},
        "notes": {"type": "string", "format": "markdown"},
        "labels": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}},
        "contact": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string", "title": "Who answers"}},
        },
    },
}
FULL: dict[str, Any] = {
    "version": "1.2",
    "channel": "beta",
    "share": 10,
    "price": 2,
    "announce": False,
    "notes": "One\ntwo",
    "labels": ["a", "b"],
    "contact": {"name": "Ann"},
}
PLANNED = Outcome(
    "release_planned",
    "A release is planned.",
    payload_required=False,
    prompt=PromptType.INFO_REQUEST,
    schema={"type": "object", "properties": {"summary": {"type": "string"}}},
    answer=RELEASE,
)


def field(**schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}}


def nested(levels: int) -> dict[str, Any]:
    return {"type": "string"} if levels == 0 else field(**nested(levels - 1))


# -------------------------------------------------------------------------------- definitions


def test_what_every_door_can_show_is_a_form() -> None:
    assert form_schema.problems(RELEASE) == []
    assert form_schema.problems(nested(form_schema.MAX_LEVELS)) == []


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        (5, "document: a schema is an object"),
        ({"type": "string"}, 'type: an answer is an object, so say "type": "object"'),
        ({"type": "object"}, "properties: name at least one field"),
        (field(), "properties.a.type: say one of string, number, integer"),
        (field(type="null"), "properties.a.type: say one of"),
        (field(type=["string", "null"]), "properties.a.type: say one of"),
        ({"type": "object", "properties": {"a": True}}, "properties.a.type: say one of"),
        (field(type="string", minLenght=1), 'Did you mean "minLength"?'),
        (field(type="string", minLength="1"), "properties.a.minLength: '1' is not of type"),
        (
            field(type="boolean", minLength=1),
            'properties.a.minLength: "minLength" is not for a field of type boolean.',
        ),
        (field(anyOf=[{"type": "string"}], type="string"), 'properties.a.anyOf: "anyOf" is not'),
        (field(**{"$ref": "#"}), "properties.a.type: say one of"),
        (field(type="string", pattern="(?=x)"), "properties.a.pattern: "),
        (field(type="string", format="date"), 'properties.a.format: only "markdown" is known'),
        (field(type="array"), "properties.a.items: say what it is a list of"),
        (
            field(type="array", items={"type": "string", "minimum": 1}),
            'properties.a.items.minimum: "minimum" is not for a field of type string.',
        ),
        (field(enum=["x", 1]), 'properties.a.enum: list the choices, each a text as "type" says'),
        (field(type="integer", enum=[]), "properties.a.enum"),
        (field(type="string", minLength=3, maxLength=2), "minLength: 3 is more than maxLength, 2"),
        (field(type="integer", default="x"), "properties.a.default: must be a whole number"),
        (field(enum=["x"], default="y"), "properties.a.default: must be one of x"),
        ({**field(type="string"), "required": ["b"]}, 'required: there is no field "b".'),
        (
            {"type": "object", "properties": {"a.b": {"type": "string"}}},
            "properties.a.b: the name of a field is made of letters",
        ),
        (nested(form_schema.MAX_LEVELS + 1), "a form has at most 4 levels"),
        (
            {"type": "object", "properties": {f"f{n}": {"type": "string"} for n in range(51)}},
            "properties: a form has at most 50 fields; this one has 51",
        ),
    ],
)
def test_what_no_form_can_show_is_refused_with_its_place(schema: Any, says: str) -> None:
    found = form_schema.problems(schema)
    assert says in "\n".join(found)


def test_the_form_stands_beside_the_schema_of_the_payload() -> None:
    schema = {"type": "object", "properties": {"summary": {"type": "string"}}}
    assert form_schema.outcome_problems({**schema, "answer": RELEASE}) == []
    assert form_schema.outcome_problems({**schema, "answer": 5}) == [
        "answer: a schema is an object"
    ]
    assert form_schema.outcome_problems({**schema, "answer": {"type": "object"}}) == [
        "answer.properties: name at least one field"
    ]
    twice = {"type": "object", "properties": {"suggested_answer": {}}, "answer": RELEASE}
    assert form_schema.outcome_problems(twice) == [
        "properties.suggested_answer: the form says what it holds; leave it out here"
    ]


# ------------------------------------------------------------------------------------ answers


def test_an_answer_is_kept_as_it_was_given() -> None:
    assert form.read(RELEASE, FULL) == (FULL, [])
    blank = {"version": "1.0", "channel": "stable", "notes": "  ", "share": None}
    assert form.read(RELEASE, blank) == ({"version": "1.0", "channel": "stable"}, [])


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"version": None}, "value.version: is missing"),
        ({"version": " "}, "value.version: is missing"),
        ({"version": "one"}, 'value.version: does not fit the pattern "^[0-9]+[.][0-9]+$"'),
        (
            {"version": "1.23456789012"},
            "value.version: must have at most 10 characters, not 13",
        ),
        ({"channel": "nightly"}, "value.channel: must be one of stable, beta"),
        ({"share": 0}, "value.share: must be 1 to 100"),
        ({"share": 1.5}, "value.share: must be a whole number"),
        ({"share": True}, "value.share: must be a whole number"),
        ({"price": "2"}, "value.price: must be a number"),
        ({"price": float("nan")}, "value.price: must be a number"),
        ({"announce": "yes"}, "value.announce: must be true (yes) or false (no)"),
        ({"labels": []}, "value.labels: must have 1 to 2 entries, not 0"),
        ({"labels": ["a", 2]}, "value.labels.1: must be a text"),
        ({"labels": ["a", ""]}, "value.labels.1: is blank"),
        ({"contact": {}}, "value.contact.name: is missing"),
        ({"contact": "Ann"}, "value.contact: must be an object with the fields of the form"),
        ({"chanel": "x"}, 'value.chanel: there is no such field. Did you mean "channel"?'),
    ],
)
def test_each_field_that_is_wrong_is_named(changed: dict[str, Any], says: str) -> None:
    _, wrong = form.read(RELEASE, {**FULL, **changed})
    assert wrong == [says]


def test_faults_are_bounded() -> None:
    _, wrong = form.read(RELEASE, {f"x{n}": 1 for n in range(1000)})
    assert len(wrong) == form.MAX_FAULTS


def test_a_value_is_told_in_rows() -> None:
    assert form.rows(FULL, RELEASE) == [
        ("Version", "1.2"),
        ("Channel", "beta"),
        ("Share", "10"),
        ("Price", "2"),
        ("Announce", "no"),
        ("Notes", "One\ntwo"),
        ("Labels", "a, b"),
        ("Contact / Who answers", "Ann"),
    ]
    assert form.rows({"files": [{"path": "a"}, {"path": None}]}) == [
        ("Files / 1 / Path", "a"),
        ("Files / 2 / Path", "none"),
    ]


# -------------------------------------------------------------------------------- the question


def asked(payload: dict[str, Any] | None) -> dict[str, Any]:
    """What a person is asked when an agent ended so."""
    graph = pipeline.parse(
        {
            "id": "p",
            "name": "P",
            "statuses": [
                {"id": "a", "category": "open"},
                {"id": "w", "category": "waiting"},
                {"id": "d", "category": "final"},
            ],
            "transitions": [{"from": "a", "to": "w", "trigger": {"type": "manual"}}],
        }
    )
    known = registry.Registry({}, {PLANNED.name: PLANNED}, {}, {})
    fired = Fired(
        trigger=Trigger(type=TriggerType.AGENT_OUTCOME, outcome=PLANNED.name), payload=payload
    )
    ask = question.question(graph, "w", fired, known, work=lambda: None, document=None)
    assert ask is not None
    assert ask.type is PromptType.INFO_REQUEST
    assert json.loads(json.dumps(ask.payload)) == ask.payload
    return dict(ask.payload)


def test_the_question_carries_what_was_reported_and_the_form() -> None:
    payload = asked({"summary": "Ship it."})
    assert payload == {
        "outcome": "release_planned",
        "title": "Which release?",
        "reported": {"summary": "Ship it."},
        "schema": RELEASE,
        "value": None,
    }
    assert question.summary(PromptType.INFO_REQUEST, payload) == "Which release? Ship it."
    assert question.summary(PromptType.INFO_REQUEST, asked(None)) == "Which release?"


def test_only_what_the_agent_suggests_is_recommended() -> None:
    kind = PromptType.INFO_REQUEST
    assert recommended_answer(kind, asked(None)) is None
    suggested = {"version": "1.2", "channel": "beta"}
    payload = asked({"suggested_answer": suggested})
    assert payload["reported"] == {}
    assert recommended_answer(kind, payload) == {"value": suggested}
    assert default_after_s(kind, payload) is None
    # Never a part of one: what does not fit is not recommended at all.
    assert recommended_answer(kind, asked({"suggested_answer": {"version": "1.2"}})) is None


def test_an_answer_is_held_to_the_form_that_the_question_carries() -> None:
    kind, payload = PromptType.INFO_REQUEST, asked(None)
    assert validate_answer(kind, payload, {"value": FULL}) == {"value": FULL}
    with pytest.raises(InvalidAnswer) as refused:
        validate_answer(kind, payload, {"value": {"channel": "x"}})
    assert refused.value.details == (
        "value.version: is missing",
        "value.channel: must be one of stable, beta",
    )
    with pytest.raises(InvalidAnswer) as refused:
        validate_answer(kind, payload, {"version": "1.2"})
    assert any(line.startswith("value: ") for line in refused.value.details)


def test_an_agent_is_held_to_the_form_when_it_suggests() -> None:
    known = {PLANNED.name: PLANNED}

    def report(payload: object) -> object:
        return validate(PLANNED.name, payload, [PLANNED.name], known)

    fine = {"summary": "x", "suggested_answer": {"version": "1.2", "channel": "beta"}}
    assert report(fine) == Reported(PLANNED.name, fine, "")
    assert report(None) == Reported(PLANNED.name, None, "")
    for wrong in ({"version": "1.2"}, {**fine["suggested_answer"], "more": 1}):
        assert isinstance(report({"suggested_answer": wrong}), Malformed)
