"""Column types that mean the same on both databases: UTC times, JSON, and text from outside."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from pydantic import BaseModel
from pydantic_core import from_json, to_json
from sqlalchemy import DateTime, Dialect, Double, String, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

NUL = "\x00"
REPLACEMENT = "\ufffd"

# Bytewise order on both databases, so that a prefix is a range of the index.
Id = String().with_variant(String(collation="C"), "postgresql")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for a stored value that cannot be read, until the row's id is known to name it."""

    reason: str


def clean(text: str) -> str:
    """Text that both databases can keep: agents may send NUL and halves of surrogate pairs."""
    if text.isascii():
        return text.replace(NUL, REPLACEMENT) if NUL in text else text
    return (
        text.replace(NUL, REPLACEMENT).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


def dumps(value: object) -> str:
    try:
        text = to_json(value, by_alias=False).decode()
    except ValueError:
        return _careful(value)
    # Pydantic writes numbers that JSON has not; they may also be words of a text.
    odd = "\\u0000" in text or "NaN" in text or "Infinity" in text
    return _careful(value) if odd else text


def loads(text: str) -> Any:
    try:
        return from_json(text)
    except ValueError:  # Nested too deep for Pydantic, perhaps.
        return json.loads(text)


def _careful(value: object) -> str:
    text = _ENCODER.encode(value)
    if "\\u0000" in text or not _encodable(text):
        text = _ENCODER.encode(_cleaned(json.loads(text)))
    return text


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    raise TypeError(f"{type(value).__name__} cannot be stored as JSON")


_ENCODER = json.JSONEncoder(
    default=_plain, ensure_ascii=False, allow_nan=False, separators=(",", ":")
)


def _encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return clean(value)
        case list():
            return [_cleaned(item) for item in cast("list[Any]", value)]
        case dict():
            fields = cast("dict[str, Any]", value)
            return {clean(key): _cleaned(item) for key, item in fields.items()}
        case _:
            return value


class Json(TypeDecorator[Any]):
    """JSONB on Postgres, compact text on SQLite. What cannot be parsed comes as `Unreadable`."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            from sqlalchemy.dialects.postgresql import JSONB

            return dialect.type_descriptor(JSONB(none_as_null=True))
        return dialect.type_descriptor(Text())

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        # Postgres gets it through the engine's json_serializer, which is the same function.
        return value if value is None or dialect.name == "postgresql" else dumps(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        if value is None or dialect.name == "postgresql":
            return value
        try:
            return loads(value)
        except (TypeError, ValueError) as error:
            return Unreadable(f"it is not JSON ({error})")


class UtcTime(TypeDecorator[datetime]):
    """An instant. On SQLite ISO text of fixed width, which sorts as the times do."""

    impl = String
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(DateTime(timezone=True))
        return dialect.type_descriptor(String())

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        utc = value if value.tzinfo is UTC else value.astimezone(UTC)
        return utc if dialect.name == "postgresql" else utc.isoformat(timespec="microseconds")

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        if value is None:
            return None
        if isinstance(value, datetime):
            return value.astimezone(UTC)
        try:
            return datetime.fromisoformat(value)
        except (TypeError, ValueError) as error:
            return Unreadable(f"it is not a time ({error})")


class Number(TypeDecorator[float]):
    """A float of 64 bits. Both drivers read it as what it is; SQLAlchemy's own type would ask
    Postgres for each result."""

    impl = Double
    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> None:
        return None


class Prose(TypeDecorator[str]):
    """Text that comes from people and agents."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else clean(value)


class Words(TypeDecorator[list[str]]):
    """The words that a row is found by: a text on SQLite, whose index is a table beside it."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            from sqlalchemy.dialects.postgresql import TSVECTOR

            return dialect.type_descriptor(TSVECTOR())
        return dialect.type_descriptor(Text())

    def process_bind_param(self, value: list[str] | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        if dialect.name == "postgresql":
            return " ".join(f"{word}:{place}" for place, word in enumerate(value, 1))
        return " ".join(value)
