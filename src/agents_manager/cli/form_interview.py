"""A form at the terminal: asked field by field, each until its answer fits."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agents_manager.cli import answering
from agents_manager.cli.pages import form as pages
from agents_manager.cli.render import Block, Line, Tone, one_line, title
from agents_manager.domain import form
from agents_manager.domain.form import Form, Schema
from agents_manager.errors import InvalidAnswer

Ask = Callable[[str, str | None], str]
"""Asks for a text; pressing Enter gives the default, None has none."""
Say = Callable[[Iterable[Block]], None]

_ANSWERS = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}


def fill_in(about: Form, ask: Ask, say: Say) -> dict[str, Any]:
    say(pages.reported(about))
    return {"value": _Interview(ask, say).object(about.schema, about.value or {})}


class _Interview:
    def __init__(self, ask: Ask, say: Say) -> None:
        self._ask = ask
        self._say = say

    def object(self, schema: Schema, begun: Mapping[str, Any]) -> dict[str, Any]:
        given: dict[str, Any] = {}
        for name, part, needed in form.fields(schema):
            value = self._field(form.title(name, part), part, begun.get(name), needed=needed)
            if value is not None:
                given[name] = value
        return given

    def _field(self, name: str, part: Schema, begun: Any, *, needed: bool) -> Any:
        """None where it is left out."""
        begun = part.get("default") if begun is None else begun
        match form.kind(part):
            case "object":
                self._head(name, part)
                fill_in = needed or self._yes("Fill it in", begun is not None)
                return self.object(part, begun or {}) if fill_in else None
            case "array":
                self._head(name, part)
                return self._entries(part, begun, needed=needed) or ([] if needed else None)
            case _:
                return self._one(name, part, begun, needed=needed)

    def _entries(self, part: Schema, begun: list[Any] | None, *, needed: bool) -> list[Any]:
        if begun and self._yes(f"Take {one_line(form.word(begun))}", True):
            return begun
        found: list[Any] = []
        while len(found) < part.get("maxItems", len(found) + 1):
            entry = self._entry(f"Entry {len(found) + 1}", part["items"])
            if entry is not None:
                found.append(entry)
            elif (found or needed) and len(found) < part.get("minItems", 0):
                self._say([Line(f"There must be {form.limits(part)}.", Tone.URGENT)])
            else:
                break
        return found

    def _entry(self, name: str, item: Schema) -> Any:
        """None where there is no further one."""
        if form.kind(item) not in ("object", "array"):
            return self._one(name, item, None, needed=False, without="Enter ends")
        more = self._yes(f"Add {name}", False)
        return self._field(name, item, None, needed=True) if more else None

    def _one(
        self, name: str, part: Schema, begun: Any, *, needed: bool, without: str = "may be left out"
    ) -> Any:
        self._say(_about(part))
        label = f"{name} ({pages.wanted(part)}{'' if needed else f', {without}'})"
        default = form.word(begun) if begun is not None else None if needed else ""
        while True:
            said = self._ask(one_line(label), default)
            if not said and not needed:
                return None
            wrong: list[str] = []
            value = form.check(part, _read(part, said), name, wrong)
            if not wrong:
                return value
            self._say([Line(one_line(wrong[0]), Tone.URGENT)])

    def _yes(self, label: str, default: bool) -> bool:
        return bool(_ANSWERS.get(self._ask(f"{label}, yes or no", form.word(default)).lower()))

    def _head(self, name: str, part: Schema) -> None:
        self._say([title(one_line(name)), *_about(part)])


def _about(part: Schema) -> list[Line]:
    said = part.get("description")
    return [Line(f"  {one_line(str(said))}", Tone.QUIET)] if said else []


def _read(part: Schema, said: str) -> Any:
    """What was typed, as the type of the field; as it is where it cannot be read so."""
    if "enum" in part:
        try:
            picked = answering.pick(said, [(form.word(one),) for one in part["enum"]])
        except InvalidAnswer:
            return said
        return next(one for one in part["enum"] if form.word(one) == picked)
    match form.kind(part):
        case "boolean":
            return _ANSWERS.get(said.lower(), said)
        case "integer" | "number":
            return _number(said)
        case _:
            return said


def _number(said: str) -> int | float | str:
    for read in (int, float):
        try:
            return read(said)
        except ValueError:
            continue
    return said
