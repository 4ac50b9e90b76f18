"""Asking at the terminal: each question with its numbered options, the recommended one marked and
taken by just pressing Enter. Questions go to standard error, so that `--json` stays pure."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click

from agents_manager.cli import answering
from agents_manager.cli.pages import prompt as pages
from agents_manager.cli.render import Line, clean, one_line
from agents_manager.domain.payload import (
    InputType,
    NeedsInfo,
    OptionsProposed,
    ProposeSplit,
    Question,
)
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import ChoicePayload, Decision, PermissionPayload, Prompt
from agents_manager.errors import InvalidAnswer


def possible() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def ask(prompt: Prompt) -> dict[str, Any]:
    """The raw answer, as a person gives it."""
    payload = prompt.payload
    match prompt.type:
        case PromptType.INFO_REQUEST if "questions" in payload:
            questions = NeedsInfo.model_validate(payload).questions
            return {"answers": [_question(n, q) for n, q in enumerate(questions, 1)]}
        case PromptType.INFO_REQUEST:
            return _options(OptionsProposed.model_validate(payload))
        case PromptType.REVIEW | PromptType.DOCUMENT_REVIEW:
            return _review()
        case PromptType.SPLIT_PROPOSAL:
            _say(pages.phase_lines(ProposeSplit.model_validate(payload)))
            _say(Line(f"  {n}) {called[-1]}") for n, called in enumerate(answering.SPLITS, 1))
            decision = _number("Decide", answering.SPLITS)
            return {"decision": decision, "reason": _text("Why (Enter for none)", "") or None}
        case PromptType.CHOICE:
            choice = ChoicePayload.model_validate(payload)
            _say([Line(one_line(choice.reason)), *pages.choice_lines(choice)])
            return {"choice_id": _number("Choose", [(c.id, c.label) for c in choice.choices])}
        case PromptType.PERMISSION:
            _say(pages.permission_lines(PermissionPayload.model_validate(payload)))
            names = answering.PERMISSION_NAMES
            _say(Line(f"  {n}) {called[-1]}") for n, called in enumerate(names, 1))
            return answering.PERMISSIONS[_number("Decide", names)]


def _question(number: int, question: Question) -> dict[str, Any]:
    _say(pages.question_lines(number, question))
    answer: dict[str, Any] = {"question_id": question.id}
    if not question.options:
        yes_or_no = question.input_type is InputType.BOOLEAN
        label = "   yes or no" if yes_or_no else "   Answer"
        return {**answer, "text": _text(label, question.suggested_answer)}
    names = [(o.label,) for o in question.options]
    preferred = next((n for n, o in enumerate(question.options, 1) if o.recommended), None)
    said = _text("   Number, or your own words", str(preferred) if preferred else None)
    try:
        return {**answer, "option": answering.pick(said, names)}
    except InvalidAnswer:
        return {**answer, "text": said}


def _options(payload: OptionsProposed) -> dict[str, Any]:
    for number, option in enumerate(payload.options, 1):
        _say(pages.option_lines(number, option))
    names = [(o.id, o.label) for o in payload.options]
    preferred = next((n for n, o in enumerate(payload.options, 1) if o.recommended), None)
    said = _text("Number, or your own words", str(preferred) if preferred else None)
    try:
        chosen = answering.pick(said, names)
    except InvalidAnswer:
        return {"text": said}
    more = _text("Further instructions (Enter for none)", "")
    return {"option_id": chosen, "instructions": more or None}


def _review() -> dict[str, Any]:
    _say(Line(f"  {n}) {called[-1]}") for n, called in enumerate(answering.DECISIONS, 1))
    decision = _number("Decide", answering.DECISIONS)
    if decision == Decision.APPROVED:
        return {"decision": decision, "summary": _text("Comment (Enter for none)", "") or None}
    return {"decision": decision, "summary": _text("What must change", None)}


def _number(label: str, names: Sequence[tuple[str, ...]]) -> str:
    """Asks until the answer is one of the options."""
    while True:
        try:
            return answering.pick(_text(label, None), names)
        except InvalidAnswer as error:
            click.echo(clean(error.message), err=True)


def _text(label: str, default: str | None) -> str:
    said: str = click.prompt(clean(label), default=default, err=True, show_default=bool(default))
    return said.strip()


def _say(lines: Iterable[Line]) -> None:
    for line in lines:
        click.echo(clean(line.text), err=True)
