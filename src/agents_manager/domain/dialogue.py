"""A prompt as a talk by buttons and words: what is shown at each step, and what a press or words
make of it. The same for every channel, in plain words; much of them is an agent's."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents_manager.domain import form
from agents_manager.domain.budget import Budget, dollars
from agents_manager.domain.card import Style
from agents_manager.domain.event.happening import counted_as
from agents_manager.domain.names import visible, visible_lines
from agents_manager.domain.payload import (
    InputType,
    NeedsInfo,
    OptionsProposed,
    ProposedOption,
    ProposeSplit,
    Question,
    recommended_first,
)
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import (
    BudgetPayload,
    ChoicePayload,
    PermissionPayload,
    Prompt,
    PromptStatus,
    agent_objects,
    amount,
    in_words,
    recommended_answer,
    validate_answer,
)
from agents_manager.domain.value import Value
from agents_manager.errors import InvalidAnswer

Given = tuple[Mapping[str, Any], ...]
"""The answers to the first questions, where there are several."""

RECOMMENDED = " (recommended)"
_NAME = 80
"""Characters of somebody's words inside of a sentence of ours."""


class Action(Value):
    """What a button stands for."""

    gives: Mapping[str, Any]
    """Fields of the answer."""
    asks: str | None = None
    """Words are asked for with this, before it counts."""
    field: str | None = None
    """Where those words stand in the answer."""
    whole: bool = False
    """Answers everything, and not only the question of this step."""


@dataclass(frozen=True, slots=True)
class Way:
    """A button before it has an id."""

    label: str
    action: Action
    style: Style = Style.PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a prompt is about, besides what it says itself."""

    title: str
    """The task's."""
    number: int | None = None
    """Of the pull request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    title: str
    body: tuple[str, ...]
    ways: tuple[Way, ...] = ()
    words: Action | None = None
    """What words without a press mean; None: they decide nothing."""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a press or words led to."""

    given: Given
    answer: Mapping[str, Any] | None
    """The whole of it, once nothing is open."""


def step(prompt: Prompt, about: About, given: Given = ()) -> Step:
    """What is asked now, and the ways to answer it."""
    found = _step(prompt.type, prompt.payload, about, given)
    again = (f"Asked again: {prompt.note}",) if prompt.note else ()
    body = tuple(visible_lines(part) for part in (*again, *found.body) if part.strip())
    return Step(
        title=visible(found.title, len(found.title) + 1),
        body=body,
        ways=found.ways,
        words=found.words,
        hint=found.hint,
    )


def take(prompt: Prompt, given: Given, action: Action, words: str | None = None) -> Taken:
    """InvalidAnswer, with what is wrong, when the words do not fit."""
    said = dict(action.gives)
    if action.field is not None:
        said[action.field] = _words(action.field, words)
    if action.whole or "questions" not in prompt.payload:
        return Taken(given=given, answer=said)
    questions = NeedsInfo.model_validate(prompt.payload).questions
    alone = {"questions": [questions[len(given)].model_dump(mode="json")]}
    validate_answer(prompt.type, alone, {"answers": [said]})
    so_far = (*given, said)
    whole = {"answers": list(so_far)} if len(so_far) == len(questions) else None
    return Taken(given=so_far, answer=whole)


def closed(prompt: Prompt, about: About) -> Step:
    """What is shown once it cannot be answered any more."""
    return Step(title=step(prompt, about).title, body=(_ended(prompt),))


def _ended(prompt: Prompt) -> str:
    match prompt.status:
        case PromptStatus.RESPONDED:
            said = visible(in_words(prompt.response or {}), 300)
            return f"✓ {prompt.responded_by} answered via {prompt.responded_via}: {said}"
        case PromptStatus.EXPIRED:
            return "Nobody answered in time."
        case PromptStatus.SUPERSEDED:
            return "A newer question took its place."
        case _:
            return "The task went on another way; no answer is needed."


def _words(field: str, words: str | None) -> str | float:
    if words is None or not words.strip():
        raise InvalidAnswer("Write your answer in words.")
    return amount(words) if field == "usd" else words.strip()


def _step(kind: PromptType, payload: Mapping[str, Any], about: About, given: Given) -> Step:
    match kind:
        case PromptType.INFO_REQUEST if "questions" in payload:
            return _question(payload, about, given)
        case PromptType.INFO_REQUEST if form.is_form(payload):
            return _form(form.Form(**payload), about)
        case PromptType.INFO_REQUEST:
            return _options(OptionsProposed.model_validate(payload), about)
        case PromptType.REVIEW:
            number = f" (#{about.number})" if about.number is not None else ""
            title = f'🤖 PR ready for review: "{about.title}"{number}'
            return _review(title, tuple(_work(payload)), payload)
        case PromptType.DOCUMENT_REVIEW:
            title = f'🤖 {payload["title"]} ready for review: "{about.title}"'
            return _review(title, (str(payload["document"]), *_by_agent(payload)), payload)
        case PromptType.SPLIT_PROPOSAL:
            return _split(ProposeSplit.model_validate(payload), about)
        case PromptType.CHOICE:
            return _choice(ChoicePayload.model_validate(payload), about)
        case PromptType.PERMISSION:
            return _permission(PermissionPayload.model_validate(payload), about)
        case PromptType.BUDGET:
            return _budget(BudgetPayload.model_validate(payload).budget, about)


