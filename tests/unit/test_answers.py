import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agents_manager.domain.payload import NeedsInfo, OptionsProposed
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import (
    default_after_s,
    may_answer,
    recommended_answer,
    validate_answer,
    who_may_answer,
)
from agents_manager.domain.task import Actor, ActorType
from agents_manager.errors import InvalidAnswer
from tests.contract.store_values import a_prompt

QUESTIONS = NeedsInfo.model_validate(
    {
        "questions": [
            {"id": "auth", "question": "Which?", "options": ["JWT", "OAuth", "0"]},
            {"id": "social", "question": "Social login?", "inputType": "boolean"},
            {"id": "name", "question": "Name?"},
        ]
    }
).model_dump(mode="json")
OPTIONS = OptionsProposed.model_validate(
    {"summary": "s", "options": [{"id": "files", "label": "F"}, {"id": "tables", "label": "T"}]}
).model_dump(mode="json")
CHOICES = {
    "reason": "r",
    "choices": [
        {"id": "again", "label": "Again", "action": "rerun"},
        {"id": "stay", "label": "Stay", "action": "stay"},
    ],
}


def auth(**fields: Any) -> dict[str, Any]:
    return {"question_id": "auth", **fields}


def answered(*given: dict[str, Any], complete: bool = True) -> list[dict[str, Any]]:
    rest = [
        {"question_id": "social", "text": "yes"},
        {"question_id": "name", "text": "Login"},
    ]
    ids = [g.get("question_id") for g in given]
    others = [r for r in rest if r["question_id"] not in ids] if complete else []
    raw = {"answers": [*given, *others]}
    return list(validate_answer(PromptType.INFO_REQUEST, QUESTIONS, raw)["answers"])


def problems(kind: PromptType, payload: Any, raw: Any) -> str:
    with pytest.raises(InvalidAnswer) as caught:
        validate_answer(kind, payload, raw)
    return " | ".join([caught.value.message, *caught.value.details])


def wrong(*given: dict[str, Any]) -> str:
    with pytest.raises(InvalidAnswer) as caught:
        answered(*given)
    return " | ".join(caught.value.details)


# --------------------------------------------------------------------------------- questions


@pytest.mark.parametrize(
    ("given", "option", "text"),
    [
        pytest.param({"option": "OAuth"}, "OAuth", None, id="by-label"),
        pytest.param({"option": 1}, "OAuth", None, id="by-number"),
        pytest.param({"option": 0}, "JWT", None, id="by-number-zero"),
        pytest.param({"option": "0"}, "0", None, id="a-label-that-is-a-number"),
        pytest.param({"option": " JWT "}, "JWT", None, id="with-blanks"),
        pytest.param({"text": "SAML"}, None, "SAML", id="own-words"),
        pytest.param({"option": "JWT", "text": "v2"}, "JWT", "v2", id="option-and-words"),
        pytest.param({"selectedOption": 1}, "OAuth", None, id="older-option"),
        pytest.param({"answer": "SAML"}, None, "SAML", id="older-text"),
    ],
)
def test_ways_to_answer_a_choice(given: Any, option: str | None, text: str | None) -> None:
    assert answered(auth(**given))[0] == {"question_id": "auth", "option": option, "text": text}


ONE = NeedsInfo.model_validate({"question": "Which?", "options": ["REST", "GraphQL"]}).model_dump(
    mode="json"
)


@pytest.mark.parametrize(
    ("raw", "option", "text"),
    [
        ({"selectedOption": 0}, "REST", None),
        ({"selectedOption": 1, "answer": "for the dashboard"}, "GraphQL", "for the dashboard"),
        ({"answer": "Neither."}, None, "Neither."),
        ({"selectedOption": None, "answer": "Neither."}, None, "Neither."),
        ({"type": "info_provided", "answers": [{"questionId": "q1", "answer": "A"}]}, None, "A"),
    ],
)
def test_a_flat_answer_is_for_the_only_question(
    raw: dict[str, Any], option: str | None, text: str | None
) -> None:
    found = validate_answer(PromptType.INFO_REQUEST, ONE, raw)
    assert found == {"answers": [{"question_id": "q1", "option": option, "text": text}]}


def test_a_flat_answer_to_several_questions_is_refused_with_their_ids() -> None:
    with pytest.raises(InvalidAnswer, match='Put each answer into "answers"') as caught:
        validate_answer(PromptType.INFO_REQUEST, QUESTIONS, {"answer": "x"})
    assert caught.value.details == ("questions: auth, social, name",)


