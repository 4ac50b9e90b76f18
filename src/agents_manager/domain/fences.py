"""Code in a message, as Markdown fences it. What stands in it is quoted, and says nothing to us."""

import re

_LINE_END = re.compile(r"\r\n|\n|\r")
"""The line ends of Markdown. `str.splitlines` knows more (U+2028, U+0085, form feed): behind one of
those a marker would stand in the middle of a quoted line for every reader but us, and in a payload
they are ordinary characters."""
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)", re.DOTALL)


def lines(text: str) -> list[str]:
    return _LINE_END.split(text)


def state(fence: str | None, line: str) -> tuple[str | None, bool]:
    """The open fence after this line, and whether the line belongs to fenced code."""
    mark = _FENCE.match(line)
    if fence is None:
        return (mark[1], True) if mark else (None, False)
    closes = mark is not None and mark[1].startswith(fence) and not mark[2].strip(" \t")
    return (None, True) if closes else (fence, True)
