"""The text of a prompt: sections within their budgets. What others wrote stands in fences that it
cannot close, so it can pose neither as a section of ours nor, repeated, as an outcome."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TOTAL = 100_000
"""Characters of a whole prompt; as much as fits into one argument of a program."""
FLOOR = 1_000
"""What a section keeps when others take its place."""
CUT_LINE = 300
"""More than the line takes that says what was cut."""
LONGEST_TICKS = 16
"""Longer rows of backticks are cut, else the fence around them could be of any length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    heading: str
    before: str = ""
    """Our own words; never cut."""
    quoted: Sequence[str] = ()
    """What others wrote, the oldest first."""
    after: str = ""
    between: str = "\n\n"
    budget: int = 0
    """Characters of what others wrote. A section that has room for it and none of it is left out;
    one without is all ours."""
    newest: bool = False
    """Whether the end counts more than the beginning."""
    where: str = ""
    """The command that shows all of it."""


def assembled(sections: Sequence[Section], give_way: Sequence[str]) -> str:
    """The prompt. Where all sections together are too long, those named give way, the first of
    them first."""
    budgets = {s.heading: s.budget for s in sections}
    for heading in give_way:
        over = len(_joined(sections, budgets)) - TOTAL
        if over <= 0:
            break
        used = min(budgets[heading], _length(sections, heading))
        budgets[heading] = max(min(FLOOR, budgets[heading]), used - over - CUT_LINE)
    return _joined(sections, budgets)


def fenced(text: str) -> str:
    """A block of text that nothing in it ends, with all that is invisible made visible."""
    shown = _shown(text)
    longest = max((len(row) for row in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"


def indented(text: str) -> str:
    """Words that go on over several lines, as one item among others."""
    return "\n  ".join(_lines(text.strip()))


def _joined(sections: Sequence[Section], budgets: Mapping[str, int]) -> str:
    bodies = [(s.heading, _body(s, budgets[s.heading])) for s in sections]
    return "\n\n".join(f"# {heading}\n\n{body}" for heading, body in bodies if body)


def _length(sections: Sequence[Section], heading: str) -> int:
    return sum(len(s.between.join(s.quoted)) for s in sections if s.heading == heading)


def _body(section: Section, budget: int) -> str:
    words = [text.strip("\n") for text in section.quoted if text.strip()]
    if not words:
        return section.before if section.budget == 0 else ""
    kept = _kept(words, budget, section)
    parts = [section.before, fenced(section.between.join(kept))]
    size = sum(map(len, words))
    left = size - sum(map(len, kept))
    if left:
        side = "Older text" if section.newest else "The rest"
        parts.append(
            f"({side} is left out here: {left:,} of {size:,} characters."
            f" All of it: `{section.where}`)"
        )
    return "\n\n".join(part for part in (*parts, section.after) if part.strip())


def _kept(words: Sequence[str], budget: int, section: Section) -> list[str]:
    """Whole texts as long as they fit, then a part of the next, cut between lines."""
    kept: list[str] = []
    room = budget
    for text in reversed(words) if section.newest else words:
        if len(text) > room:
            part = _end(text, room) if section.newest else _beginning(text, room)
            kept += [part] if part.strip() else []
            break
        kept.append(text)
        room -= len(text) + len(section.between)
    return kept[::-1] if section.newest else kept


def _beginning(text: str, room: int) -> str:
    part = text[: max(room, 0)]
    whole, line, _ = part.rpartition("\n")
    return whole if line and len(whole) > room // 2 else part


def _end(text: str, room: int) -> str:
    part = text[-room:] if room > 0 else ""
    _, line, whole = part.partition("\n")
    return whole if line and len(whole) > room // 2 else part


def _lines(text: str) -> list[str]:
    return re.split(r"\r\n|\n|\r", text)


def _shown(text: str) -> str:
    plain = "\n".join(_lines(text))
    hidden = {
        ord(c): f"\\u{{{ord(c):x}}}"
        for c in set(plain)
        if unicodedata.category(c)[0] == "C" and c not in "\n\t"
    }
    row = "`" * LONGEST_TICKS
    return re.sub(f"{row}`+", row, plain.translate(hidden))