def test_answers_are_found_by_id_in_any_order_and_notation() -> None:
    raw = {
        "answers": [
            {"questionId": "name", "answer": "Login"},
            {"questionId": "social", "answer": "no"},
            {"questionId": "auth", "selectedOption": "JWT"},
        ]
    }
    found = validate_answer(PromptType.INFO_REQUEST, QUESTIONS, raw)["answers"]
    assert [(a["question_id"], a["option"] or a["text"]) for a in found] == [
        ("auth", "JWT"),
        ("social", "no"),
        ("name", "Login"),
    ]


@pytest.mark.parametrize(
    ("said", "kept"), [("yes", "yes"), ("No", "no"), ("TRUE", "yes"), ("false", "no")]
)
def test_yes_and_no(said: str, kept: str) -> None:
    found = answered(auth(option=0), {"question_id": "social", "text": said})
    assert found[1]["text"] == kept


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        pytest.param(
            {"question_id": "atuh", "option": 0},
            'there is no question "atuh". Did you mean "auth"?',
            id="unknown-question",
        ),
        pytest.param(
            auth(option="SAML"),
            'question "auth" has no option \'SAML\'; it has "JWT", "OAuth", "0"',
            id="unknown-option",
        ),
        pytest.param(auth(option=3), 'question "auth" has no option 3', id="number-too-large"),
        pytest.param(auth(option=-1), 'question "auth" has no option -1', id="negative-number"),
        pytest.param(auth(option=True), "answers.0.option: an option is named", id="true"),
        pytest.param(auth(option=1.0), "answers.0.option: an option is named", id="fraction"),
        pytest.param(auth(), 'question "auth" needs an option or a text', id="nothing-said"),
        pytest.param(auth(text="  "), 'question "auth" needs an option or a text', id="blank"),
        pytest.param(auth(choice=0), "answers.0.choice: Extra inputs", id="unknown-field"),
        pytest.param(
            {"question_id": "social", "text": "maybe"},
            'question "social" is answered with yes or no',
            id="neither-yes-nor-no",
        ),
        pytest.param(
            {"question_id": "name", "option": "x"},
            "question \"name\" has no option 'x'; it has none",
            id="option-of-a-text-question",
        ),
    ],
)
def test_wrong_answers_are_refused_field_by_field(given: Any, problem: str) -> None:
    assert problem in wrong(given)


def test_counts_are_not_compared_but_every_question_is_asked_for() -> None:
    with pytest.raises(InvalidAnswer) as caught:
        answered(auth(option=0), auth(option=1), complete=False)
    assert caught.value.details == (
        'question "auth" is answered twice',
        'question "social" is not answered',
        'question "name" is not answered',
    )


@pytest.mark.parametrize("raw", [{}, {"answers": []}, {"answers": "yes"}, ["yes"]])
def test_what_is_no_answer_is_refused(raw: Any) -> None:
    assert "right shape" in problems(PromptType.INFO_REQUEST, QUESTIONS, raw)


# ----------------------------------------------------------------------------------- options


def test_a_flat_answer_chooses_an_option_by_its_number() -> None:
    found = validate_answer(
        PromptType.INFO_REQUEST, OPTIONS, {"selectedOption": 1, "answer": "with an index"}
    )
    assert found["option_id"] == OPTIONS["options"][1]["id"]
    assert found["text"] == "with an index"
    assert "counted from 0" in problems(PromptType.INFO_REQUEST, OPTIONS, {"selectedOption": 9})
    assert "counted from 0" in problems(PromptType.INFO_REQUEST, OPTIONS, {"selectedOption": True})


@pytest.mark.parametrize(
    "raw",
    [
        {"option_id": "tables", "instructions": "with an index"},
        {"optionId": "tables", "instructions": "with an index"},
        {"selectedOptionId": "tables", "customInstructions": "with an index"},
    ],
)
def test_notations_of_a_chosen_option(raw: Any) -> None:
    assert validate_answer(PromptType.INFO_REQUEST, OPTIONS, raw) == {
        "option_id": "tables",
        "text": None,
        "instructions": "with an index",
    }


def test_an_own_approach_is_an_answer() -> None:
    found = validate_answer(PromptType.INFO_REQUEST, OPTIONS, {"text": "both"})
    assert (found["option_id"], found["text"]) == (None, "both")


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ({}, "Choose an option or describe your own approach."),
        ({"instructions": "fast"}, "Choose an option or describe your own approach."),
        ({"option_id": "table"}, 'There is no option "table". Did you mean "tables"?'),
        ({"option_id": 1}, "option_id: "),
    ],
)
def test_an_option_that_does_not_exist_is_refused(raw: Any, problem: str) -> None:
    assert problem in problems(PromptType.INFO_REQUEST, OPTIONS, raw)


