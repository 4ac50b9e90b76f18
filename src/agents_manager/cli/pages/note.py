"""What a handoff in free words became."""

from collections.abc import Iterator, Sequence
from typing import Any

from agents_manager.cli.render import Block, Line, Table, lines, one_line
from agents_manager.domain import handoff_text
from agents_manager.domain.handoff_notes import Said
from agents_manager.domain.knowledge import Node
from agents_manager.flow.handoff_notes import Note


def page(note: Note) -> Iterator[Block]:
    found = note.migrated
    if found.said:
        rows = [(str(one.line), _became(one), one_line(one.words)) for one in found.said]
        yield Table(("LINE", "BECAME", "WORDS"), rows, cut=("WORDS",))
        yield Line()
    if found.handoff is not None:
        yield from lines(handoff_text.written(found.handoff))
    else:
        yield Line("It is no handoff that can be kept:")
        yield from (Line(f"  {one_line(str(one))}") for one in found.violations)


def document(note: Note, kept: Sequence[Node] | None) -> dict[str, Any]:
    found = note.migrated
    return {
        "task": note.task.id if note.task else None,
        "said": found.said,
        "handoff": found.handoff,
        "violations": found.violations,
        "kept": None if kept is None else [node.id for node in kept],
    }


def _became(one: Said) -> str:
    if one.ambiguous:
        return f"ambiguous: {one.ambiguous}"
    assumed = f" ({', '.join(one.assumed)})" if one.assumed else ""
    return ", ".join(one.became) + assumed
