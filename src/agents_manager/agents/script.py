"""The language of the scripted agent: what a script may say and which steps a turn plays. Playing
them is the program `play.py`; it gets the steps in the one notation that this module makes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self, TypeAlias, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from agents_manager.domain import plain_yaml, strict_json
from agents_manager.domain.pipeline import faults
from agents_manager.domain.run import ErrorClass, Usage
from agents_manager.errors import InvalidScript, closest

MAX_BYTES = 256 * 1024
MAX_DEPTH = 20

DEADLY = ("ABRT", "BUS", "FPE", "HUP", "ILL", "INT", "KILL", "QUIT", "SEGV", "TERM")


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Write(_Arguments):
    path: str
    text: str


class Modify(_Arguments):
    path: str
    replace: str | None = Field(default=None, min_length=1)
    by: str | None = Field(default=None, alias="with")
    append: str | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        replaces = self.replace is not None and self.by is not None
        half = (self.replace is None) != (self.by is None)
        if half or replaces == (self.append is not None):
            raise ValueError('give either "replace" and "with", or "append"')
        return self


class Tool(_Arguments):
    name: str
    input: dict[str, Any] = {}
    result: str | None = None
    ok: bool = True


class Hang(_Arguments):
    ignore_term: bool = False


class Ending(_Arguments):
    name: str = Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")
    payload: Any = None
    text: str | None = None


class Flood(_Arguments):
    bytes: int | None = Field(default=None, gt=0)
    lines: int | None = Field(default=None, gt=0)
    line_bytes: int = Field(default=1000, gt=0, le=100 * 1024 * 1024)

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if (self.bytes is None) == (self.lines is None):
            raise ValueError('give either "bytes" or "lines"')
        return self


class Fail(_Arguments):
    error_class: ErrorClass = Field(default=ErrorClass.CRASH, alias="class")
    message: str = Field(min_length=1)


def _signal(value: str) -> str:
    name = value.upper().removeprefix("SIG")
    if name not in DEADLY:
        raise ValueError(f'"{value}" is not one of {", ".join(DEADLY)}')
    return f"SIG{name}"


Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Signal = Annotated[str, AfterValidator(_signal)]

STEPS: Mapping[str, TypeAdapter[Any]] = {
    "say": TypeAdapter(str),
    "write": TypeAdapter(Write),
    "modify": TypeAdapter(Modify),
    "delete": TypeAdapter(str),
    "commit": TypeAdapter(Annotated[str, Field(min_length=1)]),
    "meet": TypeAdapter(Annotated[str, Field(min_length=1)]),
    "tool": TypeAdapter(Tool),
    "usage": TypeAdapter(Usage),
    "ask": TypeAdapter(dict[str, Any]),
    "handoff": TypeAdapter(dict[str, Any] | str),
    "outcome": TypeAdapter(Ending),
    "malformed": TypeAdapter(str),
    "fail": TypeAdapter(Fail),
    "sleep": TypeAdapter(Seconds),
    "hang": TypeAdapter(Hang),
    "crash": TypeAdapter(Annotated[int, Field(ge=0, le=255)] | Signal),
    "flood": TypeAdapter(Flood),
    "stderr": TypeAdapter(str),
    "daemon": TypeAdapter(Seconds),
}
"""Every step, with what it takes."""

Step: TypeAlias = tuple[str, Any]
"""The name of a step and its arguments, as `play.py` reads them."""


@dataclass(frozen=True, slots=True)
class Visit:
    """What is played in one run."""

    steps: tuple[Step, ...]
    repair: tuple[Step, ...] = ()
    fix: tuple[tuple[Step, ...], ...] = ()
    """Round by round; the last serves all later ones."""


@dataclass(frozen=True, slots=True)
class Script:
    modes: Mapping[str, tuple[Visit, ...]]

    def visit(self, mode: str, number: int) -> Visit | None:
        """The steps of the run with so many before it; the last visit serves all later ones."""
        visits = self.modes.get(mode) or self.modes.get("default")
        return visits[min(number, len(visits) - 1)] if visits else None


def in_description(description: str) -> str | None:
    """The text of the description's fenced block `agent-script`, if it has one."""
    found: str | None = None
    lines = iter(description.splitlines())
    for line in lines:
        opened = re.match(r" {0,3}(`{3,}|~{3,})\s*([\w-]*)", line)
        if opened is None:
            continue
        body = _until_closed(lines, opened[1])
        if opened[2] != "agent-script":
            continue
        if found is not None:
            raise InvalidScript("The task's description has more than one agent-script block.")
        if body is None:
            raise InvalidScript("The agent-script block of the task's description is not closed.")
        found = body
    return found


