"""JSON Schema (draft 2020-12) for the outcomes that projects define: the keywords whose cost is
bounded by the size of schema and value. A keyword that is not among them is refused by name, since
a mistyped one would silently check nothing."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Annotated, Any, cast

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import SchemaError as BadPattern

from agents_manager.errors import closest

DRAFT = "https://json-schema.org/draft/2020-12/schema"
MAX_FAULTS = 20
MAX_FAULT = 300
MAX_REFERENCES = 10_000
"""How often references are followed for one value: a few lines of schema can double each other."""
CIRCLES = "document: the references of the schema go round in circles"

_SCHEMA = frozenset(
    {"items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"}
)
_LISTED = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED = frozenset({"properties", "$defs", "dependentSchemas"})
_PLAIN = frozenset(
    {
        *("$ref", "$comment", "title", "description", "default", "examples", "deprecated"),
        *("type", "enum", "const", "format", "pattern", "minLength", "maxLength"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minItems", "maxItems", "uniqueItems", "minContains", "maxContains"),
        *("required", "minProperties", "maxProperties", "dependentRequired"),
    }
)
KEYWORDS = _SCHEMA | _LISTED | _NAMED | _PLAIN


class _Endless(Exception):
    """References were followed too often."""


def problems(document: object, what: str = "the payload of an outcome") -> list[str]:
    """What is wrong with the schema of what is described, each as `place: what`."""
    if not isinstance(document, dict):
        return ["document: a schema is an object"]
    schema = cast("dict[str, Any]", document)
    if schema.get("$schema", DRAFT) != DRAFT:
        return [f"$schema: only {DRAFT} is read"]
    if schema.get("type") != "object":
        return [f'type: {what} is an object, so say "type": "object"']
    found = list(_misshapen(_rest(schema))) or list(_unreadable(_rest(schema), "", schema))
    return found or [fault for fault in faults(schema, {}) if fault == CIRCLES]


def faults(schema: Mapping[str, Any], value: object) -> list[str]:
    """What is wrong with a value, each as `place: what`."""
    try:
        checked = _checker(_rest(schema)).iter_errors(value)
        return [_told(x.absolute_path, x.message) for x in islice(checked, MAX_FAULTS)]
    except (_Endless, RecursionError):
        return [CIRCLES]


def _rest(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Without the mark that would make the library choose its own, unbounded checker."""
    return {key: part for key, part in schema.items() if key != "$schema"}


def _told(path: Any, message: str) -> str:
    place = ".".join(str(part) for part in path) or "document"
    return f"{place}: {message}"[:MAX_FAULT]


def _misshapen(schema: Mapping[str, Any]) -> Iterator[str]:
    import jsonschema

    draft: Any = jsonschema.Draft202012Validator
    checked = draft(draft.META_SCHEMA).iter_errors(schema)
    yield from (_told(x.absolute_path, x.message) for x in islice(checked, MAX_FAULTS))


def _unreadable(schema: Any, above: str, root: Mapping[str, Any]) -> Iterator[str]:
    """Keywords that are not read, references that lead nowhere or outside, patterns that are not
    linear."""
    if isinstance(schema, bool):
        return
    for key, part in schema.items():
        place = f"{above}{key}"
        if key not in KEYWORDS:
            yield f'{place}: the keyword "{key}" is not read.{closest(key, sorted(KEYWORDS))}'
        elif key == "$ref" and not _leads_somewhere(part, root):
            yield f'{place}: "{part}" is no place in this file'
        elif key == "pattern" and (why := _not_linear(part)):
            yield f"{place}: {why}"
        for name, child in _children(key, part):
            yield from _unreadable(child, f"{place}{name}.", root)


def _children(key: str, part: Any) -> list[tuple[str, Any]]:
    if key in _SCHEMA:
        return [("", part)]
    if key in _LISTED:
        return [(f".{index}", child) for index, child in enumerate(part)]
    return [(f".{name}", child) for name, child in part.items()] if key in _NAMED else []


def _leads_somewhere(reference: str, root: Mapping[str, Any]) -> bool:
    if reference != "#" and not reference.startswith("#/"):
        return False
    at: Any = root
    for part in reference.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(at, dict) or name not in at:
            return False
        at = cast("dict[str, Any]", at)[name]
    return isinstance(at, dict | bool)


def _not_linear(pattern: str) -> str | None:
    try:
        _texts(pattern)
    except BadPattern as error:
        return " ".join(str(error).split())
    return None


def _texts(pattern: str) -> TypeAdapter[str]:
    """Texts that hold a pattern; Pydantic's expressions take linear time, Python's do not."""
    return TypeAdapter(Annotated[str, Field(pattern=pattern)])


def _checker(schema: Mapping[str, Any]) -> Any:
    # Imported late: it costs a tenth of a second, and few projects define outcomes.
    import jsonschema
    import jsonschema.validators
    import referencing

    draft: Any = jsonschema.Draft202012Validator
    fault: Any = jsonschema.ValidationError
    followed = 0

    def reference(validator: Any, ref: Any, instance: Any, schema: Any) -> Iterator[Any]:
        nonlocal followed
        followed += 1
        if followed > MAX_REFERENCES:
            raise _Endless
        yield from draft.VALIDATORS["$ref"](validator, ref, instance, schema) or ()

    def pattern(_: Any, wanted: str, instance: Any, __: Any) -> Iterator[Any]:
        if isinstance(instance, str) and not fits(wanted, instance):
            yield fault(f'the text does not fit the pattern "{wanted}"')

    def unique(_: Any, wanted: bool, instance: Any, __: Any) -> Iterator[Any]:
        if wanted and isinstance(instance, list):
            items = cast("list[Any]", instance)
            if len({json.dumps(item, sort_keys=True) for item in items}) < len(items):
                yield fault("an item stands there twice")

    extend = cast("Any", jsonschema.validators).extend
    bounded = extend(draft, {"$ref": reference, "pattern": pattern, "uniqueItems": unique})
    nothing_remote: Any = cast("Any", referencing).Registry()
    return bounded(schema, registry=nothing_remote)


def fits(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text, in linear time."""
    try:
        _texts(pattern).validate_python(text)
    except ValidationError:
        return False
    return True
