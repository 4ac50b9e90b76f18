"""A finding of the doctor. What is not in order comes with the commands that mend it."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    state: State
    text: str
    way_out: str = ""
    """In words, where the commands do not speak for themselves."""
    fix: tuple[str, ...] = ()
    """Commands that mend it, as they are typed; words in capitals are yours to fill in."""


def ok(name: str, text: str, way_out: str = "") -> Finding:
    return Finding(name, "ok", text, way_out)


def warn(name: str, text: str, fix: str, *more: str, way_out: str = "") -> Finding:
    return Finding(name, "warn", text, way_out, (fix, *more))


def fail(name: str, text: str, fix: str, *more: str, way_out: str = "") -> Finding:
    return Finding(name, "fail", text, way_out, (fix, *more))
