"""What is stored or sent is a frozen model that refuses unknown fields."""

from collections.abc import Mapping
from typing import Any, cast

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