# ----------------------------------------------------------------------------------- reviews


def test_a_comment_on_a_document_is_on_one_of_its_lines() -> None:
    plan = {"title": "Plan", "document": "First\n\nThen"}

    def raw(file: str | None, line: int) -> dict[str, Any]:
        said = {"file": file, "line": line, "severity": "must_fix", "comment": "Why?"}
        return {"decision": "changes_requested", "comments": [said]}

    for file, line, kept in ((None, 3, None), ("plan", 3, None), ("a.py", 400, "a.py")):
        found = validate_answer(PromptType.DOCUMENT_REVIEW, plan, raw(file, line))
        assert [(c["file"], c["line"]) for c in found["comments"]] == [(kept, line)]
    refused = problems(PromptType.DOCUMENT_REVIEW, plan, raw("Plan", 4))
    assert "comments.0.line: the plan has 3 lines, not 4" in refused


@pytest.mark.parametrize("kind", [PromptType.REVIEW, PromptType.DOCUMENT_REVIEW])
class TestReviews:
    def test_an_approval_needs_no_words(self, kind: PromptType) -> None:
        found = validate_answer(kind, {}, {"decision": "approved"})
        assert (found["decision"], found["comments"]) == ("approved", [])

    def test_changes_need_a_comment(self, kind: PromptType) -> None:
        for raw in ({}, {"summary": "  "}, {"comments": []}):
            found = problems(kind, {}, {"decision": "changes_requested", **raw})
            assert "Requesting changes needs a comment." in found

    @pytest.mark.parametrize("name", ["summary", "comment"])
    def test_a_summary_is_enough_in_both_notations(self, kind: PromptType, name: str) -> None:
        found = validate_answer(kind, {}, {"decision": "changes_requested", name: "Shorter"})
        assert found["summary"] == "Shorter"

    def test_line_comments_get_ids(self, kind: PromptType) -> None:
        lines = [{"file": "a.py", "line": 3, "severity": "nit", "comment": "x"}] * 2
        raw = {"decision": "changes_requested", "comments": lines, "artifactId": "d1"}
        found = validate_answer(kind, {}, raw)
        assert [(c["id"], c["severity"]) for c in found["comments"]] == [
            ("c1", "suggestion"),
            ("c2", "suggestion"),
        ]
        assert found["artifact_id"] == "d1"

    def test_unsound_reviews_are_refused(self, kind: PromptType) -> None:
        one = {"id": "a", "severity": "nit", "comment": "x"}
        twice = {"decision": "approved", "comments": [one, one]}
        assert 'comments: the id "a" stands there twice' in problems(kind, {}, twice)
        assert "decision: " in problems(kind, {}, {"decision": "maybe"})
        many = {"decision": "approved", "comments": [{"severity": "nit", "comment": "x"}] * 501}
        assert "comments: Tuple should have at most 500" in problems(kind, {}, many)


# ----------------------------------------------------------------------------------- choices


def test_a_choice_is_made_by_id() -> None:
    found = validate_answer(PromptType.CHOICE, CHOICES, {"choiceId": "again"})
    assert found == {"choice_id": "again", "text": None}


def test_a_choice_that_does_not_exist_is_refused() -> None:
    found = problems(PromptType.CHOICE, CHOICES, {"choice_id": "agian"})
    assert found == 'There is no choice "agian". Did you mean "again"? | choices: again, stay'


# ------------------------------------------------------------------------------- recommended


def acceptable(*questions: dict[str, Any]) -> Any:
    payload = NeedsInfo.model_validate({"questions": list(questions)}).model_dump(mode="json")
    return recommended_answer(PromptType.INFO_REQUEST, payload)


MARKED = {"id": "a", "question": "?", "options": ["X", {"label": "Y", "recommended": True}]}
SUGGESTED = {"id": "b", "question": "?", "suggestedAnswer": "Z"}
OPEN = {"id": "c", "question": "?", "options": ["X"]}


def test_recommended_exists_only_if_every_question_has_one() -> None:
    assert acceptable(MARKED, SUGGESTED) == {
        "answers": [{"question_id": "a", "option": "Y"}, {"question_id": "b", "text": "Z"}]
    }
    assert acceptable(MARKED, OPEN) is None
    assert acceptable(OPEN) is None


@pytest.mark.parametrize(
    ("suggested", "text"), [("Yes", "yes"), ("Yes, I think so", None), ("", None), (None, None)]
)
def test_a_suggestion_counts_only_if_it_would_be_taken(
    suggested: str | None, text: str | None
) -> None:
    found = acceptable(
        {"id": "q", "question": "?", "inputType": "boolean", "suggestedAnswer": suggested}
    )
    assert found == (None if text is None else {"answers": [{"question_id": "q", "text": text}]})


