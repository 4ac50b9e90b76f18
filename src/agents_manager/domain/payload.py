"""What an outcome carries. The models are the single truth for agents, engine, forms and docs;
other notations of the same thing are read here and nowhere else."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import count
from typing import Any, Self, TypeVar, cast

from pydantic import Field, field_validator, model_validator

from agents_manager.domain.pipeline import LONGEST_WAIT_S
from agents_manager.domain.value import Lenient, renamed

MAX_BYTES = 256 * 1024
MAX_DEPTH = 32


class Severity(StrEnum):
    MUST_FIX = "must_fix"
    SHOULD_FIX = "should_fix"
    SUGGESTION = "suggestion"


class InputType(StrEnum):
    TEXT = "text"
    CHOICE = "choice"
    BOOLEAN = "boolean"


class QuestionCategory(StrEnum):
    QUESTION = "question"
    OPTIONS = "options"
    CONFIRMATION = "confirmation"
    ESCALATION = "escalation"
    SCOPE_APPROVAL = "scope_approval"


class QuestionOption(Lenient):
    label: str = Field(min_length=1)
    description: str | None = None
    recommended: bool = False

    @model_validator(mode="before")
    @classmethod
    def _plain_string(cls, value: object) -> object:
        return {"label": value} if isinstance(value, str) else value


class Question(Lenient):
    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    context: str | None = None
    category: QuestionCategory | None = None
    input_type: InputType = InputType.TEXT
    options: tuple[QuestionOption, ...] = Field(default=(), max_length=50)
    suggested_answer: str | None = None
    default_after_s: int | None = Field(default=None, gt=0, le=LONGEST_WAIT_S)

    @model_validator(mode="before")
    @classmethod
    def _choice_by_options(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        fields = dict(cast("dict[str, Any]", value))
        if fields.get("options") and not {"inputType", "input_type"} & fields.keys():
            fields["input_type"] = InputType.CHOICE
        return fields

    @model_validator(mode="after")
    def _sound(self) -> Self:
        _unique("option", (o.label for o in self.options))
        _at_most_one_recommended(self.options)
        if self.input_type is InputType.CHOICE and not self.options:
            raise ValueError("a choice question needs options")
        return self


class NeedsInfo(Lenient):
    questions: tuple[Question, ...] = Field(min_length=1, max_length=50)

    @model_validator(mode="before")
    @classmethod
    def _single_form(cls, value: object) -> object:
        if isinstance(value, dict) and "question" in value and "questions" not in value:
            single = dict(cast("dict[str, Any]", value))
            single.setdefault("id", "q1")
            return {"questions": [single]}
        return cast("object", value)

    @model_validator(mode="after")
    def _unique_ids(self) -> Self:
        _unique("id", (q.id for q in self.questions))
        return self


class Effort(StrEnum):
    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


class ProposedOption(Lenient):
    id: str = Field(min_length=1)
    label: str = Field(min_length=1)
    description: str = ""
    pros: tuple[str, ...] = ()
    cons: tuple[str, ...] = ()
    effort: Effort | None = None
    tradeoffs: str | None = None
    recommended: bool = False

    @model_validator(mode="before")
    @classmethod
    def _other_names(cls, value: object) -> object:
        return renamed(value, {"title": "label", "estimatedEffort": "effort"})


class OptionsProposed(Lenient):
    summary: str = Field(min_length=1)
    options: tuple[ProposedOption, ...] = Field(min_length=2, max_length=50)

    @model_validator(mode="before")
    @classmethod
    def _other_names(cls, value: object) -> object:
        raw = renamed(value, {"description": "summary"})
        if not isinstance(raw, dict) or "agentRecommendation" not in raw:
            return cast("object", raw)
        fields = dict(cast("dict[str, Any]", raw))
        chosen = fields.pop("agentRecommendation")
        options = fields.get("options")
        if chosen is None or not isinstance(options, list):
            return fields
        rows = cast("list[Any]", options)
        if not any(_has_id(o, chosen) for o in rows):
            raise ValueError(f'agentRecommendation: there is no option "{chosen}"')
        marked = [{**o, "recommended": True} if _has_id(o, chosen) else o for o in rows]
        return {**fields, "options": marked}

    @model_validator(mode="after")
    def _sound(self) -> Self:
        _unique("id", (o.id for o in self.options))
        _at_most_one_recommended(self.options)
        return self


class Comment(Lenient):
    id: str = ""
    file: str | None = None
    line: int | None = Field(default=None, ge=1)
    severity: Severity
    comment: str = Field(min_length=1)

    @field_validator("severity", mode="before")
    @classmethod
    def _older_names(cls, value: object) -> object:
        older = {"critical": "must_fix", "nit": "suggestion"}
        return older.get(value, value) if isinstance(value, str) else value


class ChangesRequested(Lenient):
    summary: str = Field(min_length=1)
    comments: tuple[Comment, ...] = Field(min_length=1, max_length=500)

    @field_validator("comments", mode="after")
    @classmethod
    def _ids(cls, value: tuple[Comment, ...]) -> tuple[Comment, ...]:
        return numbered(value)


class Complexity(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class ProposedPhase(Lenient):
    name: str = Field(min_length=1, max_length=200)
    description: str = ""
    complexity: Complexity = Complexity.MEDIUM


class ProposeSplit(Lenient):
    reason: str = Field(min_length=1)
    proposed_phases: tuple[ProposedPhase, ...] = Field(min_length=1, max_length=50)

    @model_validator(mode="before")
    @classmethod
    def _other_names(cls, value: object) -> object:
        return renamed(value, {"phases": "proposed_phases", "proposedPhases": "proposed_phases"})


class Notes(Lenient):
    notes: str | None = None


class Approved(Lenient):
    comments: str | None = None


class NoChanges(Lenient):
    reason: str = Field(min_length=1)


class MergeTrouble(Lenient):
    message: str = Field(min_length=1)
    files: tuple[str, ...] = ()


_Option = TypeVar("_Option", QuestionOption, ProposedOption)


def recommended_first(options: Sequence[_Option]) -> list[_Option]:
    """The order in which options are shown, and counted from 1."""
    return sorted(options, key=lambda option: not option.recommended)


def numbered(comments: tuple[Comment, ...]) -> tuple[Comment, ...]:
    """Comments with an id each; missing ones are made, repeated ones refused."""
    given = [c.id for c in comments if c.id]
    _unique("id", given)
    free = (made for n in count(1) if (made := f"c{n}") not in given)
    return tuple(c if c.id else c.model_copy(update={"id": next(free)}) for c in comments)


def _has_id(option: Any, wanted: object) -> bool:
    return isinstance(option, dict) and cast("dict[str, Any]", option).get("id") == wanted


def _unique(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f'the {what} "{name}" stands there twice')
        seen.add(name)


def _at_most_one_recommended(
    options: tuple[QuestionOption, ...] | tuple[ProposedOption, ...],
) -> None:
    if sum(o.recommended for o in options) > 1:
        raise ValueError("at most one option may be recommended")
