from dataclasses import replace
from typing import Any

import pytest

from agents_manager.domain import dialogue
from agents_manager.domain.card import Style
from agents_manager.domain.dialogue import About, Step, Way
from agents_manager.domain.payload import NeedsInfo, OptionsProposed, ProposeSplit
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt, PromptStatus, validate_answer
from agents_manager.errors import InvalidAnswer
from tests.contract.store_values import a_prompt, later

ABOUT = About(title="Add authentication", number=41)

AUTH = {
    "id": "auth",
    "question": "Which auth strategy should I use?",
    "options": [
        {"label": "Session-based", "description": "Server-side sessions"},
        {"label": "JWT tokens", "description": "Stateless", "recommended": True},
    ],
}
SOCIAL = {"id": "social", "question": "Social login?", "inputType": "boolean"}
NAME = {"id": "name", "question": "Its name?", "suggestedAnswer": "Login"}
WORK = {
    "branch": "agent/x",
    "base": "main",
    "head_sha": "a" * 40,
    "files": 5,
    "additions": 142,
    "deletions": 23,
}
OBJECTION = {
    "decision": "changes_requested",
    "summary": "No tests",
    "comments": [{"id": "c1", "severity": "must_fix", "comment": "Test it"}],
}
FORM = {
    "outcome": "release",
    "title": "Which release?",
    "reported": {"summary": "Two fit"},
    "schema": {"type": "object", "properties": {"channel": {"type": "string"}}},
    "value": {"channel": "beta"},
}
BUDGET = {
    "scope": "task",
    "subject": "task-1",
    "name": "Add authentication",
    "limit_usd": 5.0,
    "granted_usd": 0.0,
    "spent_usd": 5.5,
    "unknown": 0,
}
CHOICES = {
    "reason": "The agent failed: out of memory",
    "evidence": "crash",
    "choices": [
        {"id": "again", "label": "Run the agent again", "action": "rerun"},
        {"id": "stay", "label": "Leave it as it is", "action": "stay"},
    ],
}
PERMISSION = {"tool": "Bash", "action": "Delete the folder build", "reason": "It is in the way"}


def asks(*questions: dict[str, Any]) -> Prompt:
    payload = NeedsInfo.model_validate({"questions": questions}).model_dump(mode="json")
    return of(PromptType.INFO_REQUEST, payload)


def of(kind: PromptType, payload: Any) -> Prompt:
    return a_prompt(type=kind, payload=payload)


OPTIONS = of(
    PromptType.INFO_REQUEST,
    OptionsProposed.model_validate(
        {
            "summary": "Where do sessions live?",
            "options": [
                {"id": "files", "label": "Files", "cons": ["Slow"]},
                {
                    "id": "tables",
                    "label": "Tables",
                    "description": "In the database",
                    "pros": ["Safe", "Known"],
                    "effort": "small",
                    "recommended": True,
                },
            ],
        }
    ).model_dump(mode="json"),
)
SPLIT = of(
    PromptType.SPLIT_PROPOSAL,
    ProposeSplit.model_validate(
        {
            "reason": "It is large",
            "proposedPhases": [
                {"name": "Backend API"},
                {"name": "Integration Tests", "complexity": "low"},
            ],
        }
    ).model_dump(mode="json"),
)
DOCUMENT = {"document": "# Plan\n\nFirst, then second.", "title": "Plan", "artifact_id": None}
PROMPTS = {
    "question": asks(AUTH),
    "boolean": asks(SOCIAL),
    "suggested": asks(NAME),
    "options": OPTIONS,
    "review": of(PromptType.REVIEW, WORK),
    "objected": of(PromptType.REVIEW, {**WORK, "review": OBJECTION}),
    "document": of(PromptType.DOCUMENT_REVIEW, DOCUMENT),
    "split": SPLIT,
    "choice": of(PromptType.CHOICE, CHOICES),
    "permission": of(PromptType.PERMISSION, PERMISSION),
    "budget": of(PromptType.BUDGET, BUDGET),
    "form": of(PromptType.INFO_REQUEST, FORM),
}
LABELS = {
    "question": ["JWT tokens (recommended)", "Session-based", "Custom answer…"],
    "boolean": ["Yes", "No"],
    "suggested": ["Login (recommended)", "Custom answer…"],
    "options": ["Tables (recommended)", "Files", "Own approach…"],
    "review": ["Approve", "Request changes…"],
    "objected": ["Send back for rework", "Request changes…", "Approve anyway"],
    "document": ["Approve", "Request changes…"],
    "split": ["Approve split", "Reject…"],
    "choice": ["Run the agent again", "Leave it as it is"],
    "permission": ["Allow once", "Allow for this run", "Allow for the project", "Deny"],
    "budget": ["Grant $5.50", "Other amount…", "Stop"],
    "form": ["Accept what is proposed"],
}


