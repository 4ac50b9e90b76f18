"""The doctor's findings as people read them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents_manager.cli.findings import Finding
from agents_manager.cli.render import Block, Line, Table, Tone, counted, one_line, title

TONES = {"ok": Tone.ADDED, "warn": Tone.URGENT, "fail": Tone.REMOVED}


def page(found: Sequence[Finding]) -> Iterator[Block]:
    width = max(len(one.name) for one in found)
    for one in found:
        yield Line(f"{one.state:<4}  {one.name:<{width}}  {one_line(one.text)}", TONES[one.state])
        rest = " " * (width + 8)
        yield from (Line(f"{rest}$ {one_line(command)}") for command in one.fix)
        if one.way_out:
            yield Line(f"{rest}{one_line(one.way_out)}", Tone.QUIET)
    wrong = [one.state for one in found]
    fails, warns = wrong.count("fail"), wrong.count("warn")
    yield Line()
    if fails or warns:
        yield title(f"{counted(fails, 'failure')}, {counted(warns, 'warning')}")
    else:
        yield title("Everything is in order.")


def bundle(file: Path, parts: Sequence[Mapping[str, Any]], left_out: str) -> Iterator[Block]:
    yield title(f"Made {file}, readable by you alone.")
    rows = [(p["name"], f"{p['bytes']:,}", p["what"]) for p in parts]
    yield Table(("File", "Bytes", "What"), rows, indent=2)
    yield Line()
    yield Line(f"{left_out} Secrets that are known or look like one were taken out.")
    yield Line("Nothing was sent anywhere. Look into it before you pass it on.", Tone.URGENT)
