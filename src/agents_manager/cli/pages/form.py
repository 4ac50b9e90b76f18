"""A form that a project defined, as people read it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agents_manager.cli.render import Block, Line, Table, Tone, lines, one_line, title
from agents_manager.domain import form
from agents_manager.domain.form import Form, Schema

_CALLED = {
    "string": "text",
    "number": "number",
    "integer": "whole number",
    "boolean": "yes or no",
    "object": "fields",
}


def asked(about: Form) -> Iterator[Block]:
    """What the agent reported, and the fields to fill in."""
    yield from reported(about)
    yield Table(
        ("FIELD", "VALUE", "MEANING", "SUGGESTED"),
        [
            (place, wanted(part) + ("" if needed else ", may be left out"), _meaning(part), said)
            for place, part, needed, said in _fields(about.schema, about.value or {}, "")
        ],
        indent=2,
    )
    yield Line()


def reported(about: Form) -> Iterator[Block]:
    if about.schema.get("description"):
        yield from lines(str(about.schema["description"]), indent=2, tone=Tone.QUIET, prose=True)
        yield Line()
    said = form.rows(about.reported)
    if said:
        yield title(f"The agent ended with {about.outcome}")
        yield from values(said)
        yield Line()


def values(rows: list[tuple[str, str]]) -> Iterator[Line]:
    for name, said in rows:
        first, *more = said.splitlines() or [""]
        yield Line(f"  {one_line(name)}: {one_line(first)}")
        yield from lines("\n".join(more), indent=4, prose=True) if more else ()


def wanted(part: Schema) -> str:
    """Such as `text, 2 to 5 characters` or `one of bug, wish`."""
    if "enum" in part:
        return f"one of {', '.join(one_line(form.word(one)) for one in part['enum'])}"
    of = form.kind(part)
    what = f"list of {wanted(part['items'])}" if of == "array" else _CALLED[of]
    limits = form.limits(part)
    return f"{what}, {limits}" if limits else what


def example(about: Form) -> str:
    """What a file for `--answers` says at least."""
    return json.dumps({"value": about.value or _least(about.schema)}, ensure_ascii=False)


def _fields(
    schema: Schema, suggested: Mapping[str, Any], above: str
) -> Iterator[tuple[str, Schema, bool, str]]:
    """Every field with its place; those of entries stand below `[]`."""
    for name, part, needed in form.fields(schema):
        place, said = f"{above}{name}", suggested.get(name)
        inner = part["items"] if form.kind(part) == "array" else part
        if form.kind(inner) != "object":
            yield place, part, needed, "" if said is None else one_line(form.word(said))
            continue
        one: Mapping[str, Any] = said if inner is part and said else {}
        yield place, part, needed, "" if said is None else one_line(json.dumps(said))
        yield from _fields(inner, one, f"{place}." if inner is part else f"{place}[].")


def _meaning(part: Schema) -> str:
    said = ". ".join(str(part[key]) for key in ("title", "description") if part.get(key))
    begins = f" (default: {form.word(part['default'])})" if "default" in part else ""
    return one_line(f"{said}{begins}".strip())


def _least(schema: Schema) -> dict[str, Any]:
    needed = {name: part for name, part, is_needed in form.fields(schema) if is_needed}
    return {name: _blank(part) for name, part in (needed or schema["properties"]).items()}


def _blank(part: Schema) -> Any:
    if "default" in part:
        return part["default"]
    if "enum" in part:
        return part["enum"][0]
    match form.kind(part):
        case "object":
            return _least(part)
        case "array":
            return [_blank(part["items"])]
        case "boolean":
            return False
        case "string":
            return "…"
        case _:
            return part.get("minimum", 0)
