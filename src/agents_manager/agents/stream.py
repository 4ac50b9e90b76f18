"""Reads the message stream of an agent: one JSON object a line, with `type` one of `assistant`,
`tool_use`, `usage` and `result`. Whatever else an agent prints is passed over; memory stays small
however much that is."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from agents_manager.domain.run import ErrorClass, Usage
from agents_manager.flow.ports import Said

MAX_LINE = 1024 * 1024
MAX_TOKENS = 2**53
TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def read(output: Path) -> Said:
    """The last result counts; what the usage lines report is added up."""
    result: Mapping[str, Any] = {}
    used: dict[str, int | float] = {}
    for message in messages(output):
        if message["type"] == "result":
            result = message
        elif message["type"] == "usage":
            for name, amount in _amounts(message):
                used[name] = used.get(name, 0) + amount
    error = _text(result.get("error")) or None
    return Said(
        final_text=_text(result.get("text")),
        usage=Usage.model_validate(used) if used else None,
        session=_text(result.get("session")) or None,
        error=error,
        error_class=_error_class(result.get("error_class")) if error else None,
    )


def messages(output: Path) -> Iterator[Mapping[str, Any]]:
    for line in _lines(output):
        if not line.startswith(b"{"):
            continue
        try:
            message = cast("dict[str, Any]", json.loads(line))
        except (ValueError, RecursionError):
            continue
        if isinstance(message.get("type"), str):
            yield message


def _lines(output: Path) -> Iterator[bytes]:
    """The lines up to `MAX_LINE` bytes; longer ones are left out."""
    if not output.exists():
        return
    with output.open("rb") as file:
        whole = True
        while piece := file.readline(MAX_LINE):
            ends = piece.endswith(b"\n") or len(piece) < MAX_LINE
            if whole and ends:
                yield piece
            whole = ends


def _amounts(message: Mapping[str, Any]) -> Iterator[tuple[str, int | float]]:
    for name in TOKENS:
        amount = message.get(name)
        if type(amount) is int and 0 <= amount <= MAX_TOKENS:
            yield name, amount
    cost: Any = message.get("cost_usd")
    if type(cost) in (int, float) and 0 <= cost < math.inf:
        yield "cost_usd", float(cost)


def _error_class(value: object) -> ErrorClass:
    try:
        return ErrorClass(cast("str", value))
    except ValueError:
        return ErrorClass.CRASH


def _text(value: object) -> str:
    """A text that every database takes: without NUL and halves of surrogate pairs."""
    if not isinstance(value, str):
        return ""
    return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
