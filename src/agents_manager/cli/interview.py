"""Asking at the terminal: each question with its numbered options, the recommended one marked and
taken by just pressing Enter. Questions go to standard error, so that `--json` stays pure."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click

from agents_manager.cli import answering, files, form_interview, render
from agents_manager.cli.pages import prompt as pages
from agents_manager.cli.render import Block, Line, Tone, clean
from agents_manager.domain import form
from agents_manager.domain.form import Form
from agents_manager.domain.payload import (
    InputType,
    NeedsInfo,
    OptionsProposed,
    Question,
    recommended_first,
)
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import (
    BudgetDecision,
    ChoicePayload,
    Decision,
    Prompt,
    agent_objects,
)
from agents_manager.errors import InvalidAnswer

HOW_TO_COMMENT = "Comments on lines, like: src/app.py:12: [must_fix] Say why it failed."
HOW_TO_REMARK = "Comments on lines, like: 12: [must_fix] Which model?"


def possible() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def ask(prompt: Prompt, change: Sequence[Block] = ()) -> dict[str, Any]:
    """The raw answer, as a person gives it; `change` shows the work under review."""
    payload = prompt.payload
    if prompt.type is PromptType.INFO_REQUEST and "questions" in payload:
        questions = NeedsInfo.model_validate(payload).questions
        return {"answers": [_question(n, q) for n, q in enumerate(questions, 1)]}
    if form.is_form(payload):
        return form_interview.fill_in(Form(**payload), _text, _say)
    _say([*pages.asked(prompt), *change])
    match prompt.type:
        case PromptType.INFO_REQUEST:
            return _options(OptionsProposed.model_validate(payload))
        case PromptType.REVIEW:
            return _review(agent_objects(payload), HOW_TO_COMMENT)
        case PromptType.DOCUMENT_REVIEW:
            return _review(agent_objects(payload), HOW_TO_REMARK)
        case PromptType.SPLIT_PROPOSAL:
            decision = _decision(answering.SPLITS)
            return {"decision": decision, "reason": _text("Why (Enter for none)", "") or None}
        case PromptType.CHOICE:
            choices = ChoicePayload.model_validate(payload).choices
            return {"choice_id": _number("Choose", [(c.id, c.label) for c in choices])}
        case PromptType.PERMISSION:
            return answering.PERMISSIONS[_decision(answering.PERMISSION_NAMES)]
        case PromptType.BUDGET:
            decision = _decision(answering.BUDGETS)
            more = decision == BudgetDecision.GRANT
            return answering.to_budget(decision, _text("Dollars more", None) if more else None)


def _question(number: int, question: Question) -> dict[str, Any]:
    _say(pages.question_lines(number, question))
    answer: dict[str, Any] = {"question_id": question.id}
    if not question.options:
        yes_or_no = question.input_type is InputType.BOOLEAN
        label = "   yes or no" if yes_or_no else "   Answer"
        return {**answer, "text": _text(label, question.suggested_answer)}
    options = recommended_first(question.options)
    said = _text("   Number, or your own words", "1" if options[0].recommended else None)
    names = [(o.label,) for o in options]
    try:
        return {**answer, "option": answering.pick(said, names)}
    except InvalidAnswer:
        return {**answer, "text": said}


def _options(payload: OptionsProposed) -> dict[str, Any]:
    options = recommended_first(payload.options)
    said = _text("Number, or your own words", "1" if options[0].recommended else None)
    try:
        chosen = answering.pick(said, [(o.id, o.label) for o in options])
    except InvalidAnswer:
        return {"text": said}
    more = _text("Further instructions (Enter for none)", "")
    return {"option_id": chosen, "instructions": more or None}


def _review(agent_objects: bool, how: str) -> dict[str, Any]:
    names = answering.DECISIONS_ANYWAY if agent_objects else answering.DECISIONS
    decision = _decision(names)
    if decision == Decision.APPROVED:
        return {"decision": decision, "summary": _text("Comment (Enter for none)", "") or None}
    if agent_objects:
        summary = _text("What else must change (Enter for nothing)", "") or None
    else:
        summary = _text("What must change", None)
    _say([Line(how, Tone.QUIET)])
    comments: list[Any] = []
    while line := _text("Comment (Enter ends)", ""):
        comments += files.comment_lines(line)
    return {"decision": decision, "summary": summary, "comments": comments}


def _decision(names: answering.Names) -> str:
    _say(Line(f"  {n}) {called[-1]}") for n, called in enumerate(names, 1))
    return _number("Decide", names)


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


def _say(blocks: Iterable[Block]) -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        render.to_terminal(blocks, err=True)
    else:
        click.echo(render.to_text(blocks), err=True)
