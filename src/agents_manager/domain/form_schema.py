"""Which schemas are forms: the part of JSON Schema that every door can show, a terminal as well as
a page."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from agents_manager.domain import json_schema
from agents_manager.domain.form import (
    CALLED,
    LIMITS,
    MAX_NAME,
    SUGGESTED,
    Schema,
    check,
    is_a,
    kind,
)
from agents_manager.errors import closest

MAX_FIELDS = 50
MAX_LEVELS = 4
MARKDOWN = "markdown"
"""The one format: a text of several lines."""

_COMMON = ("type", "title", "description", "default")
_OWN: Mapping[str, Sequence[str]] = {
    "string": ("enum", "minLength", "maxLength", "pattern", "format"),
    "number": ("enum", "minimum", "maximum"),
    "integer": ("enum", "minimum", "maximum"),
    "boolean": (),
    "array": ("items", "minItems", "maxItems"),
    "object": ("properties", "required"),
}
"""What a field of each type can be told besides."""
_NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_-]{{0,{MAX_NAME - 1}}}")


def outcome_problems(document: object) -> list[str]:
    """What is wrong with the schema of an outcome's payload, and with the form beside it."""
    is_object = isinstance(document, dict)
    schema = dict(cast("dict[str, Any]", document)) if is_object else {}
    if "answer" not in schema:
        return json_schema.problems(document)
    wrong = [
        f"answer.{one}".replace("answer.document:", "answer:", 1)
        for one in problems(schema.pop("answer"))
    ]
    found = json_schema.problems(schema)
    if not found and SUGGESTED in schema.get("properties", {}):
        found = [f"properties.{SUGGESTED}: the form says what it holds; leave it out here"]
    return [*found, *wrong]


def problems(document: object) -> list[str]:
    """What is wrong with a form, each as `place: what`."""
    found = json_schema.problems(document, "an answer")
    if found:
        return found
    schema = cast("dict[str, Any]", document)
    found = list(_field(schema, "", 0))[: json_schema.MAX_FAULTS]
    if found:
        return found
    count = _count(schema)
    many = f"a form has at most {MAX_FIELDS} fields; this one has {count}"
    return [f"properties: {many}"] if count > MAX_FIELDS else []


def _field(schema: Any, at: str, level: int) -> Iterator[str]:
    of = kind(cast("dict[str, Any]", schema)) if isinstance(schema, dict) else None
    if not isinstance(of, str) or of not in _OWN:
        yield f"{at}type: say one of {', '.join(_OWN)}"
        return
    if level > MAX_LEVELS:
        yield f"{at}type: a form has at most {MAX_LEVELS} levels"
        return
    part = cast("dict[str, Any]", schema)
    known = (*_COMMON, *_OWN[of])
    strange = [key for key in part if key not in known]
    for key in strange:
        yield f'{at}{key}: "{key}" is not for a field of type {of}.{closest(key, known)}'
    inner = list(_inside(part, of, at, level))
    yield from inner
    if not strange and not inner:
        yield from _contradictions(part, of, at)


def _inside(part: Schema, of: str, at: str, level: int) -> Iterator[str]:
    if of == "array" and "items" not in part:
        yield f'{at}items: say what it is a list of, such as {{"type": "string"}}'
    elif of == "array":
        yield from _field(part["items"], f"{at}items.", level + 1)
    elif of == "object" and not part.get("properties"):
        yield f"{at}properties: name at least one field"
    for name, field in part.get("properties", {}).items():
        place = f"{at}properties.{name}"
        if not _NAME.fullmatch(name):
            letters = "letters, digits, _ and -, and begins with a letter"
            yield f"{place}: the name of a field is made of {letters}"
        yield from _field(field, f"{place}.", level + 1)


def _contradictions(part: Schema, of: str, at: str) -> Iterator[str]:
    for name in part.get("required", ()):
        names = list(part["properties"])
        if name not in names:
            yield f'{at}required: there is no field "{name}".{closest(name, names)}'
    for least, most, _ in LIMITS:
        if least in part and most in part and part[least] > part[most]:
            yield f"{at}{least}: {part[least]} is more than {most}, {part[most]}"
    if part.get("format", MARKDOWN) != MARKDOWN:
        yield f'{at}format: only "{MARKDOWN}" is known here, a text of several lines'
    choices: Sequence[Any] = part.get("enum", ())
    if "enum" in part and not (choices and all(is_a(of, one) for one in choices)):
        yield f'{at}enum: list the choices, each {CALLED[of]} as "type" says'
    if "default" in part:
        wrong: list[str] = []
        check(part, part["default"], f"{at}default", wrong)
        yield from wrong


def _count(schema: Schema) -> int:
    """The fields, with those of parts and entries."""
    parts = [*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])]
    return len(schema.get("properties", {})) + sum(_count(part) for part in parts)
