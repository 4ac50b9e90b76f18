"""What is wrong with a handoff, in words that tell how to mend it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from agents_manager.domain.handoff import Handoff
from agents_manager.domain.names import visible
from agents_manager.errors import closest

MAX_TOLD = 40
"""Violations that are told at once."""
WHOLE = "handoff"
"""The place of what is wrong with all of it."""
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Violation:
    field: str
    """`gotchas.0.severity`."""
    wrong: str
    right: str

    def __str__(self) -> str:
        stop = "" if self.wrong.endswith("?") else "."
        return f"{self.field}: {self.wrong}{stop} Right is: {self.right}."


def told(violations: Sequence[Violation]) -> str:
    """A line for each."""
    return "\n".join(f"- {one}" for one in violations)


def bounded(violations: Sequence[Violation]) -> tuple[Violation, ...]:
    """The first of very many."""
    more = len(violations) - MAX_TOLD
    rest = [Violation(WHOLE, f"{more} more violations", "none")] if more > 0 else []
    return (*violations[:MAX_TOLD], *rest)


def shown(given: Any) -> str:
    return f'"{visible(given, _SHOWN)}"' if isinstance(given, str) else f"a {_kind(given)}"


def _kind(given: Any) -> str:
    kinds = {dict: "mapping", list: "list", bool: "truth value", int: "number", float: "number"}
    return next((name for kind, name in kinds.items() if isinstance(given, kind)), "value")


_SAYINGS: Mapping[str, tuple[str, str]] = {
    "missing": ("it is missing", "{required}"),
    "extra_forbidden": ("there is no such field.{closest}", "{fields}"),
    "enum": ("{given} is unknown", "{expected}"),
    "string_type": ("{given} is no text", "text"),
    "string_too_short": ("it is empty", "a sentence"),
    "string_too_long": ("it is too long", "at most {max_length} characters"),
    "string_pattern_mismatch": ("{given} is not written right", "{form}"),
    "too_long": ("it has too many items", "at most {max_length}"),
    "tuple_type": ("{given} is no list", "a list"),
    "model_type": ("{given} is no mapping", "a mapping with {required}"),
    "bool_parsing": ("{given} is unknown", "true or false"),
    "bool_type": ("{given} is unknown", "true or false"),
    "rule": ("{given} {wrong}", "{right}"),
}
_FORMS = {
    "id": "small letters, digits and hyphens, or no id at all",
    "applies_to": "small letters and digits with hyphens between, such as user-state",
}


def of_fields(error: ValidationError) -> list[Violation]:
    """What the fields, each by itself, have wrong."""
    return [_violation(one) for one in error.errors(include_url=False)]


def _violation(error: ErrorDetails) -> Violation:
    place = error["loc"]
    name = next((str(part) for part in reversed(place) if isinstance(part, str)), "")
    model = _model(str(place[0])) if len(place) > 1 else Handoff
    fields = model.model_fields
    words = {
        **error.get("ctx", {}),
        "given": shown(error["input"]),
        "closest": closest(name, list(fields)),
        "fields": ", ".join(fields),
        "required": ", ".join(n for n, field in fields.items() if field.is_required()),
        "form": _FORMS.get(name, ""),
    }
    wrong, right = _SAYINGS.get(error["type"], ("{given} cannot be read", error["msg"]))
    return Violation(
        ".".join(visible(str(part), _SHOWN) for part in place),
        wrong.format(**words).rstrip("."),
        right.format(**words).replace("'", ""),
    )


def _model(section: str) -> type[BaseModel]:
    """Of the items of a section."""
    return get_args(Handoff.model_fields[section].annotation)[0]


FIELDS = ", ".join(Handoff.model_fields)
