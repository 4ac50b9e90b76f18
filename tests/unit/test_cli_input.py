"""What people type and hand over in files, before it reaches the program."""

import io
from typing import Any

import pytest

from agents_manager.cli import answering, files
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt
from agents_manager.errors import InvalidAnswer, InvalidInput
from tests.contract.store_values import a_prompt

OPTIONS = {"summary": "?", "options": [{"id": "a", "label": "Ant"}, {"id": "b", "label": "Bee"}]}
CHOICES = {
    "reason": "?",
    "choices": [
        {"id": "retry", "label": "Run the agent again", "action": "rerun"},
        {"id": "cancel", "label": "Cancel", "action": "stay"},
    ],
}
QUESTION = {"questions": [{"id": "q", "question": "?", "options": ["10", "2"]}]}
OPEN = {"questions": [{"id": "q", "question": "?"}]}
TWO = {"questions": [{"id": "q", "question": "?"}, {"id": "r", "question": "?"}]}


def comment(
    text: str, file: str | None = None, line: int | None = None, severity: str = "must_fix"
) -> dict[str, Any]:
    return {"file": file, "line": line, "severity": severity, "comment": text}


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("src/a.py:12: [nit] Too long.", comment("Too long.", "src/a.py", 12, "nit")),
        ("a b.py:3: No.", comment("No.", "a b.py", 3)),
        ("a.py: [should-fix] All of it.", comment("All of it.", "a.py", None, "should_fix")),
        ("[suggestion] Add a test.", comment("Add a test.", severity="suggestion")),
        ("Note: this is no file.", comment("Note: this is no file.")),
        ("12: [nit] Which model?", comment("Which model?", None, 12, "nit")),
        ("C:x:7: [MUST_FIX] x", comment("x", "C:x", 7)),
    ],
)
def test_a_line_is_a_comment(line: str, read: dict[str, Any]) -> None:
    assert files.comment_lines(line) == [read]


def test_comments_go_on_in_indented_lines() -> None:
    text = "a.py:1: One\n   more.\n\n[suggestion] Two\n"
    assert files.comment_lines(text) == [
        comment("One\nmore.", "a.py", 1),
        comment("Two", severity="suggestion"),
    ]


def test_comments_may_be_json() -> None:
    assert files.comments(io.BytesIO(b' [{"comment": "x"}]')) == [{"comment": "x"}]
    assert files.comments(io.BytesIO(b"[]")) == []


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"a\nb\xff", r"not UTF-8 text \(line 2, byte 3\)"),
        (b"x" * (files.MAX_BYTES + 1), "longer than"),
        (b'[{"a"]', "JSON"),
    ],
)
def test_files_that_cannot_be_read(content: bytes, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        files.comments(io.BytesIO(content))


def prompt(type: PromptType, payload: dict[str, Any]) -> Prompt:
    return a_prompt(type=type, payload=payload)


def one(**answer: Any) -> dict[str, Any]:
    return {"answers": [{"question_id": "q", "text": None, **answer}]}


@pytest.mark.parametrize(
    ("type", "payload", "option", "text", "answer"),
    [
        (PromptType.INFO_REQUEST, OPTIONS, "2", None, {"option_id": "b", "instructions": None}),
        (PromptType.INFO_REQUEST, OPTIONS, "bee", "x", {"option_id": "b", "instructions": "x"}),
        (PromptType.INFO_REQUEST, OPTIONS, None, "x", {"text": "x"}),
        (PromptType.INFO_REQUEST, QUESTION, "1", None, one(option="10")),
        (PromptType.INFO_REQUEST, QUESTION, "2", None, one(option="2")),
        (PromptType.INFO_REQUEST, QUESTION, "10", None, one(option="10")),
        (PromptType.INFO_REQUEST, OPEN, None, "x", one(text="x")),
        (PromptType.CHOICE, CHOICES, "1", None, {"choice_id": "retry", "text": None}),
        (PromptType.CHOICE, CHOICES, "cancel", None, {"choice_id": "cancel", "text": None}),
        (PromptType.REVIEW, {}, "approve", None, {"decision": "approved", "summary": None}),
        (PromptType.REVIEW, {}, "2", "x", {"decision": "changes_requested", "summary": "x"}),
        (PromptType.PERMISSION, {}, "allow", None, {"allow": True, "scope": "once"}),
        (PromptType.PERMISSION, {}, "2", None, {"allow": True, "scope": "run"}),
        (
            PromptType.PERMISSION,
            {},
            "Project",
            None,
            {"allow": True, "scope": "project"},
        ),
        (PromptType.PERMISSION, {}, "deny", None, {"allow": False}),
        (PromptType.BUDGET, {}, "grant", "$2.50", {"decision": "grant", "usd": 2.5}),
        (PromptType.BUDGET, {}, "1", None, {"decision": "grant"}),
        (PromptType.BUDGET, {}, "stop", None, {"decision": "stop"}),
    ],
)
def test_options_become_the_answer_that_every_door_sends(
    type: PromptType,
    payload: dict[str, Any],
    option: str | None,
    text: str | None,
    answer: dict[str, Any],
) -> None:
    assert answering.from_options(prompt(type, payload), option, text) == answer


def test_an_amount_is_a_number() -> None:
    with pytest.raises(InvalidAnswer, match='"a lot" is no amount; write dollars, such as 5'):
        answering.from_options(prompt(PromptType.BUDGET, {}), "grant", "a lot")


@pytest.mark.parametrize(
    ("type", "payload", "option", "says"),
    [
        (PromptType.INFO_REQUEST, OPTIONS, "3", 'no option "3"'),
        (PromptType.INFO_REQUEST, OPTIONS, "²", 'no option "²"'),
        (PromptType.INFO_REQUEST, OPEN, "1", "no options; answer it with --text"),
        (PromptType.INFO_REQUEST, TWO, "1", "There are 2 questions"),
        (PromptType.CHOICE, CHOICES, None, "Say which with --option"),
        (PromptType.CHOICE, CHOICES, "cancle", 'Did you mean "cancel"'),
    ],
)
def test_options_that_do_not_fit(
    type: PromptType, payload: dict[str, Any], option: str | None, says: str
) -> None:
    with pytest.raises(InvalidAnswer, match=says):
        answering.from_options(prompt(type, payload), option, None)
