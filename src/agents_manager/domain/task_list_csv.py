"""Tasks in CSV: a header with names of columns, then a task a row."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence

from agents_manager.domain.names import visible
from agents_manager.domain.task_list import Entry, Listed, lines
from agents_manager.errors import closest

WORDS = ("title", "description", "priority", "type", "size", "complexity", "agent", "model")
COLUMNS = (*WORDS, "tags", "depends_on", "pipeline")
SHOWN = 60

Rows = Iterator[tuple[int, list[str]]]


def read(text: str) -> Listed:
    rows = _rows(text)
    try:
        number, header = next(rows, (1, list[str]()))
        names = [visible(cell, SHOWN).lower().replace(" ", "_") for cell in header]
        faults = [f"line {number}: {fault}" for fault in _header_faults(names)]
        if faults:
            return Listed(faults=faults)
        return _listed(names, list(rows))
    except _BrokenError as error:
        return Listed(faults=[str(error)])


class _BrokenError(Exception):
    """From here on nobody can tell what a row is."""


def _rows(text: str) -> Rows:
    """The rows that are not empty, each with the line in which it begins."""
    reader = csv.reader([f"{line}\n" for line in lines(text)], strict=True)
    begins = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield begins, row
            begins = reader.line_num + 1
    except csv.Error as error:
        why = "a quoted cell is not closed" if "end of data" in str(error) else str(error)
        raise _BrokenError(f"line {begins}: {why}") from None


def _header_faults(names: Sequence[str]) -> Iterator[str]:
    if len(names) == 1 and re.search(r"[;\t]", names[0]):
        yield "the columns are separated by something else than commas"
        return
    if "title" not in names:
        yield f"the header names no column title; it may name {', '.join(COLUMNS)}"
    for name in dict.fromkeys(names):
        if name not in COLUMNS:
            hint = closest(name, COLUMNS) or f" There is: {', '.join(COLUMNS)}."
            yield f'there is no column "{name}".{hint}'
        elif names.count(name) > 1:
            yield f'the column "{name}" stands there twice'


def _listed(names: Sequence[str], rows: Sequence[tuple[int, list[str]]]) -> Listed:
    faults: list[str] = []
    cells: list[tuple[int, dict[str, str]]] = []
    for number, row in rows:
        if len(row) == len(names):
            cells.append((number, dict(zip(names, row, strict=True))))
        else:
            faults.append(f"line {number}: it has {len(row)} cells, the header has {len(names)}")
    by_title: dict[str, list[int]] = {}
    for index, (_, row) in enumerate(cells):
        by_title.setdefault(_same(row["title"]), []).append(index)
    entries: list[Entry] = []
    for number, row in cells:
        needs, waits_for = _before(row.get("depends_on", ""), by_title)
        twice = [name for name in waits_for if len(by_title.get(_same(name), ())) > 1]
        faults += [
            f'line {number}: depends_on: "{visible(name, SHOWN)}" is the title of several rows'
            for name in twice
        ]
        entries.append(
            Entry(
                place=f"line {number}",
                words=_words(row),
                pipeline=row.get("pipeline", "").strip() or None,
                needs=needs,
                waits_for=tuple(name for name in waits_for if name not in twice),
            )
        )
    if not rows:
        faults.append("there is no task in it, only the header")
    return Listed(entries=entries, faults=faults)


def _words(row: Mapping[str, str]) -> dict[str, object]:
    """What is empty is as if it were not given."""
    words: dict[str, object] = {n: row[n] for n in WORDS if n == "title" or row.get(n, "").strip()}
    if tags := [tag for tag in re.split("[,;]", row.get("tags", "")) if tag.strip()]:
        words["tags"] = tags
    return words


def _before(
    cell: str, by_title: Mapping[str, Sequence[int]]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    names = [name.strip() for name in cell.split(";") if name.strip()]
    rows = {name: by_title.get(_same(name), ()) for name in names}
    inside = [found[0] for found in rows.values() if len(found) == 1]
    return tuple(dict.fromkeys(inside)), tuple(name for name in rows if len(rows[name]) != 1)


def _same(title: str) -> str:
    return " ".join(title.split()).casefold()
