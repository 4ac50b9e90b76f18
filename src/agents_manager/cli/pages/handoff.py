"""The note that a run left for the next, as people read it."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from agents_manager.cli.render import Block, Line, Tone, counted, one_line, title
from agents_manager.domain.handoff import Handoff
from agents_manager.flow.runs.handoffs import Note

WHERE = {"message": "in its final message", "file": "in a file", "tool": "by a tool"}


def summary(note: Note) -> str | None:
    """In a line; None when there is nothing to say."""
    if note.kept is not None:
        kept = note.kept
        return f"{kept.handoff.outcome}, {kept.completeness:.0%} complete"
    if note.violations:
        fields = ", ".join(dict.fromkeys(one["field"] for one in note.violations))
        return f"not kept, {counted(len(note.violations), 'violation')}: {fields}"
    return None


def page(note: Note) -> Iterator[Block]:
    if note.kept is None and not note.violations:
        yield Line("The run left no handoff.")
        return
    yield title(f"Handoff: {summary(note)}")
    if note.kept is None:
        for one in note.violations:
            yield Line(f"  {one_line(one['field'])}: {one_line(one['wrong'])}", Tone.URGENT)
            yield Line(f"    Right is: {one_line(one['right'])}.", Tone.QUIET)
        return
    yield Line(f"The agent's words, {WHERE[note.kept.source]}.", Tone.QUIET)
    yield from _sections(note.kept.handoff)


def _sections(handoff: Handoff) -> Iterator[Block]:
    for name, items in handoff.model_dump(mode="json", exclude={"outcome"}).items():
        if items:
            yield Line()
            yield title(name.replace("_", " ").capitalize())
        for item in items:
            yield from _item(item)


def _item(item: Mapping[str, Any]) -> Iterator[Line]:
    fields = {name: value for name, value in item.items() if name != "id" and value not in ("", [])}
    (_, first), *rest = fields.items()
    yield Line(f"  {one_line(str(first))}")
    for name, value in rest:
        listed = cast("list[str]", value) if isinstance(value, list) else [str(value)]
        shown = ", ".join(listed)
        yield Line(f"    {name.replace('_', ' ')}: {one_line(shown)}", Tone.QUIET)
