"""What a simulation tells: one decision after the other."""

from dataclasses import dataclass

from agents_manager.domain import question
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import ChoicePayload
from agents_manager.domain.question import Ask
from agents_manager.domain.task import GuardCheck, HookRecord, Result


@dataclass(frozen=True, slots=True)
class Asked:
    type: PromptType
    summary: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """One decision: a move with all that belongs to it, or every reason against one."""

    step: int
    """The step of the script it follows from, counted from 1."""
    by: str
    result: Result
    source: str
    to: str
    transition: str | None = None
    guards: tuple[GuardCheck, ...] = ()
    reasons: tuple[str, ...] = ()
    effects: tuple[HookRecord, ...] = ()
    """What would be performed, in this order."""
    asks: Asked | None = None


def shown(ask: Ask) -> Asked:
    choices: tuple[str, ...] = ()
    if ask.type is PromptType.CHOICE:
        choices = tuple(c.id for c in ChoicePayload.model_validate(ask.payload).choices)
    return Asked(ask.type, question.summary(ask.type, ask.payload), choices)
