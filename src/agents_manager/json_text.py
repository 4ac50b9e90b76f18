"""JSON as people keep it: where a key stands in a text, and a text with one value changed and
everything else left as it was."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

INDENT = 2
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Member:
    """One key of an object with its value, by their places in the text."""

    key: str
    start: int
    value: int
    end: int


def line_of(place: Sequence[int | str], text: str) -> int:
    """The line of the last key, each key looked for behind the one it lies under."""
    lines = text.splitlines()
    found = 0
    for part in place:
        quoted = json.dumps(part, ensure_ascii=False)
        found = next((n for n in range(found, len(lines)) if quoted in lines[n]), found)
    return found + 1


def with_value(text: str, place: Sequence[str], value: Any) -> str:
    """The text of an object, with the value there; objects on the way are made."""
    at = text.index("{")
    for depth, key in enumerate(place):
        members = list(_members(text, at))
        found = next((m for m in members if m.key == key), None)
        rest = place[depth + 1 :]
        if found is None:
            return _added(text, at, members, key, _nested(rest, value), depth + 1)
        if not rest or text[found.value] != "{":
            new = _pretty(_nested(rest, value), depth + 1)
            return text[: found.value] + new + text[found.end :]
        at = found.value
    raise AssertionError("a place has at least one key")


def without(text: str, place: Sequence[str]) -> str:
    """The text without the key, nor the objects that it leaves empty."""
    at, path = text.index("{"), list[tuple[list[Member], int]]()
    for key in place:
        members = list(_members(text, at)) if text[at] == "{" else []
        index = next((n for n, m in enumerate(members) if m.key == key), None)
        if index is None:
            return text
        path.append((members, index))
        at = members[index].value
    while len(path) > 1 and len(path[-1][0]) == 1:
        path.pop()
    members, index = path[-1]
    if index + 1 < len(members):
        return text[: members[index].start] + text[members[index + 1].start :]
    if index > 0:
        return text[: members[index - 1].end] + text[members[index].end :]
    opening = text.rindex("{", 0, members[0].start)
    return text[: opening + 1] + text[text.index("}", members[0].end) :]


def _members(text: str, at: int) -> Iterator[Member]:
    """Of the object that begins there; the text is known to be sound."""
    at = _blank(text, at + 1)
    while text[at] != "}":
        start = at
        key, at = cast("tuple[str, int]", _DECODER.raw_decode(text, at))
        value = _blank(text, _blank(text, at) + 1)
        end = _DECODER.raw_decode(text, value)[1]
        yield Member(key, start, value, end)
        at = _blank(text, end)
        if text[at] == ",":
            at = _blank(text, at + 1)


def _blank(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


def _added(text: str, at: int, members: Sequence[Member], key: str, value: Any, depth: int) -> str:
    new = f"{json.dumps(key, ensure_ascii=False)}: {_pretty(value, depth)}"
    if members:
        before = members[-1]
        line = text.rfind("\n", at, before.start)
        gap = text[line : before.start] if line >= 0 else " "
        apart = " " if gap.strip() else gap
        return f"{text[: before.end]},{apart}{new}{text[before.end :]}"
    closing = text.index("}", at)
    inner, outer = " " * INDENT * depth, " " * INDENT * (depth - 1)
    return f"{text[: at + 1]}\n{inner}{new}\n{outer}{text[closing:]}"


def _nested(keys: Sequence[str], value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def _pretty(value: Any, depth: int) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=INDENT if isinstance(value, dict) else None)
    return text.replace("\n", "\n" + " " * INDENT * depth)