def test_recommended_of_options_and_of_the_others() -> None:
    assert recommended_answer(PromptType.INFO_REQUEST, OPTIONS) is None
    marked = {**OPTIONS, "agentRecommendation": "tables"}
    assert recommended_answer(PromptType.INFO_REQUEST, marked) == {"option_id": "tables"}
    for kind in (PromptType.REVIEW, PromptType.DOCUMENT_REVIEW, PromptType.CHOICE):
        assert recommended_answer(kind, CHOICES) is None


words = st.text(st.characters(codec="utf-8", categories=("L", "N", "Z")), min_size=1, max_size=4)
labels = st.lists(words.map(str.strip).filter(bool), min_size=1, max_size=3, unique=True)


@st.composite
def questions(draw: st.DrawFn) -> dict[str, Any]:
    found: dict[str, Any] = {"question": "?"}
    kind = draw(st.sampled_from(["text", "choice", "boolean"]))
    if kind == "choice":
        rows = [{"label": x, "recommended": False} for x in draw(labels)]
        rows[0]["recommended"] = draw(st.booleans())
        found["options"] = rows
    if draw(st.booleans()):
        found["suggestedAnswer"] = draw(st.sampled_from(["yes", "No", "", "  ", "perhaps"]))
    return {**found, "inputType": kind}


@settings(deadline=None)
@given(st.lists(questions(), min_size=1, max_size=4))
def test_what_is_recommended_is_always_taken(found: list[dict[str, Any]]) -> None:
    numbered = [{**q, "id": f"q{i}"} for i, q in enumerate(found)]
    payload = NeedsInfo.model_validate({"questions": numbered}).model_dump(mode="json")
    answer = recommended_answer(PromptType.INFO_REQUEST, payload)
    if answer is not None:
        taken = validate_answer(PromptType.INFO_REQUEST, payload, answer)
        assert len(taken["answers"]) == len(numbered)


# ---------------------------------------------------------------------------- without anybody


def default_of(*questions: dict[str, Any]) -> int | None:
    payload = NeedsInfo.model_validate({"questions": list(questions)}).model_dump(mode="json")
    return default_after_s(PromptType.INFO_REQUEST, payload)


def test_a_default_needs_the_leave_of_every_question() -> None:
    first, second = {**MARKED, "defaultAfterS": 60}, {**SUGGESTED, "defaultAfterS": 5}
    assert default_of(first, second) == 60
    assert default_of(first, SUGGESTED) is None
    assert default_of(MARKED, SUGGESTED) is None
    assert default_of({**OPEN, "defaultAfterS": 5}) is None
    assert (
        default_after_s(PromptType.INFO_REQUEST, {**OPTIONS, "agentRecommendation": "tables"})
        is None
    )
    assert default_after_s(PromptType.REVIEW, {}) is None


@pytest.mark.parametrize("category", ["scope_approval", "escalation"])
def test_nothing_is_approved_by_default(category: str) -> None:
    asked = {**MARKED, "defaultAfterS": 5}
    assert default_of({**asked, "category": "question"}) == 5
    assert default_of({**asked, "category": category}) is None


@pytest.mark.parametrize("seconds", [0, -1, 10**9, 2**70])
def test_a_time_for_a_default_has_bounds(seconds: int) -> None:
    with pytest.raises(ValidationError, match="defaultAfterS"):
        NeedsInfo.model_validate({"questions": [{**MARKED, "defaultAfterS": seconds}]})


# --------------------------------------------------------------------------- who, and permission


def user(role: str | None, *, admin: bool = False) -> Actor:
    return Actor(type=ActorType.USER, name="eve", role=role, admin=admin)


def test_who_may_answer() -> None:
    anyone, lead = a_prompt(roles=()), a_prompt(roles=("lead", "owner"))
    only_admin = a_prompt(roles=("admin",))
    assert may_answer(anyone, user(None))
    assert [may_answer(lead, user(r)) for r in ("lead", "owner", "dev", None)] == [
        True,
        True,
        False,
        False,
    ]
    assert may_answer(lead, user(None, admin=True))
    assert not may_answer(only_admin, user("lead"))
    for kind in (ActorType.AGENT, ActorType.SYSTEM, ActorType.SUPERVISOR):
        assert not may_answer(anyone, Actor(type=kind, name="ann", admin=True, role="lead"))
    assert [who_may_answer(p) for p in (anyone, lead, only_admin)] == [
        "whoever has access",
        "an admin or the role lead or owner",
        "an admin",
    ]


