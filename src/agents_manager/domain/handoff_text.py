"""Where a handoff stands in a text: one section `## Handoff` outside of code, with one block of
YAML in it, fenced or not. Linear and bounded; what is quoted is not seen."""

import re
from dataclasses import dataclass
from typing import Any

from agents_manager.domain import fences, plain_yaml
from agents_manager.domain.handoff import Handoff
from agents_manager.domain.handoff_faults import WHOLE, Violation

MAX_BYTES = 128 * 1024
MAX_DEPTH = 12
FORM = "one section `## Handoff`, with one block of YAML in a fence"
_HEADING = re.compile(r" {0,3}##[ \t]+Handoff[ \t]*(?:#+[ \t]*)?", re.IGNORECASE)
_TOP = re.compile(r" {0,3}(#{1,2})(?:[ \t]|$)")


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a section holds; nothing is known of its fields yet."""

    value: Any
    violations: tuple[Violation, ...] = ()


@dataclass(slots=True)
class _Section:
    plain: list[str]
    """Its lines outside of code."""
    blocks: list[list[str]]


def parse(text: str) -> Parsed | None:
    """The handoff of a message or of a task file; None when there is no section of one."""
    sections, _ = _split(text)
    if not sections:
        return None
    if len(sections) > 1:
        return _wrong(f"there are {len(sections)} sections `## Handoff`", FORM)
    section = sections[0]
    if len(section.blocks) > 1:
        return _wrong(f"its section has {len(section.blocks)} blocks of code", FORM)
    lines = section.blocks[0] if section.blocks else section.plain
    return read("\n".join(lines))


def without(text: str) -> str:
    """The words of a message beside its handoff."""
    sections, rest = _split(text)
    return "\n".join(rest).strip() if sections else text


def read(block: str) -> Parsed:
    """YAML, or JSON, where all values are text."""
    if not block.strip():
        return _wrong("its section is empty", FORM)
    try:
        value = plain_yaml.loads(block, max_bytes=MAX_BYTES, max_depth=MAX_DEPTH, texts=True)
    except ValueError as error:
        tabs = ", indented by blanks and not by tabs" if "\t" in block[:MAX_BYTES] else ""
        right = f'YAML{tabs}; a text with ": ", "#", a quote or a backtick stands in quotes'
        return _wrong(f"it cannot be read: {error}", right)
    return Parsed(value)


def written(handoff: Handoff) -> str:
    """As the block of a task file."""
    said = handoff.model_dump(mode="json").items()
    return plain_yaml.dumps({name: value for name, value in said if value})


def _wrong(wrong: str, right: str) -> Parsed:
    return Parsed(None, (Violation(WHOLE, wrong, right),))


def _split(text: str) -> tuple[list[_Section], list[str]]:
    """The sections, and the lines that belong to none. A section goes up to the next heading of its
    level; one of the level above is a comment of YAML where no fence tells otherwise."""
    sections: list[_Section] = []
    rest: list[str] = []
    open_section: _Section | None = None
    fence: str | None = None
    for line in fences.lines(text):
        before = fence
        fence, fenced = fences.state(fence, line)
        if not fenced and _HEADING.fullmatch(line):
            open_section = _Section([], [])
            sections.append(open_section)
            continue
        top = None if fenced else _TOP.match(line)
        if open_section and top and (len(top[1]) == 2 or open_section.blocks):
            open_section = None
        if open_section is None:
            rest.append(line)
        elif not fenced:
            open_section.plain.append(line)
        elif before is None:
            open_section.blocks.append([])
        elif fence is not None:
            open_section.blocks[-1].append(line)
    return sections, rest
