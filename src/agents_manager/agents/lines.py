"""Lines of our message stream, as a driver prints them."""

import json
from collections.abc import Mapping
from typing import Any, TypeAlias, cast

Line: TypeAlias = Mapping[str, Any]

MAX_BYTES = 1024 * 1024
"""A longer line is no message to those who read the stream."""
MAX_INPUT = 4_000
MAX_RESULT = 8_000
"""Characters of a tool's result that are kept: two thirds of its beginning, the rest of its end."""

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


def tool_use(call_id: str, name: str, given: Any) -> Line:
    return {"type": "tool_use", "id": call_id, "name": name, "input": short(given)}


def tool_result(call_id: str, name: str, text: str, *, ok: bool) -> Line:
    """Report what the call returned. Only a part of a long text is kept, with its length."""
    line: Line = {"type": "tool_result", "id": call_id, "name": name, "ok": ok, "text": text}
    if len(text) <= MAX_RESULT:
        return line
    begins = MAX_RESULT * 2 // 3
    left_out = len(text) - MAX_RESULT
    ends = text[-(MAX_RESULT - begins) :]
    shown = f"{text[:begins]}\n… ({left_out} characters left out)\n{ends}"
    return {**line, "text": shown, "characters": len(text)}


def short(value: Any) -> Any:
    """The same, with long texts cut: whole files are no reading matter for a transcript."""
    if isinstance(value, str) and len(value) > MAX_INPUT:
        return f"{value[:MAX_INPUT]}… ({len(value)} characters)"
    if isinstance(value, dict):
        return {key: short(part) for key, part in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [short(part) for part in cast("list[Any]", value)]
    return value
