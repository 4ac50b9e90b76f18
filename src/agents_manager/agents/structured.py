"""The form that an agent's final message has where the agent can be held to one: words, outcome
and payload. Whether it was kept is for others to see; all of it is untrusted."""

import json
from collections.abc import Mapping, Sequence
from typing import Any


def schema(offered: Sequence[str], *, payload: str) -> dict[str, Any]:
    """The payload is of this JSON type, or null."""
    properties: dict[str, Any] = {
        "text": {"type": "string"},
        "outcome": {"type": "string", "enum": list(offered)},
        "payload": {"type": [payload, "null"]},
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def unwrapped(value: Any) -> tuple[str, Mapping[str, Any]] | None:
    """Words and outcome of a value that has the form; None for any other."""
    match value:
        case {"outcome": outcome, "text": str(words), **rest}:
            return words, {"outcome": outcome, "payload": _payload(rest.get("payload"))}
        case _:
            return None


def shown(final: tuple[str, Mapping[str, Any]]) -> str:
    """The same for people."""
    return f"{final[0]}\n[{final[1]['outcome']}]"


def _payload(given: Any) -> Any:
    """Text that is no JSON stays text, and is refused by whoever knows the outcome."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given
