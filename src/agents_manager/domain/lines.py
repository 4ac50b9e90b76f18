"""Where a line of a file stands after the file was changed, by what git says of the change."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that became others. Where there were none, the others came after line `start`."""

    start: int
    lines: int
    became: int


@dataclass(frozen=True, slots=True)
class Became:
    """What a file is now."""

    path: str | None
    """None: it is gone."""
    hunks: Sequence[Hunk] | None
    """None: what happened to its lines is not known, as it is not text, or too long."""


def hunks(patch: str) -> list[Hunk]:
    """Those of one file's change that was told without lines around it."""
    found = (_HUNK.match(line) for line in patch.split("\n"))
    return [Hunk(int(h[1]), _count(h[2]), _count(h[3])) for h in found if h]


def _count(number: str | None) -> int:
    return 1 if number is None else int(number)


def moved(line: int, hunks: Sequence[Hunk]) -> int | None:
    """Where the line stands now; None: it was changed, or is gone."""
    shift = 0
    for hunk in hunks:
        if hunk.start <= line < hunk.start + hunk.lines:
            return None
        if line > hunk.start:
            shift += hunk.became - hunk.lines
    return line + shift
