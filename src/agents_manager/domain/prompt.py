"""Prompts: questions put to a human, their answers, and what makes an answer valid.

One form of answer serves every door; the older notations are read here."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from pydantic import Field, ValidationError, field_validator, model_validator

from agents_manager.domain import form
from agents_manager.domain.budget import Budget, BudgetScope, dollars
from agents_manager.domain.cost import MAX_USD
from agents_manager.domain.document import text_lines
from agents_manager.domain.ids import HistoryId, PromptId, RunId, TaskId
from agents_manager.domain.payload import (
    Comment,
    InputType,
    NeedsInfo,
    OptionsProposed,
    ProposedPhase,
    ProposeSplit,
    Question,
    QuestionCategory,
    numbered,
)
from agents_manager.domain.pipeline import PromptType, faults
from agents_manager.domain.task import Actor, ActorType
from agents_manager.domain.value import Lenient, Value, renamed
from agents_manager.errors import InvalidAnswer, closest


class PromptStatus(StrEnum):
    PENDING = "pending"
    RESPONDED = "responded"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


BESIDE = frozenset({PromptType.CHOICE, PromptType.PERMISSION, PromptType.BUDGET})
"""May stand beside the one question that the task waits for."""
ADMIN = "admin"
"""The role that may answer everything."""


class ResumePoint(Value):
    """Where the task goes on when the answer arrives."""

    status: str
    mode: str | None = None
    agent: str | None = None
    session: str | None = None
    run: str | None = None
    holds: bool = False
    """The run has not begun and waits for the answer; nothing is moved by it."""


class Undo(Value):
    """What taking an answer back takes, while nothing that followed from it has begun."""

    until: datetime
    version: int
    """The task's, as the answer left it."""
    history: tuple[str, ...]
    """The attempts that the answer led to, oldest first."""
    effects: tuple[str, ...]
    closed: tuple[str, ...]
    """Other questions that needed no answer any more."""
    opened: tuple[str, ...]
    """Questions that came up."""
    phases: tuple[Mapping[str, Any], ...]
    """As they were before."""
    pulls: tuple[str, ...]
    """The pull requests that were open before."""
    decisions: tuple[str, ...] = ()
    """What the answer was kept as."""


class QueuePlace(NamedTuple):
    """Where a question stands in the inbox."""

    alone: bool
    """Nothing waits behind it."""
    asked: datetime
    id: PromptId


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    id: PromptId
    task_id: TaskId
    run_id: RunId | None
    history_id: HistoryId
    type: PromptType
    payload: Mapping[str, Any]
    note: str | None
    """What failed after an earlier answer, when the question had to be opened again."""
    revision: int
    status: PromptStatus
    resume: ResumePoint
    roles: tuple[str, ...]
    """Who may answer, besides admins; empty: everybody with access."""
    created_at: datetime
    expires_at: datetime | None
    default_at: datetime | None
    """When the answer that the agent suggested is taken, since it allowed that."""
    reminders: int
    """How often people were reminded of it."""
    reminded_at: datetime | None
    response: Mapping[str, Any] | None
    responded_by: str | None
    responded_via: str | None
    responded_at: datetime | None
    answer_key: str | None
    undo: Undo | None
    """None: the answer cannot be taken back."""
    midway: bool = False
    """An agent asked it in the middle of its run, which goes on with the answer."""

    @property
    def beside(self) -> bool:
        """Whether its answer moves nothing in the graph."""
        return self.type in BESIDE or self.resume.holds or self.midway

    @property
    def undo_until(self) -> datetime | None:
        return self.undo.until if self.undo else None


class Choice(Value):
    """One way out of a choice prompt, with what it does."""

    id: str
    label: str
    detail: str = ""
    """What happens if it is chosen, where the label does not say it."""
    action: str
    """`transition:<id>`, `redo:<history id>`, `ask:<prompt id>`, `grant`, `rerun`,
    `release:<history id>:<marks>`, `retry:<effect id>:<marks>`, `recheck:<run id>`,
    `skip_check:<run id>:<check>`, `edit_check:<run id>`, `fix_check:<run id>`, `pick:<run id>`,
    `race`, `hand_over:checked`, `hand_over:as_it_is`, `send_back` or `stay`."""