def _question(payload: Mapping[str, Any], about: About, given: Given) -> Step:
    questions = NeedsInfo.model_validate(payload).questions
    question = questions[len(given)]
    several = len(questions) > 1
    number = f"Question {len(given) + 1} of {len(questions)}: " if several else ""
    before = tuple(
        f"✓ {q.question} {a.get('option') or a.get('text')}"
        for q, a in zip(questions, given, strict=False)
    )
    ways = list(_answers(question))
    accepted = recommended_answer(PromptType.INFO_REQUEST, payload)
    if several and not given and accepted is not None:
        accept = Action(gives=accepted, whole=True)
        ways.insert(0, Way("Accept recommended", accept, Style.PRIMARY))
        before = ("\n".join(["Recommended:", *_recommended(questions)]),)
    own = _own_words(question)
    boolean = question.input_type is InputType.BOOLEAN
    return Step(
        title=f'🤖 Agent needs input on "{about.title}"',
        body=(*before, f"{number}{question.question}", question.context or "", *_listed(question)),
        ways=tuple(ways if boolean else [*ways, Way("Custom answer…", own)]),
        words=own,
        hint="" if boolean else "You can also reply to this message with your own words.",
    )


def _own_words(question: Question) -> Action:
    asks = f"Your answer to: {visible(question.question, _NAME)}"
    return Action(gives={"question_id": question.id}, asks=asks, field="text")


def _answers(question: Question) -> Iterator[Way]:
    at = {"question_id": question.id}
    suggested = question.suggested_answer
    for option in recommended_first(question.options):
        mark, style = _marked(option.recommended)
        yield Way(f"{option.label}{mark}", Action(gives={**at, "option": option.label}), style)
    if question.input_type is InputType.BOOLEAN and not question.options:
        for answer in ("yes", "no"):
            mark, style = _marked((suggested or "").lower() == answer)
            yield Way(f"{answer.capitalize()}{mark}", Action(gives={**at, "text": answer}), style)
    elif suggested:
        take = Action(gives={**at, "text": suggested})
        recommended = any(o.recommended for o in question.options)
        mark, style = ("", Style.PLAIN) if recommended else _marked(True)
        yield Way(f"{visible(suggested, _NAME)}{mark}", take, style)


def _marked(recommended: bool) -> tuple[str, Style]:
    return (RECOMMENDED, Style.PRIMARY) if recommended else ("", Style.PLAIN)


def _listed(question: Question) -> Iterator[str]:
    for option in recommended_first(question.options):
        yield _entry(option.label, option.recommended, [option.description or ""])
    if question.suggested_answer and question.input_type is not InputType.BOOLEAN:
        yield f"Suggested: {question.suggested_answer}"


def _recommended(questions: Sequence[Question]) -> Iterator[str]:
    for question in questions:
        label = next((o.label for o in question.options if o.recommended), None)
        yield f"• {question.question} {label or question.suggested_answer}"


def _entry(label: str, recommended: bool, below: Sequence[str]) -> str:
    lines = [line for part in below for line in part.splitlines()]
    return "\n".join([f"→ {label}{RECOMMENDED if recommended else ''}", *(f"  {x}" for x in lines)])


def _form(asked: form.Form, about: About) -> Step:
    reported = [f"{name}: {said}" for name, said in form.rows(dict(asked.reported))]
    title = f'🤖 Agent needs input on "{about.title}"'
    said = (asked.title, "\n".join(reported) if asked.reported else "")
    if asked.value is None:
        return Step(title=title, body=said, hint="This is a form; fill it in in the web app.")
    rows = form.rows(dict(asked.value), asked.schema)
    proposed = "\n".join(["Proposed:", *(f"• {name}: {value}" for name, value in rows)])
    accept = Way("Accept what is proposed", Action(gives={"value": asked.value}), Style.PRIMARY)
    other = "Other values are filled in in the web app."
    return Step(title=title, body=(*said, proposed), ways=(accept,), hint=other)