def _until_closed(lines: Iterator[str], fence: str) -> str | None:
    body: list[str] = []
    for line in lines:
        if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            return "\n".join(body)
        body.append(line)
    return None


def parse(text: str, where: str, *, is_json: bool = False) -> Script:
    """A script from text that nobody has bounded yet. `where` begins every message."""
    loads = strict_json.loads if is_json else plain_yaml.loads
    try:
        value = loads(text, max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)
    except ValueError as error:
        raise InvalidScript(f"{where}: {error}.") from None
    return check(value, where)


def check(value: Any, where: str) -> Script:
    if not isinstance(value, Mapping) or not value:
        raise InvalidScript(f"{where}: a script names modes, each with a list of visits.")
    modes = cast("Mapping[Any, Any]", value)
    return Script(
        {str(mode): _visits(visits, f'{where}, mode "{mode}"') for mode, visits in modes.items()}
    )


def _visits(value: Any, where: str) -> tuple[Visit, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise InvalidScript(f"{where}: a mode has a list of visits.")
    rows = cast("Sequence[Any]", value)
    return tuple(_visit(row, f"{where}, visit {i}") for i, row in enumerate(rows, 1))


def _visit(value: Any, where: str) -> Visit:
    if not isinstance(value, Mapping):
        return Visit(_steps(value, where))
    fields = cast("Mapping[str, Any]", value)
    if "steps" not in fields or set(fields) - {"steps", "repair", "fix"}:
        raise InvalidScript(
            f'{where}: a visit is a list of steps, or has "steps", "repair" and "fix". '
            "The steps of one visit stand in a list of their own."
        )
    repair = _steps(fields.get("repair", []), f"{where}, repair")
    rounds = fields.get("fix", [])
    if not isinstance(rounds, Sequence) or isinstance(rounds, str):
        raise InvalidScript(f"{where}, fix: a list of rounds, each a list of steps.")
    fix = tuple(
        _steps(row, f"{where}, fix {i}") for i, row in enumerate(cast("Sequence[Any]", rounds), 1)
    )
    return Visit(_steps(fields["steps"], where), repair, fix)


def _steps(value: Any, where: str) -> tuple[Step, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise InvalidScript(f"{where}: the steps are a list.")
    rows = cast("Sequence[Any]", value)
    steps = tuple(_step(row, f"{where}, step {i}") for i, row in enumerate(rows, 1))
    for name, _ in steps[:-1]:
        if name in ("crash", "fail", "hang"):
            raise InvalidScript(f'{where}: nothing is played after the step "{name}".')
    return steps


def _step(value: Any, where: str) -> Step:
    if not isinstance(value, Mapping) or not value:
        raise InvalidScript(f'{where}: a step is its name and what it takes, like "say: Done.".')
    fields = dict(cast("Mapping[str, Any]", value))
    if fields.get("hang") is True:
        del fields["hang"]
        fields = {"hang": fields}
    if len(fields) > 1:
        names = '", "'.join(map(str, fields))
        raise InvalidScript(f'{where}: "{names}" stand in one step; each begins a step of its own.')
    ((name, arguments),) = fields.items()
    if name not in STEPS:
        raise InvalidScript(f'{where}: there is no step "{name}".{closest(str(name), list(STEPS))}')
    if name == "outcome" and isinstance(arguments, str):
        arguments = {"name": arguments}
    try:
        checked = STEPS[name].validate_python(arguments)
    except ValidationError as error:
        what = "; ".join(line.removeprefix("document: ") for line in faults(error))
        raise InvalidScript(f'{where}, "{name}": {what}.') from None
    return name, STEPS[name].dump_python(checked, mode="json")
