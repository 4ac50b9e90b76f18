"""Outputs for a prompt: whole where they fit, else with long texts and lists cut short. What is cut
is said."""

import json
from collections.abc import Sequence
from typing import Any, cast

from pydantic import TypeAdapter

_LEVELS: Sequence[tuple[int, int]] = (
    *((2_000, 100), (600, 40), (300, 20), (150, 10), (80, 5), (40, 3)),
)
"""How long a text, and how many items a list may have; tighter and tighter."""
BRIEF = 2
"""The level of those who are given everything."""


def whole(output: object) -> str:
    return output if isinstance(output, str) else _text(_plain(output))


def within(output: object, budget: int, *, brief: bool = False) -> str:
    """In no more characters than that, if it can be said in so many at all."""
    text = whole(output)
    if not brief and len(text) <= budget:
        return text
    for longest, most in _LEVELS[BRIEF if brief else 0 :]:
        text = _text(_cut(_plain(output), longest, most))
        if len(text) <= budget:
            break
    return text


def _plain(output: object) -> Any:
    return TypeAdapter(object).dump_python(output, mode="json", exclude_defaults=True)


def _text(value: Any) -> str:
    """A line for each part: a prompt is cut between lines."""
    match value:
        case str():
            return value
        case dict():
            fields = cast("dict[str, Any]", value)
            return "\n".join(f"{name}: {_json(one)}" for name, one in fields.items())
        case list():
            return "\n".join(_json(one) for one in cast("list[Any]", value))
        case _:
            return _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _cut(value: Any, longest: int, most: int) -> Any:
    match value:
        case str() if len(value) > longest:
            return f"{value[:longest]}… ({len(value) - longest:,} more characters)"
        case list():
            items = cast("list[Any]", value)
            kept = [_cut(one, longest, most) for one in items[:most]]
            left = len(items) - most
            return [*kept, f"… and {left} more"] if left > 0 else kept
        case dict():
            fields = cast("dict[str, Any]", value)
            return {name: _cut(one, longest, most) for name, one in fields.items()}
        case _:
            return value