class ChoicePayload(Value):
    reason: str
    evidence: str = ""
    choices: tuple[Choice, ...] = Field(min_length=2)


class PermissionPayload(Value):
    """What a run may not do unless somebody allows it."""

    tool: str = Field(min_length=1)
    action: str = Field(min_length=1)
    """What it wants to do, in a sentence."""
    reason: str = ""
    request: str = ""
    """Which of its run's requests this is: the turn and the number."""


class BudgetPayload(Value):
    """A budget that is used up, as it stood when that was asked."""

    scope: BudgetScope
    subject: str
    name: str
    limit_usd: float
    granted_usd: float
    spent_usd: float
    unknown: int

    @classmethod
    def of(cls, budget: Budget) -> "BudgetPayload":
        return cls.model_validate(asdict(budget))

    @property
    def budget(self) -> Budget:
        return Budget(**dict(self))


class QuestionAnswer(Lenient):
    question_id: str
    option: str | int | None = None
    text: str | None = None

    @field_validator("option", mode="before")
    @classmethod
    def _label_or_number(cls, value: object) -> object:
        if isinstance(value, bool | float):
            raise ValueError("an option is named by its label or its number, counted from 0")
        return value

    @model_validator(mode="before")
    @classmethod
    def _older_names(cls, value: object) -> object:
        return renamed(value, {"selectedOption": "option", "answer": "text"})


class InfoAnswer(Lenient):
    answers: tuple[QuestionAnswer, ...] = Field(min_length=1)


class OptionAnswer(Lenient):
    option_id: str | None = None
    text: str | None = None
    instructions: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _older_names(cls, value: object) -> object:
        return renamed(
            value, {"selectedOptionId": "option_id", "customInstructions": "instructions"}
        )


class Decision(StrEnum):
    APPROVED = "approved"
    CHANGES_REQUESTED = "changes_requested"


class ReviewAnswer(Lenient):
    decision: Decision
    summary: str | None = None
    comments: tuple[Comment, ...] = Field(default=(), max_length=500)
    artifact_id: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _older_names(cls, value: object) -> object:
        return renamed(value, {"comment": "summary"})


class SplitDecision(StrEnum):
    APPROVED = "approved"
    REJECTED = "rejected"


class SplitAnswer(Lenient):
    decision: SplitDecision
    phases: tuple[ProposedPhase, ...] | None = Field(default=None, max_length=50)
    reason: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _other_names(cls, value: object) -> object:
        return renamed(value, {"proposed_phases": "phases", "proposedPhases": "phases"})


class ChoiceAnswer(Lenient):
    choice_id: str
    text: str | None = None


class Scope(StrEnum):
    """How far a permission reaches."""

    ONCE = "once"
    RUN = "run"
    PROJECT = "project"


class PermissionAnswer(Lenient):
    # Strict: a permission is never read out of "yes" or 1.
    allow: bool = Field(strict=True)
    scope: Scope = Scope.ONCE


class BudgetDecision(StrEnum):
    GRANT = "grant"
    STOP = "stop"


class BudgetAnswer(Lenient):
    decision: BudgetDecision
    usd: float | None = Field(default=None, strict=True, allow_inf_nan=False)
    """How much more may be spent."""


