"""What is stored or sent is a frozen model that refuses unknown fields."""

from collections.abc import Mapping, Sequence
from inspect import isclass
from typing import Any, cast, get_args

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Lenient(BaseModel):
    """Comes from an agent or a form: camelCase is read beside snake_case."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        str_strip_whitespace=True,
    )


def renamed(value: object, names: Mapping[str, str]) -> object:
    """Other notations of the same thing, read under the name we use."""
    if not isinstance(value, dict):
        return value
    fields = dict(cast("dict[str, Any]", value))
    for other, ours in names.items():
        if other in fields and ours not in fields:
            fields[ours] = fields.pop(other)
    return fields


def known_keys(model: type[BaseModel], place: Sequence[int | str]) -> list[str]:
    """The keys that stand beside the last part of a place in a document of the model."""
    at: type[BaseModel] | None = model
    for part in place[:-1]:
        if at is not None and isinstance(part, str):
            at = next((_inner(f.annotation) for n, f in _fields(at) if n == part), None)
    return [name for name, _ in _fields(at)] if at else []


def _fields(model: type[BaseModel]) -> list[tuple[str, Any]]:
    return [(field.alias or name, field) for name, field in model.model_fields.items()]


def _inner(annotation: Any) -> type[BaseModel] | None:
    """The model that a field holds, by itself or in a list."""
    if isclass(annotation) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _inner(part))), None)