WANTED = {"tool": "bash", "action": "Run rm -r build."}


@pytest.mark.parametrize("scope", ["once", "run", "project"])
@pytest.mark.parametrize("allow", [True, False])
def test_a_permission_is_given_as_far_as_it_says(allow: bool, scope: str) -> None:
    found = validate_answer(PromptType.PERMISSION, WANTED, {"allow": allow, "scope": scope})
    assert found == {"allow": allow, "scope": scope}
    bare = validate_answer(PromptType.PERMISSION, WANTED, {"allow": allow})
    assert bare["scope"] == "once"


@pytest.mark.parametrize(
    "raw", [{}, {"scope": "run"}, {"allow": "yes"}, {"allow": 1}, {"allow": None}]
)
def test_a_permission_is_never_read_out_of_something_else(raw: Any) -> None:
    assert "allow: " in problems(PromptType.PERMISSION, WANTED, raw)


def test_a_permission_reaches_no_further_than_known() -> None:
    raw = {"allow": True, "scope": "always"}
    assert "scope: " in problems(PromptType.PERMISSION, WANTED, raw)
    assert recommended_answer(PromptType.PERMISSION, WANTED) is None


# ------------------------------------------------------------------------------------ budgets

USED_UP = {
    **{"scope": "task", "subject": "t", "name": "T", "unknown": 0},
    **{"limit_usd": 1.0, "granted_usd": 0.0, "spent_usd": 1.5},
}


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ({"decision": "grant"}, "Say how much more may be spent."),
        ({"decision": "grant", "usd": 0}, "A grant is more than 0"),
        ({"decision": "grant", "usd": -1}, "usd: -1"),
        ({"decision": "grant", "usd": math.nan}, "usd: "),
        ({"decision": "grant", "usd": math.inf}, "usd: "),
        ({"decision": "grant", "usd": "5"}, "usd: "),
        ({"decision": "grant", "usd": True}, "usd: "),
        ({"decision": "grant", "usd": 1e7}, "at most a million dollars"),
        ({"decision": "grant", "usd": 0.5}, "leaves nothing to spend: $1.50 spent, of $1.00."),
        ({"decision": "stop", "usd": 5}, "Stopping grants nothing."),
        ({"decision": "maybe"}, "decision: "),
        ({"usd": 5}, "decision: "),
    ],
)
def test_what_is_no_grant_is_refused(raw: Any, says: str) -> None:
    assert says in problems(PromptType.BUDGET, USED_UP, raw)


def test_a_grant_or_its_refusal() -> None:
    granted = validate_answer(PromptType.BUDGET, USED_UP, {"decision": "grant", "usd": 0.51})
    assert granted == {"decision": "grant", "usd": 0.51}
    stopped = validate_answer(PromptType.BUDGET, USED_UP, {"decision": "stop"})
    assert stopped == {"decision": "stop", "usd": None}
    assert recommended_answer(PromptType.BUDGET, USED_UP) is None
    assert default_after_s(PromptType.BUDGET, USED_UP) is None


def test_a_run_that_goes_on_has_what_is_granted_for_it() -> None:
    used_up = {**USED_UP, "scope": "run"}
    granted = validate_answer(PromptType.BUDGET, used_up, {"decision": "grant", "usd": 0.1})
    assert granted["usd"] == 0.1


# ------------------------------------------------------------------------------------ splits

SPLIT = {
    "reason": "big",
    "proposed_phases": [
        {"name": "One", "description": "first", "complexity": "low"},
        {"name": "Two", "description": "", "complexity": "medium"},
    ],
}


def test_a_split_is_approved_as_proposed_or_with_other_phases() -> None:
    kind = PromptType.SPLIT_PROPOSAL
    as_it_is = validate_answer(kind, SPLIT, {"decision": "approved"})
    assert as_it_is["phases"] == SPLIT["proposed_phases"]
    edited = validate_answer(kind, SPLIT, {"decision": "approved", "phases": [{"name": "All"}]})
    assert [p["name"] for p in edited["phases"]] == ["All"]
    rejected = validate_answer(kind, SPLIT, {"decision": "rejected", "reason": "small"})
    assert (rejected["phases"], rejected["reason"]) == (None, "small")


def test_a_split_without_phases_or_with_another_decision_is_refused() -> None:
    kind = PromptType.SPLIT_PROPOSAL
    assert "at least one phase" in problems(kind, SPLIT, {"decision": "approved", "phases": []})
    assert "decision" in problems(kind, SPLIT, {"decision": "maybe"})
    assert recommended_answer(kind, SPLIT) is None
