"""Forms: what a project asks a person with an outcome of its own. An answer is read against the
form's schema field by field; which schemas are forms is said in `form_schema`."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from agents_manager.domain import json_schema
from agents_manager.errors import closest

Schema = Mapping[str, Any]

MAX_FAULTS = 20
MAX_NAME = 64
SUGGESTED = "suggested_answer"
"""Where an agent's payload holds the answer that it would give."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a prompt carries."""

    outcome: str
    title: str
    reported: Mapping[str, Any]
    """The agent's payload, but for what it suggests."""
    schema: Schema
    value: Mapping[str, Any] | None
    """The answer that the agent suggests."""

    @property
    def summary(self) -> str:
        said = self.reported.get("summary")
        if not isinstance(said, str) or not said:
            return self.title
        return f"{self.title} {said}" if self.title.endswith("?") else f"{self.title}: {said}"


def asked(outcome: str, title: str, schema: Schema, payload: Mapping[str, Any] | None) -> Form:
    reported = dict(payload or {})
    value, wrong = read(schema, reported.pop(SUGGESTED, None))
    return Form(outcome, title, reported, schema, None if wrong else value)


def is_form(payload: Mapping[str, Any]) -> bool:
    """Whether a question is one."""
    return "schema" in payload


def with_suggestion(schema: Schema, answer: Schema) -> Schema:
    """The schema of a payload that may hold an answer."""
    return {**schema, "properties": {**schema.get("properties", {}), SUGGESTED: _closed(answer)}}


def fields(schema: Schema) -> Iterator[tuple[str, Schema, bool]]:
    """Of an object: each name with its schema, and whether it is needed."""
    needed = schema.get("required", ())
    for name, part in schema["properties"].items():
        yield name, part, name in needed


def title(name: str, schema: Schema) -> str:
    return str(schema.get("title") or name.replace("_", " ").replace("-", " ").capitalize())


def kind(schema: Schema) -> Any:
    """The type of a field; that of a list of choices need not be said."""
    return schema.get("type", "string" if "enum" in schema else None)


def rows(value: Any, schema: Schema | None = None, at: str = "") -> list[tuple[str, str]]:
    """A value for people and agents: each thing that it holds, with its name."""
    known: Schema = schema or {}
    if isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        titles: Mapping[str, Schema] = known.get("properties", {})
        parts = [(title(n, titles.get(n, {})), titles.get(n), part) for n, part in named.items()]
    elif isinstance(value, list) and any(isinstance(x, dict | list) for x in _items(value)):
        parts = [(str(n), known.get("items"), part) for n, part in enumerate(_items(value), 1)]
    else:
        return [(at, word(value))]
    below = (rows(part, of, f"{at} / {name}" if at else name) for name, of, part in parts)
    return [row for some in below for row in some]


def word(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(word(one) for one in _items(value)) if isinstance(value, list) else str(value)


def read(schema: Schema, given: object) -> tuple[dict[str, Any], list[str]]:
    """The answer as it is kept, and what is wrong with it, each as `place: what`. Fields that are
    null or blank count as left out."""
    wrong: list[str] = []
    value = check(schema, given, "value", wrong)
    return ({} if wrong else value), wrong[:MAX_FAULTS]


def check(schema: Schema, given: object, at: str, wrong: list[str]) -> Any:
    """The value as it is kept; what is wrong is added to the list."""
    of = kind(schema)
    if not is_a(of, given):
        wrong.append(f"{at}: must be {CALLED[of]}")
    elif "enum" in schema and given not in schema["enum"]:
        wrong.append(f"{at}: must be one of {', '.join(word(one) for one in schema['enum'])}")
    elif of == "object":
        return _object(schema, cast("dict[str, Any]", given), at, wrong)
    elif of == "array":
        return _array(schema, _items(given), at, wrong)
    else:
        wrong += [f"{at}: {fault}" for fault in _beyond(schema, given)]
    return given


def limits(schema: Schema) -> str:
    """Such as `at least 1` or `2 to 5 characters`; empty where there are none."""
    for least, most, what in LIMITS:
        if least in schema and most in schema:
            return f"{schema[least]} to {schema[most]}{what}"
        if least in schema or most in schema:
            bound = f"at least {schema[least]}" if least in schema else f"at most {schema[most]}"
            return f"{bound}{what}"
    return ""


def is_a(of: str, given: object) -> bool:
    return _IS[of](given)


LIMITS = (
    ("minLength", "maxLength", " characters"),
    ("minimum", "maximum", ""),
    ("minItems", "maxItems", " entries"),
)
CALLED = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true (yes) or false (no)",
    "array": "a list",
    "object": "an object with the fields of the form",
}


def _is_number(given: object) -> bool:
    whole = isinstance(given, int) and not isinstance(given, bool)
    return whole or (isinstance(given, float) and math.isfinite(given))


_IS: Mapping[str, Callable[[object], bool]] = {
    "string": lambda given: isinstance(given, str),
    "number": _is_number,
    "integer": lambda given: isinstance(given, int) and not isinstance(given, bool),
    "boolean": lambda given: isinstance(given, bool),
    "array": lambda given: isinstance(given, list),
    "object": lambda given: isinstance(given, dict),
}


def _object(schema: Schema, given: dict[str, Any], at: str, wrong: list[str]) -> dict[str, Any]:
    known: Mapping[str, Schema] = schema["properties"]
    for name in given:
        # Looking for what was meant takes a while, and an answer may be all wrong names.
        if name not in known and len(wrong) < MAX_FAULTS:
            short = name[:MAX_NAME]
            wrong.append(f"{at}.{short}: there is no such field.{closest(short, list(known))}")
    kept: dict[str, Any] = {}
    for name, part, needed in fields(schema):
        if not _blank(given.get(name)):
            kept[name] = check(part, given[name], f"{at}.{name}", wrong)
        elif needed:
            wrong.append(f"{at}.{name}: is missing")
    return kept


def _array(schema: Schema, given: Sequence[Any], at: str, wrong: list[str]) -> list[Any]:
    least, most = schema.get("minItems", 0), schema.get("maxItems", len(given))
    if not least <= len(given) <= most:
        wrong.append(f"{at}: must have {limits(schema)}, not {len(given)}")
        return []
    wrong += [f"{at}.{n}: is blank" for n, one in enumerate(given) if _blank(one)]
    return [
        check(schema["items"], one, f"{at}.{n}", wrong)
        for n, one in enumerate(given)
        if not _blank(one)
    ]


def _beyond(schema: Schema, given: Any) -> Iterator[str]:
    if isinstance(given, str):
        least, most = schema.get("minLength", 0), schema.get("maxLength", len(given))
        if not least <= len(given) <= most:
            yield f"must have {limits(schema)}, not {len(given)}"
        elif "pattern" in schema and not json_schema.fits(schema["pattern"], given):
            yield f'does not fit the pattern "{schema["pattern"]}"'
    elif not schema.get("minimum", given) <= given <= schema.get("maximum", given):
        yield f"must be {limits(schema)}"


def _blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _items(value: Any) -> list[Any]:
    return cast("list[Any]", value)


def _closed(schema: Schema) -> Schema:
    """As JSON Schema that takes no other fields, which a form never does."""
    if "properties" in schema:
        parts = {name: _closed(part) for name, part in schema["properties"].items()}
        return {**schema, "properties": parts, "additionalProperties": False}
    return {**schema, "items": _closed(schema["items"])} if "items" in schema else schema