def shown(prompt: Prompt, given: dialogue.Given = ()) -> Step:
    return dialogue.step(prompt, ABOUT, given)


def way(step: Step, label: str) -> Way:
    return next(w for w in step.ways if w.label == label)


@pytest.mark.parametrize("name", PROMPTS)
def test_every_prompt_has_its_buttons_with_what_is_recommended_first(name: str) -> None:
    step = shown(PROMPTS[name])
    assert [w.label for w in step.ways] == LABELS[name]
    assert all(w.style is not Style.PRIMARY for w in step.ways[1:])


@pytest.mark.parametrize("name", PROMPTS)
def test_every_button_gives_an_answer_that_fits(name: str) -> None:
    prompt = PROMPTS[name]
    for one in shown(prompt).ways:
        assert (one.action.asks is None) == (not one.label.endswith("…"))
        words = ("7" if one.action.field == "usd" else "words") if one.action.asks else None
        taken = dialogue.take(prompt, (), one.action, words)
        assert taken.answer is not None
        assert validate_answer(prompt.type, prompt.payload, taken.answer)


def test_a_question_shows_its_options_as_they_are_meant() -> None:
    step = shown(PROMPTS["question"])
    assert step.title == '🤖 Agent needs input on "Add authentication"'
    assert step.body == (
        "Which auth strategy should I use?",
        "→ JWT tokens (recommended)\n  Stateless",
        "→ Session-based\n  Server-side sessions",
    )


def test_a_review_shows_its_number_and_its_size() -> None:
    step = shown(PROMPTS["review"])
    assert step.title == '🤖 PR ready for review: "Add authentication" (#41)'
    assert step.body == ("+142 -23 across 5 files",)
    unnumbered = dialogue.step(PROMPTS["review"], About(title="Add"))
    assert unnumbered.title == '🤖 PR ready for review: "Add"'


def test_a_review_tells_what_an_agent_and_the_checks_found() -> None:
    payload = {**WORK, "review": OBJECTION, "warnings": ["lint"], "policy": ["AGENTS.md"]}
    assert shown(of(PromptType.REVIEW, payload)).body[1:] == (
        "Check failed: lint",
        "It tells agents and checks what to do: AGENTS.md",
        "An agent reviewed it, changes requested: No tests (1 comment)",
    )


def test_a_document_is_shown_whole() -> None:
    step = shown(PROMPTS["document"])
    assert step.title == '🤖 Plan ready for review: "Add authentication"'
    assert step.body == (DOCUMENT["document"],)


def test_a_split_counts_its_phases() -> None:
    step = shown(SPLIT)
    assert step.title == '🤖 Agent proposes splitting "Add authentication"'
    assert step.body == ("It is large", "1. Backend API (medium)\n2. Integration Tests (low)")


def test_options_show_what_speaks_for_and_against_them() -> None:
    assert shown(OPTIONS).body[1:] == (
        "→ Tables (recommended)\n  In the database\n  + Safe\n  + Known\n  Effort: small",
        "→ Files\n  - Slow",
    )


def test_a_choice_a_permission_a_budget_and_a_form_say_what_they_are_about() -> None:
    assert shown(PROMPTS["choice"]).body == (
        "The agent failed: out of memory",
        "Evidence: crash",
        "→ Run the agent again\n→ Leave it as it is",
    )
    assert shown(PROMPTS["permission"]).body == (
        "Bash: Delete the folder build",
        "It is in the way",
    )
    spent = "The budget of this task is used up: $5.50 spent, of $5.00."
    assert shown(PROMPTS["budget"]).body == (spent,)
    assert shown(PROMPTS["form"]).body == (
        "Which release?",
        "Summary: Two fit",
        "Proposed:\n• Channel: beta",
    )


def test_a_form_without_a_proposal_is_filled_in_elsewhere() -> None:
    step = shown(of(PromptType.INFO_REQUEST, {**FORM, "value": None}))
    assert step.ways == ()
    assert step.words is None
    assert step.hint == "This is a form; fill it in in the web app."