def validate_answer(
    prompt_type: PromptType, payload: Mapping[str, Any], raw: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The answer in canonical form, or InvalidAnswer with a line for each field that is wrong."""
    match prompt_type:
        case PromptType.INFO_REQUEST if "questions" in payload:
            asked = NeedsInfo.model_validate(payload)
            return _info_answer(asked, _parsed(InfoAnswer, _with_question(asked, raw)))
        case PromptType.INFO_REQUEST if form.is_form(payload):
            return _form_answer(payload["schema"], raw)
        case PromptType.INFO_REQUEST:
            proposed = OptionsProposed.model_validate(payload)
            return _option_answer(proposed, _parsed(OptionAnswer, _with_id(proposed, raw)))
        case PromptType.REVIEW:
            return _review_answer(_parsed(ReviewAnswer, raw), agent_objects(payload))
        case PromptType.DOCUMENT_REVIEW:
            answer = _on_document(_parsed(ReviewAnswer, raw), payload)
            return _review_answer(answer, agent_objects(payload))
        case PromptType.SPLIT_PROPOSAL:
            return _split_answer(ProposeSplit.model_validate(payload), _parsed(SplitAnswer, raw))
        case PromptType.CHOICE:
            return _choice_answer(ChoicePayload.model_validate(payload), _parsed(ChoiceAnswer, raw))
        case PromptType.PERMISSION:
            return _parsed(PermissionAnswer, raw).model_dump(mode="json")
        case PromptType.BUDGET:
            budget = BudgetPayload.model_validate(payload).budget
            return _budget_answer(budget, _parsed(BudgetAnswer, raw))


def may_answer(prompt: Prompt, actor: Actor) -> bool:
    """Agents never answer, whatever they are called."""
    if actor.type is not ActorType.USER:
        return False
    return actor.admin or not prompt.roles or actor.role in prompt.roles


def who_may_answer(prompt: Prompt) -> str:
    others = [role for role in prompt.roles if role != ADMIN]
    if not prompt.roles:
        return "whoever has access"
    return f"an admin or the role {' or '.join(others)}" if others else "an admin"


def default_after_s(prompt_type: PromptType, payload: Mapping[str, Any]) -> int | None:
    """When the recommended answer is taken by itself: only if each question allows it, and none
    asks for an approval."""
    if recommended_answer(prompt_type, payload) is None or "questions" not in payload:
        return None
    questions = NeedsInfo.model_validate(payload).questions
    times = [q.default_after_s for q in questions if q.category not in _FOR_PEOPLE]
    known = [time for time in times if time is not None]
    return max(known) if len(known) == len(questions) else None


def recommended_answer(
    prompt_type: PromptType, payload: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """The answer that *Accept recommended* gives; None unless everything open is recommended."""
    if prompt_type is not PromptType.INFO_REQUEST:
        return None
    if form.is_form(payload):
        return None if payload["value"] is None else {"value": payload["value"]}
    if "questions" not in payload:
        options = OptionsProposed.model_validate(payload).options
        chosen = next((o.id for o in options if o.recommended), None)
        return {"option_id": chosen} if chosen else None
    answers: list[dict[str, Any]] = []
    for question in NeedsInfo.model_validate(payload).questions:
        label = next((o.label for o in question.options if o.recommended), None)
        if label is not None:
            answers.append({"question_id": question.id, "option": label})
        elif suggested := _text(question, question.suggested_answer):
            answers.append({"question_id": question.id, "text": suggested})
        else:
            return None
    return {"answers": answers}


def in_words(response: Mapping[str, Any]) -> str:
    """An answer in one line."""
    if response.get("usd") is not None:
        return f"{response['decision']} {dollars(response['usd'])}"
    if "decision" in response:
        return str(response["decision"])
    if "allow" in response:
        return f"allowed ({response['scope']})" if response["allow"] else "not allowed"
    if "value" in response:
        return "; ".join(f"{name}: {said}" for name, said in form.rows(response["value"]))
    if "answers" in response:
        return "; ".join(str(a["option"] or a["text"]) for a in response["answers"])
    return str(response.get("option_id") or response.get("choice_id") or response.get("text"))


def amount(text: str) -> float:
    """Dollars as people write them, with or without the sign."""
    try:
        return float(text.strip().removeprefix("$"))
    except ValueError:
        raise InvalidAnswer(f'"{text}" is no amount; write dollars, such as 5 or 2.50.') from None


_FOR_PEOPLE = (QuestionCategory.ESCALATION, QuestionCategory.SCOPE_APPROVAL)
_YES_OR_NO = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}
_Answer = TypeVar("_Answer", bound=Lenient)


def _parsed(model: type[_Answer], raw: Mapping[str, Any]) -> _Answer:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        raise InvalidAnswer("The answer does not have the right shape.", faults(error)) from None


_FLAT = frozenset({"selectedOption", "answer", "option", "text"})
"""Fields of an answer that does not say which question it answers."""


def _with_question(payload: NeedsInfo, raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a flat answer, such as `{"selectedOption": 0}`, as the answer to the only question."""
    raw = _without_type(raw, "info_provided")
    if not raw or not set(raw) <= _FLAT:
        return raw
    ids = [q.id for q in payload.questions]
    if len(ids) > 1:
        raise InvalidAnswer(
            f"There are {len(ids)} questions, and the answer does not say which it is for. Put"
            ' each answer into "answers" with its question_id.',
            [f"questions: {', '.join(ids)}"],
        )
    return {"answers": [{"question_id": ids[0], **raw}]}


def _with_id(payload: OptionsProposed, raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a flat answer with the id of the option instead of its number."""
    raw = _without_type(raw, "option_selected")
    if not raw or not set(raw) <= {"selectedOption", "answer"}:
        return raw
    number, text = raw.get("selectedOption"), raw.get("answer")
    if number is None:
        return {"text": text}
    if type(number) is not int or not 0 <= number < len(payload.options):
        last = len(payload.options) - 1
        raise InvalidAnswer(
            f"There is no option {number!r}; options are counted from 0 to {last}.",
            [f"options: {', '.join(o.id for o in payload.options)}"],
        )
    return {"option_id": payload.options[number].id, "text": text}


def _without_type(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    match raw:
        case {"type": said, **rest} if said == name:
            return rest
        case _:
            return raw


def _info_answer(payload: NeedsInfo, answer: InfoAnswer) -> Mapping[str, Any]:
    questions = {q.id: q for q in payload.questions}
    problems: list[str] = []
    given: dict[str, dict[str, Any]] = {}
    for one in answer.answers:
        question = questions.get(one.question_id)
        if question is None:
            hint = closest(one.question_id, list(questions))
            problems.append(f'there is no question "{one.question_id}".{hint}')
        elif one.question_id in given:
            problems.append(f'question "{one.question_id}" is answered twice')
        else:
            given[one.question_id] = _one_answer(question, one, problems)
    problems += [f'question "{q}" is not answered' for q in questions if q not in given]
    if problems:
        raise InvalidAnswer("The answer does not fit the questions.", problems)
    return {"answers": [given[q] for q in questions]}


def _one_answer(question: Question, one: QuestionAnswer, problems: list[str]) -> dict[str, Any]:
    option, text = None, one.text
    if one.option is not None:
        option = _label(question, one.option)
        if option is None:
            known = ", ".join(f'"{o.label}"' for o in question.options) or "none"
            problems.append(
                f'question "{question.id}" has no option {one.option!r}; it has {known}'
            )
    elif not one.text:
        problems.append(f'question "{question.id}" needs an option or a text')
    else:
        text = _text(question, one.text)
        if text is None:
            problems.append(f'question "{question.id}" is answered with yes or no')
    return {"question_id": question.id, "option": option, "text": text}


def _text(question: Question, text: str | None) -> str | None:
    """A text as the question takes it; None if it does not."""
    if question.input_type is InputType.BOOLEAN:
        return _YES_OR_NO.get((text or "").lower())
    return text


def _label(question: Question, option: str | int) -> str | None:
    labels = [o.label for o in question.options]
    if isinstance(option, int):
        return labels[option] if 0 <= option < len(labels) else None
    return option if option in labels else None


def _form_answer(schema: Mapping[str, Any], raw: Mapping[str, Any]) -> Mapping[str, Any]:
    if set(raw) != {"value"}:
        first = next(iter(schema["properties"]))
        like = f'send {{"value": {{"{first}": …}}}} and nothing beside it'
        raise InvalidAnswer('The fields of a form stand in "value".', [f"value: {like}"])
    value, problems = form.read(schema, raw["value"])
    if problems:
        raise InvalidAnswer("The answer does not fit the form.", problems)
    return {"value": value}


def _option_answer(payload: OptionsProposed, answer: OptionAnswer) -> Mapping[str, Any]:
    known = [o.id for o in payload.options]
    if answer.option_id is None and not answer.text:
        raise InvalidAnswer(
            "Choose an option or describe your own approach.", ["option_id or text"]
        )
    if answer.option_id is not None and answer.option_id not in known:
        hint = closest(answer.option_id, known)
        raise InvalidAnswer(
            f'There is no option "{answer.option_id}".{hint}', [f"options: {', '.join(known)}"]
        )
    return answer.model_dump(mode="json")


def agent_objects(payload: Mapping[str, Any]) -> bool:
    """Whether an agent reviewed the work and asked for changes; its remarks go back with it."""
    review: Mapping[str, Any] = payload.get("review") or {}
    return review.get("decision") == Decision.CHANGES_REQUESTED


def _review_answer(answer: ReviewAnswer, agent_objects: bool) -> Mapping[str, Any]:
    said = answer.summary or answer.comments or agent_objects
    if answer.decision is Decision.CHANGES_REQUESTED and not said:
        raise InvalidAnswer(
            "Requesting changes needs a comment.", ["summary or comments: say what must change"]
        )
    try:
        comments = numbered(answer.comments)
    except ValueError as error:
        raise InvalidAnswer("The comments are not sound.", [f"comments: {error}"]) from None
    return answer.model_copy(update={"comments": comments}).model_dump(mode="json")


def _on_document(answer: ReviewAnswer, payload: Mapping[str, Any]) -> ReviewAnswer:
    """A comment that names the document as its file means the document; its line must be there."""
    title = str(payload.get("title", "")).lower()
    comments = [
        c.model_copy(update={"file": None}) if (c.file or "").lower() == title else c
        for c in answer.comments
    ]
    most = len(text_lines(str(payload.get("document", ""))))
    beyond = [
        f"comments.{n}.line: the {title or 'document'} has {most} lines, not {c.line}"
        for n, c in enumerate(comments)
        if c.file is None and c.line is not None and c.line > most
    ]
    if beyond:
        raise InvalidAnswer("The comments are not sound.", beyond)
    return answer.model_copy(update={"comments": tuple(comments)})


def _split_answer(payload: ProposeSplit, answer: SplitAnswer) -> Mapping[str, Any]:
    if answer.decision is SplitDecision.REJECTED:
        return answer.model_copy(update={"phases": None}).model_dump(mode="json")
    phases = payload.proposed_phases if answer.phases is None else answer.phases
    if not phases:
        raise InvalidAnswer("An approved split needs at least one phase.", ["phases: none is left"])
    return answer.model_copy(update={"phases": phases}).model_dump(mode="json")


def _choice_answer(payload: ChoicePayload, answer: ChoiceAnswer) -> Mapping[str, Any]:
    known = [c.id for c in payload.choices]
    if answer.choice_id not in known:
        hint = closest(answer.choice_id, known)
        raise InvalidAnswer(
            f'There is no choice "{answer.choice_id}".{hint}', [f"choices: {', '.join(known)}"]
        )
    return answer.model_dump(mode="json")


def _budget_answer(budget: Budget, answer: BudgetAnswer) -> Mapping[str, Any]:
    """A grant must leave something to spend, or it would be asked for again at once."""
    if answer.decision is BudgetDecision.STOP:
        if answer.usd is not None:
            raise InvalidAnswer("Stopping grants nothing.", ["usd: leave it out"])
    elif answer.usd is None:
        raise InvalidAnswer("Say how much more may be spent.", ["usd: dollars, such as 5"])
    elif not 0 < answer.usd <= MAX_USD:
        raise InvalidAnswer(
            "A grant is more than 0 and at most a million dollars.", [f"usd: {answer.usd:g}"]
        )
    elif budget.scope is not BudgetScope.RUN and answer.usd <= budget.over_usd:
        raise InvalidAnswer(
            f"A grant of {dollars(answer.usd)} leaves nothing to spend: {budget.said}.",
            [f"usd: more than {budget.over_usd:g}"],
        )
    return answer.model_dump(mode="json")
