"""The script of a simulation: a list of steps, each its name and what it takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from pydantic import Field, TypeAdapter, ValidationError

from agents_manager.domain.pipeline import faults
from agents_manager.domain.run import ErrorClass
from agents_manager.domain.value import Value
from agents_manager.errors import InvalidInput, closest

MAX_STEPS = 1_000
Name = Annotated[str, Field(min_length=1, max_length=200)]


class Ending(Value):
    """How the agent at work ends."""

    name: Name
    payload: Any = None


class Failing(Value):
    """The hook that fails the next time it is performed."""

    hook: Name
    outcome: Name | None = None
    """What it reports instead, as a merge reports conflicts."""


@dataclass(frozen=True, slots=True)
class Step:
    number: int
    name: str
    argument: Any

    def __str__(self) -> str:
        match self.argument:
            case Ending() as ending:
                return f"{self.name} {ending.name}"
            case Failing() as failing:
                more = f" with {failing.outcome}" if failing.outcome else ""
                return f"{self.name} {failing.hook}{more}"
            case str() as word:
                return f"{self.name} {word}"
            case _:
                return self.name


NEW = "new"
"""The step that begins anew, with another task."""

STEPS: Mapping[str, TypeAdapter[Any]] = {
    NEW: TypeAdapter(Literal[True] | None),
    "start": TypeAdapter(Literal[True] | None),
    "move": TypeAdapter(Name),
    "outcome": TypeAdapter(Ending),
    "error": TypeAdapter(ErrorClass),
    "answer": TypeAdapter(dict[str, Any]),
    "review": TypeAdapter(Literal["approved", "changes_requested"]),
    "choose": TypeAdapter(Name),
    "fail": TypeAdapter(Failing),
    "reviewer": TypeAdapter(bool),
}
"""Every step, with what it takes."""

_SHORT = {"outcome": "name", "fail": "hook"}
"""Steps that may be given by their name alone."""


def parse(value: object) -> tuple[Step, ...]:
    """The steps, or InvalidInput with a line for each that is wrong."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise InvalidInput("A script is a list of steps, such as [{outcome: pr_ready}].")
    rows = cast("Sequence[Any]", value)
    if len(rows) > MAX_STEPS:
        raise InvalidInput(f"A script has at most {MAX_STEPS} steps; this one has {len(rows)}.")
    steps: list[Step] = []
    problems: list[str] = []
    for number, row in enumerate(rows, 1):
        try:
            steps.append(_step(number, row))
        except ValueError as error:
            problems.append(f"step {number}: {error}")
    if problems:
        raise InvalidInput("The script has errors.", problems)
    return tuple(steps)


def _step(number: int, row: Any) -> Step:
    fields: Any = {row: None} if isinstance(row, str) else row
    if not isinstance(fields, dict) or len(cast("dict[Any, Any]", fields)) != 1:
        raise ValueError('a step is its name and what it takes, like "outcome: pr_ready"')
    ((name, argument),) = cast("dict[Any, Any]", fields).items()
    if name not in STEPS:
        raise ValueError(f'there is no step "{name}".{closest(str(name), list(STEPS))}')
    if name in _SHORT and isinstance(argument, str):
        argument = {_SHORT[name]: argument}
    try:
        return Step(number, name, STEPS[name].validate_python(argument))
    except ValidationError as error:
        told = "; ".join(line.removeprefix("document: ") for line in faults(error))
        raise ValueError(f"{name}: {told}") from None