def test_several_questions_are_asked_one_by_one() -> None:
    prompt = asks(AUTH, SOCIAL, NAME)
    first = shown(prompt)
    assert first.body[0] == "Question 1 of 3: Which auth strategy should I use?"
    one = dialogue.take(prompt, (), way(first, "Session-based").action)
    assert one.answer is None
    second = shown(prompt, one.given)
    assert second.body[:2] == (
        "✓ Which auth strategy should I use? Session-based",
        "Question 2 of 3: Social login?",
    )
    two = dialogue.take(prompt, one.given, way(second, "No").action)
    third = shown(prompt, two.given)
    assert third.words is not None
    three = dialogue.take(prompt, two.given, third.words, " Door ")
    assert three.answer == {
        "answers": [
            {"question_id": "auth", "option": "Session-based"},
            {"question_id": "social", "text": "no"},
            {"question_id": "name", "text": "Door"},
        ]
    }


def test_all_that_is_recommended_is_accepted_at_once_where_everything_has_it() -> None:
    prompt = asks(AUTH, NAME)
    step = shown(prompt)
    accept = way(step, "Accept recommended")
    assert step.ways[0] == accept
    assert step.body[0].startswith("Recommended:\n• Which auth strategy should I use? JWT tokens")
    taken = dialogue.take(prompt, (), accept.action)
    assert taken.answer == {
        "answers": [
            {"question_id": "auth", "option": "JWT tokens"},
            {"question_id": "name", "text": "Login"},
        ]
    }
    assert "Accept recommended" not in [w.label for w in shown(asks(AUTH, SOCIAL)).ways]
    later_step = shown(prompt, ({"question_id": "auth", "option": "JWT tokens"},))
    assert [w.label for w in later_step.ways] == ["Login (recommended)", "Custom answer…"]


@pytest.mark.parametrize("words", [None, "", "  "])
def test_what_wants_words_does_not_count_without_them(words: str | None) -> None:
    for name, label in [("question", "Custom answer…"), ("review", "Request changes…")]:
        action = way(shown(PROMPTS[name]), label).action
        with pytest.raises(InvalidAnswer, match="in words"):
            dialogue.take(PROMPTS[name], (), action, words)


def test_words_that_do_not_fit_are_refused_at_their_own_step() -> None:
    yes_or_no = asks(SOCIAL, NAME)
    words = shown(yes_or_no).words
    assert words is not None
    with pytest.raises(InvalidAnswer) as caught:
        dialogue.take(yes_or_no, (), words, "perhaps")
    assert caught.value.details == ('question "social" is answered with yes or no',)
    other = way(shown(PROMPTS["budget"]), "Other amount…").action
    with pytest.raises(InvalidAnswer, match='"much" is no amount'):
        dialogue.take(PROMPTS["budget"], (), other, "much")


@pytest.mark.parametrize("name", ["review", "document", "split", "choice", "permission", "budget"])
def test_words_alone_decide_nothing_where_a_decision_is_asked_for(name: str) -> None:
    assert shown(PROMPTS[name]).words is None


def test_what_failed_before_comes_first() -> None:
    prompt = replace(PROMPTS["review"], note="The merge failed.", revision=2)
    assert shown(prompt).body[0] == "Asked again: The merge failed."


def test_nothing_hidden_is_shown() -> None:
    hostile = asks(
        {"id": "q", "question": "a\u202egpj.exe\x1b[2J", "context": "one\r\n\ttwo\u200b"}
    )
    assert shown(hostile).body == ("a gpj.exe [2J", "one\n two")


ENDS = {
    "responded": (PromptStatus.RESPONDED, "✓ ann answered via web: JWT tokens"),
    "expired": (PromptStatus.EXPIRED, "Nobody answered in time."),
    "superseded": (PromptStatus.SUPERSEDED, "A newer question took its place."),
    "cancelled": (
        PromptStatus.CANCELLED,
        "The task went on another way; no answer is needed.",
    ),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_question_that_is_over_says_how_it_ended(end: str) -> None:
    status, told = ENDS[end]
    answers = [{"question_id": "auth", "option": "JWT tokens", "text": None}]
    prompt = replace(
        PROMPTS["question"],
        status=status,
        response={"answers": answers},
        responded_by="ann",
        responded_via="web",
        responded_at=later(1),
    )
    step = dialogue.closed(prompt, ABOUT)
    assert step.title == shown(PROMPTS["question"]).title
    assert step.body == (told,)
    assert step.ways == ()
