import json
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from agents_manager.domain.outcome import BUILT_IN
from agents_manager.domain.payload import (
    Approved,
    ChangesRequested,
    InputType,
    MergeTrouble,
    NeedsInfo,
    NoChanges,
    Notes,
    OptionsProposed,
    ProposeSplit,
    Severity,
)
from agents_manager.domain.pipeline import faults
from agents_manager.domain.race import Judgement
from agents_manager.domain.stages.table import STAGES
from tests.stage_samples import SAMPLES


def refused(model: type[BaseModel], value: object) -> str:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(value)
    return "; ".join(faults(caught.value))


def options(number: int, **fields: Any) -> list[dict[str, Any]]:
    return [{"id": f"o{i}", "label": f"Option {i}", **fields} for i in range(number)]


# -------------------------------------------------------------------------------- needs_info


def question(**fields: Any) -> dict[str, Any]:
    return {"id": "q1", "question": "Which provider?", **fields}


def asked(*questions: dict[str, Any]) -> NeedsInfo:
    return NeedsInfo.model_validate({"questions": list(questions)})


def test_a_question_needs_an_id_and_words() -> None:
    assert asked(question()).questions[0].input_type is InputType.TEXT
    assert "questions.0.id: Field required" in refused(
        NeedsInfo, {"questions": [{"question": "x"}]}
    )
    assert "questions.0.question" in refused(NeedsInfo, {"questions": [question(question="  ")]})
    assert "questions: " in refused(NeedsInfo, {"questions": []})


def test_the_single_form_is_one_question() -> None:
    single = NeedsInfo.model_validate(
        {
            "question": "Which provider?",
            "options": ["JWT", {"label": "OAuth", "recommended": True}],
            "category": "options",
            "context": "The task does not say.",
        }
    )
    assert single == asked(
        question(
            input_type="choice",
            options=[{"label": "JWT"}, {"label": "OAuth", "recommended": True}],
            category="options",
            context="The task does not say.",
        )
    )


def test_the_single_form_keeps_its_own_id_and_input_type() -> None:
    single = NeedsInfo.model_validate(
        {"id": "mine", "question": "Which?", "options": ["A"], "input_type": "text"}
    )
    assert single.questions[0].id == "mine"
    assert single.questions[0].input_type is InputType.TEXT


def test_plain_strings_are_options_and_make_a_choice() -> None:
    found = asked(question(options=["A", "B"])).questions[0]
    assert [o.label for o in found.options] == ["A", "B"]
    assert found.input_type is InputType.CHOICE


@pytest.mark.parametrize("name", ["inputType", "input_type"])
def test_an_input_type_that_was_given_stays(name: str) -> None:
    assert asked(question(options=["A"], **{name: "text"})).questions[0].input_type == "text"


def test_camel_case_is_read() -> None:
    camel = question(inputType="choice", options=["A"], suggestedAnswer="A", defaultAfterS=60)
    snake = question(input_type="choice", options=["A"], suggested_answer="A", default_after_s=60)
    assert asked(camel) == asked(snake)


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"input_type": "choice"}, "a choice question needs options"),
        ({"options": ["A", "A"]}, 'the option "A" stands there twice'),
        (
            {"options": [{"label": x, "recommended": True} for x in "AB"]},
            "at most one option may be recommended",
        ),
        ({"options": [""]}, "questions.0.options.0.label: "),
        ({"options": [7]}, "questions.0.options.0: "),
        ({"category": "gossip"}, "questions.0.category: "),
        ({"default_after_s": 0}, "questions.0.default_after_s: "),
        ({"urgent": True}, "questions.0.urgent: Extra inputs"),
    ],
)
def test_unsound_questions_are_refused_with_their_place(fields: Any, fault: str) -> None:
    assert fault in refused(NeedsInfo, {"questions": [question(**fields)]})


@pytest.mark.parametrize("value", ["text", None, [], {"questions": ["?"]}, {}])
def test_what_is_no_question_is_refused(value: object) -> None:
    assert refused(NeedsInfo, value)


def test_ids_of_questions_are_unique() -> None:
    twice = {"questions": [question(), question(id=" q1 ")]}
    assert 'the id "q1" stands there twice' in refused(NeedsInfo, twice)


def test_fifty_questions_and_fifty_options_are_the_limit() -> None:
    many = [question(id=f"q{i}") for i in range(51)]
    asked(*many[:50])
    assert "questions: Tuple should have at most 50 items" in refused(
        NeedsInfo, {"questions": many}
    )
    labels = [str(i) for i in range(51)]
    asked(question(options=labels[:50]))
    assert "questions.0.options: Tuple should have at most 50 items" in refused(
        NeedsInfo, {"questions": [question(options=labels)]}
    )


def test_a_list_whose_only_item_is_wrong_is_not_also_called_empty() -> None:
    fault = refused(NeedsInfo, {"questions": [question(urgent=True)]})
    assert fault == "questions.0.urgent: Extra inputs are not permitted"


# --------------------------------------------------------------------------- options_proposed


def test_the_older_notation_of_options_says_the_same() -> None:
    older = OptionsProposed.model_validate(
        {
            "description": "How to store it?",
            "options": [
                {"id": "a", "title": "Files", "description": "x", "estimatedEffort": "small"},
                {"id": "b", "title": "Tables", "pros": ["safe"], "cons": ["slow"]},
            ],
            "agentRecommendation": "b",
        }
    )
    ours = OptionsProposed.model_validate(
        {
            "summary": "How to store it?",
            "options": [
                {"id": "a", "label": "Files", "description": "x", "effort": "small"},
                {
                    "id": "b",
                    "label": "Tables",
                    "pros": ["safe"],
                    "cons": ["slow"],
                    "recommended": True,
                },
            ],
        }
    )
    assert older == ours


