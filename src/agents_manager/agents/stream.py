"""Reads the message stream of an agent: one JSON object a line, with `type` one of `assistant`,
`tool_use`, `usage`, `session` and `result`. Whatever else an agent prints is passed over; memory
stays small however much that is."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from agents_manager.agents import resets
from agents_manager.domain import cost
from agents_manager.domain.run import ErrorClass, Usage
from agents_manager.flow.ports import Said

MAX_LINE = 1024 * 1024
AMOUNTS = tuple(Usage.model_fields)
UNSEEN = {"usage_so_far", "session"}
"""For the meter, and for the one who takes up the work."""


class UsageMeter:
    """What the usage lines report is added up. Where there is none, the agent used at least what it
    last had so far."""

    def __init__(self) -> None:
        self.model: str | None = None
        self._used: dict[str, int | float] = {}
        self._so_far: dict[str, int | float] = {}
        self._refused: str | None = None
        self._refused_so_far: str | None = None

    def take(self, line: bytes) -> None:
        found = message(line)
        if found is not None:
            self.hear(found)

    def hear(self, found: Mapping[str, Any]) -> None:
        if found["type"] == "usage":
            self._refused = self._refused or _add(self._used, found)
        elif found["type"] == "usage_so_far":
            self._so_far = {}
            self._refused_so_far = _add(self._so_far, found)
            self.model = _words(found.get("model")) or None

    @property
    def refused(self) -> str | None:
        """Why what it said is not believed."""
        return self._refused if self._used or self._refused else self._refused_so_far

    @property
    def usage(self) -> Usage | None:
        used = self._used or self._so_far
        return Usage.model_validate(used) if used and not self.refused else None


def read(output: Path) -> Said:
    """The last result counts, or else the last thing said."""
    said = ""
    result: Mapping[str, Any] = {}
    meter = UsageMeter()
    session = ""
    lost = begun = False
    for found in messages(output):
        begun = True
        if found["type"] == "result":
            result = found
        elif found["type"] == "assistant":
            said = _words(found.get("text"))
        elif found["type"] == "session":
            session = _words(found.get("session"))
        elif found["type"] == "output":
            lost = lost or found.get("session_lost") is True
        else:
            meter.hear(found)
    error = _words(result.get("error")) or None
    return Said(
        final_text=_words(result.get("text")) if result else said,
        usage=meter.usage,
        usage_refused=meter.refused,
        model=meter.model,
        session=_words(result.get("session")) or session or None,
        session_lost=lost,
        structured=result.get("structured"),
        complete=bool(result) or not begun,
        ends_clearly=result.get("ends_clearly") is not False,
        error=error,
        error_class=_error_class(result.get("error_class")) if error else None,
        resets_at=resets.moment(result.get("resets_at")) if error else None,
    )


def is_stream(output: Path) -> bool:
    """Whether every line is a message; an empty output is."""
    return all(message(line) is not None for line in _lines(output))


def messages(output: Path, longest: int = MAX_LINE) -> Iterator[Mapping[str, Any]]:
    for line in _lines(output, longest):
        found = message(line, longest)
        if found is not None:
            yield found


def message(line: bytes, longest: int = MAX_LINE) -> Mapping[str, Any] | None:
    """The message that a line is; None when it is none, or longer than `longest` bytes."""
    if not line.startswith(b"{") or len(line) > longest:
        return None
    try:
        found = cast(
            "dict[str, Any]", json.loads(line, parse_constant=_finite, parse_float=_finite)
        )
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found.get("type"), str) else None


def shown(line: bytes) -> Sequence[Mapping[str, Any]]:
    """The line as people see it."""
    found = message(line)
    if found is None and line.startswith(b"{") and len(line) > MAX_LINE:
        found = {"type": "output", "text": f"(A message of {len(line)} bytes is left out.)"}
    found = found or {"type": "output", "text": text(line)}
    return [] if found["type"] in UNSEEN else [found]


def _finite(digits: str) -> float:
    """What is not finite is not JSON, and no reader of ours could be handed it on."""
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(digits)
    return value


def text(printed: bytes) -> str:
    """A text that every database takes: without NUL."""
    return printed.decode(errors="replace").replace("\x00", "\ufffd")


def _lines(output: Path, longest: int = MAX_LINE) -> Iterator[bytes]:
    """The lines, blank ones left out. Of one that is too long for a message only the beginning,
    which is too long as well: what follows could be made to look like a message."""
    if not output.exists():
        return
    with output.open("rb") as file:
        begins = True
        while piece := file.readline(longest + 2):
            line = piece.removesuffix(b"\n")
            if begins and line.strip():
                yield line
            begins = line != piece


def _add(used: dict[str, int | float], message: Mapping[str, Any]) -> str | None:
    """Why the message is not believed, if it is not; else its amounts are added."""
    for name in AMOUNTS:
        amount = message.get(name)
        if amount is None:
            continue
        if why := cost.refusal(name, amount):
            return why
        used[name] = used.get(name, 0) + amount
        if why := cost.refusal(name, used[name]):
            return why
    return None


def _error_class(value: object) -> ErrorClass:
    try:
        return ErrorClass(cast("str", value))
    except ValueError:
        return ErrorClass.CRASH


def _words(value: object) -> str:
    """The same of a value that need not be a text, without halves of surrogate pairs."""
    if not isinstance(value, str):
        return ""
    return text(value.encode("utf-8", "replace"))
