"""From values to what people read: pages are lines and tables. On a terminal rich draws them, else
they are plain aligned text. Text that others wrote cannot steer the terminal."""

import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import zip_longest
from typing import TYPE_CHECKING

from agents_manager.domain.budget import dollars

if TYPE_CHECKING:
    from rich.text import Text

SHOWN_ID = 8
PIPE_WIDTH = 120
NARROWEST = 8
"""How narrow a column of prose can become."""
UNKNOWN = "unknown"

_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""C0 without tab and line feed, C1, bidi controls, line separators, lone surrogates, tags."""


_WORD = re.compile(r'"(?:am|git) [^"]*"\S*|(?<!\S)(?:am|git) [a-z-].*|\S+')
"""What is not broken: words, commands in quotes, and commands at the end of a line."""


_LABEL = re.compile(r"(?=.{1,24}?\S  ) *\S(?:[^ ]| (?! ))* {2,}(?=\S)")


class Tone(StrEnum):
    """How a line is drawn, in rich's words."""

    PLAIN = ""
    TITLE = "bold"
    QUIET = "dim"
    ADDED = "green"
    REMOVED = "red"
    URGENT = "yellow"


@dataclass(frozen=True, slots=True)
class Line:
    text: str = ""
    tone: Tone = Tone.PLAIN
    verbatim: bool = False
    """Whether line breaks matter, as in code; other lines are wrapped in a pipe."""


@dataclass(frozen=True, slots=True)
class Table:
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    indent: int = 0
    cut: Sequence[str] = ()
    """Columns of prose: on a terminal that is too narrow they are cut, so that a row is a line."""


Block = Line | Table


def title(text: str) -> Line:
    return Line(text, Tone.TITLE)


def clean(text: str) -> str:
    """Escape sequences and the like, shown instead of obeyed."""
    return _STEERING.sub(lambda found: _visible(found[0]), text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    return clean(" ".join(text.split()))


def lines(
    text: str, *, indent: int = 0, tone: Tone = Tone.PLAIN, prose: bool = False
) -> list[Line]:
    """The lines of a text as they are; those of `prose` are wrapped in a pipe."""
    return [Line(" " * indent + line, tone, not prose) for line in text.splitlines()]


def excerpt(text: str, limit: int, *, indent: int = 0, prose: bool = False) -> list[Line]:
    """The first lines of a long text, and how many there are more."""
    shown = lines(text, indent=indent, prose=prose)
    if len(shown) <= limit + 1:
        return shown
    more = f"{' ' * indent}… {len(shown) - limit} more lines (--json shows all)"
    return [*shown[:limit], Line(more, Tone.QUIET)]


def short(identity: str) -> str:
    return identity[:SHOWN_ID]


def ago(time: datetime, now: datetime | None = None) -> str:
    seconds = ((now or datetime.now(UTC)) - time).total_seconds()
    return "just now" if seconds < 5 else f"{took(seconds)} ago"


def took(seconds: float) -> str:
    for size, name in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {name}"
    return f"{max(0, round(seconds))} s"


def money(usd: float | None) -> str:
    return UNKNOWN if usd is None else dollars(usd)


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def to_text(blocks: Iterable[Block], width: int | None = None) -> str:
    """Plain text that is at most `width` columns wide, except for words that are longer, for code,
    and for commands, which must be copied without line breaks."""
    return "\n".join(_plain(block, width) for block in blocks)


def pipe_width() -> int:
    """How wide output may be that is not printed on a terminal: as wide as `COLUMNS` says or as the
    terminal that the command was typed in, if there is one."""
    told = os.environ.get("COLUMNS", "")
    if told.isascii() and told.isdigit() and int(told):
        return int(told)
    try:
        # A terminal without a size has zero columns.
        return os.get_terminal_size(sys.stdin.fileno()).columns or PIPE_WIDTH
    except (OSError, ValueError, AttributeError):
        return PIPE_WIDTH


def to_terminal(blocks: Iterable[Block], *, err: bool = False) -> None:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    console = Console(stderr=err, highlight=False, markup=False, emoji=False)
    for block in blocks:
        if isinstance(block, Line):
            # The terminal wraps: a command that is copied must not hold line breaks.
            console.print(Text(clean(block.text), style=block.tone), soft_wrap=True)
            continue
        table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for column in block.columns:
            whole = bool(block.cut) and column not in block.cut
            table.add_column(Text(column), overflow="fold", no_wrap=whole)
        for row in block.rows:
            table.add_row(*(_cell(block, *pair) for pair in zip(block.columns, row, strict=True)))
        console.print(_indented(table, block.indent))


def _cell(table: Table, column: str, text: str) -> "Text":
    from rich.text import Text

    cut = column in table.cut
    return Text(one_line(text), no_wrap=cut, overflow="ellipsis" if cut else None)


def _indented(table: object, indent: int) -> object:
    from rich.padding import Padding

    return Padding(table, (0, 0, 0, indent))  # pyright: ignore[reportArgumentType]


def _plain(block: Block, width: int | None) -> str:
    if isinstance(block, Line):
        text = clean(block.text).rstrip()
        if width is None or block.verbatim or _width(text) <= width:
            return text
        return "\n".join(line for part in text.split("\n") for line in _wrapped(part, width))
    rows = [list(block.columns), *([one_line(cell) for cell in row] for row in block.rows)]
    widths = [max(_width(row[i]) for row in rows) for i in range(len(block.columns))]
    if width is not None:
        _narrow(widths, block, rows, width)
    shape = _cut_cell if block.cut else _wrapped
    return "\n".join(
        (
            " " * block.indent
            + "  ".join(
                text + " " * (wide - _width(text)) for text, wide in zip(line, widths, strict=True)
            )
        ).rstrip()
        for row in rows
        for line in zip_longest(*map(shape, row, widths), fillvalue="")
    )


def _narrow(widths: list[int], table: Table, rows: Sequence[Sequence[str]], width: int) -> None:
    """Takes from the columns that can be narrower, the widest first, until the table fits. Columns
    of prose are cut; in a table without them, cells are wrapped between words."""
    if table.cut:
        least = {i: NARROWEST for i, name in enumerate(table.columns) if name in table.cut}
    else:
        least = {i: max(_longest_word(row[i]) for row in rows) for i in range(len(widths))}
    excess = table.indent + sum(widths) + 2 * (len(widths) - 1) - width
    while excess > 0 and (wider := [i for i in least if widths[i] > least[i]]):
        widths[max(wider, key=lambda i: widths[i])] -= 1
        excess -= 1


def _longest_word(text: str) -> int:
    return max((_width(word) for word in _WORD.findall(text)), default=0)


def _wrapped(text: str, width: int) -> list[str]:
    """Returns the lines of a text, broken between words and indented like the first one or, after a
    label such as "Why     ", like the text behind it."""
    first = text[: len(text) - len(text.lstrip())]
    label = _LABEL.match(text)
    indent = " " * _width(label[0]) if label else first
    made: list[str] = []
    line = first
    end = len(first)
    for found in _WORD.finditer(text):
        gap, word = text[end : found.start()], found[0]
        end = found.end()
        if line.strip() and _width(line + gap + word) > width:
            made.append(line)
            line = indent + word
        else:
            line += gap + word
    return [*made, line]


def _cut_cell(text: str, width: int) -> list[str]:
    return [_cut(text, width)]


def _cut(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    while text and _width(text) > width - 1:
        text = text[:-1]
    return text.rstrip() + "…"


def _width(text: str) -> int:
    """How many columns a text takes: East Asian characters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _visible(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
