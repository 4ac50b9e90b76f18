"""The JSON that `--json` prints: values of the program field by field, times in ISO 8601 UTC,
enumerations by value, identifiers in full."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, time, tzinfo
from enum import Enum
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel

from agents_manager.domain.budget import Budget
from agents_manager.domain.comment import Comment
from agents_manager.domain.prompt import Prompt
from agents_manager.domain.run import Run

LEFT_OUT: Mapping[type, frozenset[str]] = {
    Run: frozenset({"prompt"}),
    Prompt: frozenset({"undo"}),
    Comment: frozenset({"changed", "review_comment"}),
}
"""Too long to stand beside the rest: the exact prompt of a run has `am run show --prompt`. Or the
engine's own business: until when an answer can be undone is shown instead."""
ADDED: Mapping[type, tuple[str, ...]] = {
    Prompt: ("undo_until",),
    Budget: ("left_usd",),
    Comment: ("state",),
}


def value(thing: object) -> Any:
    match thing:
        case Enum():
            return thing.value
        case None | bool() | int() | float() | str():
            return thing
        case datetime():
            return moment(thing)
        case Path() | time() | tzinfo():
            return str(thing)
        case BaseModel():
            return value(thing.model_dump(by_alias=True))
        case Mapping():
            items = cast("Mapping[Any, Any]", thing)
            return {str(value(key)): value(item) for key, item in items.items()}
        case _ if is_dataclass(thing):
            left_out = LEFT_OUT.get(type(thing), frozenset())
            names = [f.name for f in fields(thing) if f.name not in left_out]
            names += ADDED.get(type(thing), ())
            return {name: value(getattr(thing, name)) for name in names}
        case _:
            return [value(item) for item in cast("Iterable[Any]", thing)]


def moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
