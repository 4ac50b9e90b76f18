"""Tasks in Markdown: `- [ ] Title`, with its description in the indented lines below. An entry
waits for those that are nested in it, and headings from the second level on are its tags."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from agents_manager.domain import fields
from agents_manager.domain.names import visible
from agents_manager.domain.task_list import Entry, LeftOut, Listed, lines

MAX_SHOWN = 100
"""Characters that are shown of a bullet that is left out."""
CODE = 4
"""Blanks in front of a line that is code, unless it belongs to an item."""

_MARK = r"(?:[-*+]|\d{1,9}[.)])"
_ITEM = re.compile(rf"{_MARK} +\[(?P<box>[ xX])\](?: +(?P<title>.*))?")
_OTHER = re.compile(rf"{_MARK}(?: |$)")
_RULE = re.compile(r"(?:[-*] *){3,}")
"""A line across the page, which is written like a bullet."""
_HEADING = re.compile(r"(?P<level>#{1,6})(?P<text>(?: .*)?)")
_FENCE = re.compile(r"(?P<sign>`{3,}|~{3,})")


@dataclass(slots=True)
class _Item:
    line: int
    indent: int
    title: str
    checked: bool
    tags: list[str]
    parent: "_Item | None"
    text: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _Reader:
    items: list[_Item] = field(default_factory=list[_Item])
    within: list[_Item] = field(default_factory=list[_Item])
    """The item that is being read, behind those that it is nested in."""
    headings: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    left_out: list[LeftOut] = field(default_factory=list[LeftOut])
    fence: tuple[int, str] | None = None
    """The line and the sign of a block of code that has begun."""
    after_blank: bool = True

    def take(self, number: int, line: str) -> None:
        plain = line.lstrip(" ")
        indent = len(line) - len(plain)
        if self.fence and (not plain or not self._outside(indent)):
            self._code(line, plain)
        elif plain:
            self._words(number, line, plain, indent)
        elif self.within:
            self.within[-1].text.append("")
        self.after_blank = not plain

    def _outside(self, indent: int) -> bool:
        """An item's block of code ends with the item."""
        ended = bool(self.within) and indent <= self.within[-1].indent
        if ended:
            self.fence = None
        return ended

    def _code(self, line: str, plain: str) -> None:
        assert self.fence
        sign = self.fence[1]
        if plain.rstrip().strip(sign[0]) == "" and plain.startswith(sign):
            self.fence = None
        if self.within:
            self.within[-1].text.append(line)

    def _words(self, number: int, line: str, plain: str, indent: int) -> None:
        if indent == 0 and (heading := _HEADING.fullmatch(plain)):
            self._head(len(heading["level"]), _headed(heading["text"]))
            return
        item, fence = _ITEM.fullmatch(plain), _FENCE.match(plain)
        if not self._goes_on(plain, indent, begins=bool(item or fence)):
            while self.within and indent <= self.within[-1].indent:
                self.within.pop()
        if item and (self.within or indent < CODE):
            self._begin(number, indent, item)
            return
        if fence:
            self.fence = (number, fence["sign"])
        if self.within:
            self.within[-1].text.append(line)
        elif (bullet := _OTHER.match(plain)) and not _RULE.fullmatch(plain.rstrip()):
            text = visible(plain[bullet.end() :], MAX_SHOWN)
            self.left_out.append(LeftOut(place=f"line {number}", text=text))

    def _goes_on(self, plain: str, indent: int, *, begins: bool) -> bool:
        """Whether the line goes on with the paragraph above, though it is not indented."""
        new = begins or self.after_blank or _OTHER.match(plain) is not None
        return indent == 0 and not new

    def _head(self, level: int, text: str) -> None:
        self.within.clear()
        self.headings = [h for h in self.headings if h[0] < level]
        self.headings.append((level, text.strip(" *_`:")))

    def _begin(self, number: int, indent: int, found: re.Match[str]) -> None:
        open_ones = [one for one in self.within if not one.checked]
        item = _Item(
            line=number,
            indent=indent,
            title=found["title"] or "",
            checked=found["box"] != " ",
            tags=[text for level, text in self.headings if level > 1 and _is_tag(text)],
            parent=open_ones[-1] if open_ones else None,
        )
        self.items.append(item)
        self.within.append(item)


def read(text: str) -> Listed:
    reader = _Reader()
    for number, line in enumerate(lines(text), 1):
        reader.take(number, _blanks(line))
    faults: list[str] = []
    if reader.fence:
        faults.append(f"line {reader.fence[0]}: the block of code that begins here has no end")
    found = [item for item in reader.items if not item.checked]
    if not reader.items and not faults:
        faults.append('there is no task in it; a task is a line like "- [ ] Title"')
        faults += [f'{each.place}: "{each.text}" has no box' for each in reader.left_out]
    inner: dict[int, list[int]] = {}
    for index, item in enumerate(found):
        if item.parent:
            inner.setdefault(item.parent.line, []).append(index)
    entries = [_entry(item, inner.get(item.line, ())) for item in found]
    return Listed(
        entries=entries,
        faults=faults,
        skipped=len(reader.items) - len(found),
        left_out=reader.left_out,
    )


def _headed(text: str) -> str:
    """Without the signs that may close a heading. By hand: a pattern for it takes the square of the
    time on a long line of blanks."""
    whole = text.rstrip(" ")
    bare = whole.rstrip("#")
    return (bare if not bare or bare.endswith(" ") else whole).strip(" ")


def _entry(item: _Item, needs: Sequence[int]) -> Entry:
    words = {"title": item.title, "description": _described(item.text), "tags": item.tags}
    return Entry(place=f"line {item.line}", words=words, needs=tuple(needs))


def _described(text: list[str]) -> str:
    """Without the blanks that put it below its item."""
    first = next((line for line in text if line), "")
    most = len(first) - len(first.lstrip(" "))
    cut = [line[most:] if not line[:most].strip() else line.lstrip(" ") for line in text]
    return "\n".join(cut).strip("\n")


def _blanks(line: str) -> str:
    """With tabs in front made blanks."""
    plain = line.lstrip(" \t")
    return line[: len(line) - len(plain)].expandtabs(4) + plain if plain else ""


def _is_tag(text: str) -> bool:
    return not fields.settled({"tags": [text]})[1]