def _options(proposed: OptionsProposed, about: About) -> Step:
    options = recommended_first(proposed.options)
    own = Action(gives={}, asks="Describe your own approach:", field="text")
    ways = [
        Way(f"{o.label}{_marked(o.recommended)[0]}", _chosen(o), _marked(o.recommended)[1])
        for o in options
    ]
    return Step(
        title=f'🤖 Agent proposes options for "{about.title}"',
        body=(proposed.summary, *(_option(o) for o in options)),
        ways=(*ways, Way("Own approach…", own)),
        words=own,
        hint="You can also reply to this message with your own approach.",
    )


def _chosen(option: ProposedOption) -> Action:
    return Action(gives={"option_id": option.id})


def _option(option: ProposedOption) -> str:
    below = [
        option.description,
        *(f"+ {pro}" for pro in option.pros),
        *(f"- {con}" for con in option.cons),
        option.tradeoffs or "",
        f"Effort: {option.effort}" if option.effort else "",
    ]
    return _entry(option.label, option.recommended, below)


def _review(title: str, body: tuple[str, ...], payload: Mapping[str, Any]) -> Step:
    objects = agent_objects(payload)
    approve = Action(gives={"decision": "approved"})
    changes = {"decision": "changes_requested"}
    said = Action(gives=changes, asks="What must change?", field="summary")
    approval = Way("Approve", approve, Style.PRIMARY)
    ways = (approval, Way("Request changes…", said))
    if objects:
        back = Way("Send back for rework", Action(gives=changes), Style.PRIMARY)
        ways = (back, ways[1], Way("Approve anyway", approve, Style.DANGER))
    return Step(title=title, body=body, ways=ways)


def _work(payload: Mapping[str, Any]) -> Iterator[str]:
    files = counted_as(payload["files"], "file")
    yield f"+{payload['additions']} -{payload['deletions']} across {files}"
    yield "\n".join(f"Check failed: {warning}" for warning in payload.get("warnings", ()))
    if policy := payload.get("policy"):
        yield f"It tells agents and checks what to do: {', '.join(policy)}"
    yield from _by_agent(payload)


def _by_agent(payload: Mapping[str, Any]) -> Iterator[str]:
    review: Mapping[str, Any] = payload.get("review") or {}
    if review:
        decided = str(review.get("decision", "")).replace("_", " ")
        said = f": {review['summary']}" if review.get("summary") else ""
        remarks = review.get("comments") or ()
        count = f" ({counted_as(len(remarks), 'comment')})" if remarks else ""
        yield f"An agent reviewed it, {decided}{said}{count}"


def _split(proposed: ProposeSplit, about: About) -> Step:
    phases = [
        f"{n}. {phase.name} ({phase.complexity})"
        for n, phase in enumerate(proposed.proposed_phases, 1)
    ]
    reject = Action(gives={"decision": "rejected"}, asks="Why should it not be split?")
    return Step(
        title=f'🤖 Agent proposes splitting "{about.title}"',
        body=(proposed.reason, "\n".join(phases)),
        ways=(
            Way("Approve split", Action(gives={"decision": "approved"}), Style.PRIMARY),
            Way("Reject…", reject.model_copy(update={"field": "reason"}), Style.DANGER),
        ),
    )


def _choice(choice: ChoicePayload, about: About) -> Step:
    listed = "\n".join(f"→ {one.label}" for one in choice.choices)
    evidence = f"Evidence: {choice.evidence}" if choice.evidence else ""
    return Step(
        title=f'🤖 "{about.title}" needs a decision',
        body=(choice.reason, evidence, listed),
        ways=tuple(Way(one.label, Action(gives={"choice_id": one.id})) for one in choice.choices),
    )


def _permission(wanted: PermissionPayload, about: About) -> Step:
    def allow(scope: str) -> Action:
        return Action(gives={"allow": True, "scope": scope})

    return Step(
        title=f'🤖 Agent asks for permission: "{about.title}"',
        body=(f"{wanted.tool}: {wanted.action}", wanted.reason),
        ways=(
            Way("Allow once", allow("once")),
            Way("Allow for this run", allow("run")),
            Way("Allow for the project", allow("project")),
            Way("Deny", Action(gives={"allow": False}), Style.DANGER),
        ),
    )


def _budget(budget: Budget, about: About) -> Step:
    usd = _more(budget)
    grant = {"decision": "grant"}
    other = Action(gives=grant, asks="How many dollars more may be spent?", field="usd")
    return Step(
        title=f'🤖 A budget is used up: "{about.title}"',
        body=(budget.sentence,),
        ways=(
            Way(f"Grant {dollars(usd)}", Action(gives={**grant, "usd": usd})),
            Way("Other amount…", other),
            Way("Stop", Action(gives={"decision": "stop"}), Style.DANGER),
        ),
    )


def _more(budget: Budget) -> float:
    """As much again as was allowed at first, beyond what is spent already."""
    first = budget.limit_usd - budget.granted_usd
    return round(budget.over_usd + max(first, 0.01), 2)
