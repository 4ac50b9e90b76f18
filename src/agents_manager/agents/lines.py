"""Lines of our message stream, as a driver prints them."""

import json
from collections.abc import Mapping
from typing import Any, TypeAlias, cast

Line: TypeAlias = Mapping[str, Any]

MAX_BYTES = 1024 * 1024
"""A longer line is no message to those who read the stream."""
MAX_INPUT = 4_000


SESSION_LOST: Line = {
    "type": "output",
    "text": "The session is gone; a new one is begun.",
    "session_lost": True,
}


def encoded(line: Line) -> bytes:
    data = json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    if len(data) <= MAX_BYTES:
        return data
    if line["type"] == "result":
        why = f"The final message is too long to be read: {len(data)} bytes."
        return encoded({"type": "result", "error": why, "error_class": "bad_output"})
    return encoded({"type": "output", "text": f"(A message of {len(data)} bytes is left out.)"})


def session(known_as: str) -> Line:
    """Said as soon as it is known, so that a run that is killed can be taken up again."""
    return {"type": "session", "session": known_as}


def refused(tool: str, why: str) -> Line:
    return {"type": "output", "text": f"Refused: {tool}. {why}"}


def short(value: Any) -> Any:
    """The same, with long texts cut: whole files are no reading matter for a transcript."""
    if isinstance(value, str) and len(value) > MAX_INPUT:
        return f"{value[:MAX_INPUT]}… ({len(value)} characters)"
    if isinstance(value, dict):
        return {key: short(part) for key, part in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [short(part) for part in cast("list[Any]", value)]
    return value