def proposed(rows: Any, **fields: Any) -> dict[str, Any]:
    return {"summary": "s", "options": rows, **fields}


def recommended(value: dict[str, Any]) -> list[str]:
    return [o.id for o in OptionsProposed.model_validate(value).options if o.recommended]


def test_nothing_is_recommended_by_its_position() -> None:
    assert recommended(proposed(options(3))) == []
    assert recommended(proposed(options(3), agentRecommendation=None)) == []


def test_only_explicit_marks_recommend() -> None:
    assert recommended(proposed(options(3), agentRecommendation="o2")) == ["o2"]
    marked = [*options(2), {"id": "x", "label": "X", "recommended": True}]
    assert recommended(proposed(marked)) == ["x"]
    assert recommended(proposed(marked, agentRecommendation="x")) == ["x"]


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (proposed(options(1)), "options: Tuple should have at least 2 items"),
        (proposed(options(51)), "options: Tuple should have at most 50 items"),
        (proposed(options(2, recommended=True)), "at most one option may be recommended"),
        (
            proposed([*options(2), {"id": "x", "label": "X", "recommended": True}])
            | {"agentRecommendation": "o1"},
            "at most one option may be recommended",
        ),
        (proposed(options(2), agentRecommendation="x"), 'there is no option "x"'),
        (proposed([*options(2), *options(1)]), 'the id "o0" stands there twice'),
        (proposed(options(2, effort="huge")), "options.0.effort: "),
        ({"options": options(2)}, "summary: Field required"),
        ({"summary": "s", "options": "x", "agentRecommendation": "o1"}, "options: "),
        ("text", "document: "),
    ],
)
def test_unsound_options_are_refused(value: object, fault: str) -> None:
    assert fault in refused(OptionsProposed, value)


def test_a_recommendation_does_not_hide_a_broken_option() -> None:
    value = proposed([*options(2), "junk"], agentRecommendation="o0")
    assert "options.2: " in refused(OptionsProposed, value)


# -------------------------------------------------------------------------- changes_requested


def comment(**fields: Any) -> dict[str, Any]:
    return {"comment": "Too long", "severity": "must_fix", **fields}


def changes(*comments: dict[str, Any]) -> ChangesRequested:
    return ChangesRequested.model_validate({"summary": "s", "comments": list(comments)})


@pytest.mark.parametrize(
    ("written", "severity"),
    [
        ("critical", Severity.MUST_FIX),
        ("nit", Severity.SUGGESTION),
        *((s.value, s) for s in Severity),
    ],
)
def test_older_severities_are_read(written: str, severity: Severity) -> None:
    assert changes(comment(severity=written)).comments[0].severity is severity


def test_missing_ids_are_made_and_meet_no_given_one() -> None:
    made = changes(comment(id="c2"), comment(), comment(id="mine"), comment())
    assert [c.id for c in made.comments] == ["c2", "c1", "mine", "c3"]


@pytest.mark.parametrize(
    ("comments", "fault"),
    [
        ([], "comments: Tuple should have at least 1 item"),
        ([comment()] * 501, "comments: Tuple should have at most 500 items"),
        ([comment(id="a"), comment(id="a")], 'the id "a" stands there twice'),
        ([comment(line=0)], "comments.0.line: "),
        ([comment(severity="meh")], "comments.0.severity: "),
        ([comment(severity=["nit"])], "comments.0.severity: "),
        ([comment(comment=" ")], "comments.0.comment: "),
    ],
)
def test_unsound_comments_are_refused(comments: Any, fault: str) -> None:
    assert fault in refused(ChangesRequested, {"summary": "s", "comments": comments})


def test_five_hundred_comments_are_taken() -> None:
    assert len({c.id for c in changes(*[comment()] * 500).comments}) == 500


# ------------------------------------------------------------------------------------ the rest


def test_small_payloads() -> None:
    assert Approved.model_validate({}).comments is None
    assert refused(NoChanges, {"reason": ""})
    assert MergeTrouble.model_validate({"message": "x", "files": ["a"]}).files == ("a",)


@pytest.mark.parametrize("outcome", [pytest.param(o, id=o.name) for o in BUILT_IN if o.payload])
def test_what_is_stored_can_be_read_again(outcome: Any) -> None:
    samples: dict[type[BaseModel], Any] = {
        NeedsInfo: {"question": "Which?", "options": ["A", "B"]},
        OptionsProposed: {**proposed(options(2)), "agentRecommendation": "o1"},
        ChangesRequested: {"summary": "s", "comments": [comment()]},
        Approved: {"comments": "fine"},
        NoChanges: {"reason": "was there"},
        MergeTrouble: {"message": "x"},
        ProposeSplit: {"reason": "big", "proposedPhases": [{"name": "One"}]},
        Notes: {"notes": "n"},
        Judgement: {"pick": "A", "reasons": "r"},
        **{stage.output: SAMPLES[stage.outcome] for stage in STAGES},
    }
    first = outcome.payload.model_validate(samples[outcome.payload])
    stored = json.loads(json.dumps(first.model_dump(mode="json")))
    assert outcome.payload.model_validate(stored) == first


def test_a_split_needs_phases_and_says_why() -> None:
    assert "proposed_phases" in refused(ProposeSplit, {"reason": "big", "proposed_phases": []})
    assert "reason" in refused(ProposeSplit, {"proposedPhases": [{"name": "One"}]})
    many = [{"name": str(n)} for n in range(51)]
    assert "at most 50" in refused(ProposeSplit, {"reason": "big", "proposedPhases": many})
    fault = refused(
        ProposeSplit, {"reason": "b", "proposedPhases": [{"name": "x", "complexity": "epic"}]}
    )
    assert "complexity" in fault
