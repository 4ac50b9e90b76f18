"""From the options of `am prompt answer` to the one form of answer that every door sends."""

from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from agents_manager.cli import files
from agents_manager.domain import form
from agents_manager.domain.payload import NeedsInfo, OptionsProposed, recommended_first
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import (
    BudgetDecision,
    ChoicePayload,
    Decision,
    Prompt,
    SplitDecision,
    agent_objects,
    amount,
)
from agents_manager.errors import InvalidAnswer, closest

Names = Sequence[tuple[str, ...]]
"""For each option, in the order shown, what it may be called; the answer carries the first."""

DECISIONS: Names = (
    (Decision.APPROVED.value, "approve"),
    (Decision.CHANGES_REQUESTED.value, "changes", "request changes"),
)

DECISIONS_ANYWAY: Names = (
    (Decision.APPROVED.value, "approve", "approve anyway"),
    (Decision.CHANGES_REQUESTED.value, "send back", "send back for rework"),
)
"""Where an agent reviewed first and asked for changes."""

SPLITS: Names = (
    (SplitDecision.APPROVED.value, "approve"),
    (SplitDecision.REJECTED.value, "reject"),
)


PERMISSION_NAMES: Names = (
    ("allow", "allow this once"),
    ("run", "allow for this run"),
    ("project", "allow for the project"),
    ("deny", "do not allow"),
)
PERMISSIONS: Mapping[str, dict[str, Any]] = {
    "allow": {"allow": True, "scope": "once"},
    "run": {"allow": True, "scope": "run"},
    "project": {"allow": True, "scope": "project"},
    "deny": {"allow": False},
}


BUDGETS: Names = (
    (BudgetDecision.GRANT.value, "grant more"),
    (BudgetDecision.STOP.value, "stop here"),
)


def from_file(file: BinaryIO) -> dict[str, Any]:
    return files.json_object(file)


def from_options(prompt: Prompt, option: str | None, text: str | None) -> dict[str, Any]:
    payload = prompt.payload
    match prompt.type:
        case PromptType.INFO_REQUEST if "questions" in payload:
            return _to_question(NeedsInfo.model_validate(payload), option, text)
        case PromptType.INFO_REQUEST if form.is_form(payload):
            raise InvalidAnswer(
                "This is a form; fill it in with --answers FILE, or field by field on a terminal.",
                [
                    f"{name}: {form.title(name, part)}"
                    for name, part, _ in form.fields(payload["schema"])
                ],
            )
        case PromptType.INFO_REQUEST:
            options = recommended_first(OptionsProposed.model_validate(payload).options)
            if option is None:
                return {"text": text}
            chosen = pick(option, [(o.id, o.label) for o in options])
            return {"option_id": chosen, "instructions": text}
        case PromptType.REVIEW | PromptType.DOCUMENT_REVIEW:
            names = DECISIONS_ANYWAY if agent_objects(payload) else DECISIONS
            return {"decision": pick(option, names), "summary": text}
        case PromptType.SPLIT_PROPOSAL:
            return {"decision": pick(option, SPLITS), "reason": text}
        case PromptType.CHOICE:
            choices = ChoicePayload.model_validate(payload).choices
            chosen = pick(option, [(c.id, c.label) for c in choices])
            return {"choice_id": chosen, "text": text}
        case PromptType.PERMISSION:
            return PERMISSIONS[pick(option, PERMISSION_NAMES)]
        case PromptType.BUDGET:
            return to_budget(pick(option, BUDGETS), text)


def to_budget(decision: str, text: str | None) -> dict[str, Any]:
    """The amount of a grant is a word of the command line, with or without its sign."""
    if text is None:
        return {"decision": decision}
    return {"decision": decision, "usd": amount(text)}


def pick(option: str | None, names: Names) -> str:
    """The option that a number, counted from 1 as they are shown, or a name means."""
    shown = [f"{n}) {called[-1]}" for n, called in enumerate(names, 1)]
    if option is None:
        raise InvalidAnswer("Say which with --option.", shown)
    for called in names:
        if option in called:
            return called[0]
    if option.isascii() and option.isdigit() and 1 <= int(option) <= len(names):
        return names[int(option) - 1][0]
    folded = {c.casefold(): called[0] for called in names for c in called}
    if option.casefold() in folded:
        return folded[option.casefold()]
    hint = closest(option, [c for called in names for c in called])
    raise InvalidAnswer(f'There is no option "{option}".{hint}', shown)


def _to_question(payload: NeedsInfo, option: str | None, text: str | None) -> dict[str, Any]:
    question, *more = payload.questions
    if more:
        raise InvalidAnswer(
            f"There are {len(payload.questions)} questions; answer them with --accept,"
            " --answers FILE, or one by one on a terminal.",
            [f"{q.id}: {q.question}" for q in payload.questions],
        )
    answer: dict[str, Any] = {"question_id": question.id, "text": text}
    if option is not None:
        if not question.options:
            raise InvalidAnswer("The question has no options; answer it with --text.")
        answer["option"] = pick(option, [(o.label,) for o in recommended_first(question.options)])
    return {"answers": [answer]}
