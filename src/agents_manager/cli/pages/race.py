"""Agents side by side, as people read them."""

from collections.abc import Iterator

from agents_manager.cli.render import (
    UNKNOWN,
    Block,
    Line,
    Table,
    Tone,
    money,
    one_line,
    short,
    title,
    took,
)
from agents_manager.flow.comparing import Checked, Compared, Comparison


def comparison(found: Comparison) -> Iterator[Block]:
    yield title(f"Side by side: {one_line(found.task.title)}")
    yield Line(_standing(found), Tone.QUIET)
    yield Line()
    yield Table(
        ("RUN", "CONTENDER", "STATE", "CHECKS", "FILES", "LINES", "COST", "TOOK"),
        [_row(found, one) for one in found.contenders],
        0,
        cut=("STATE",),
    )
    yield Line()
    if found.reasons:
        yield Line(f"The judge: {one_line(found.reasons)}")
    for one in found.contenders:
        if one.run and one.run.ended_at:
            kept = f" · snapshot {one.snapshot}" if one.snapshot else ""
            yield Line(f"am run diff {short(one.run.id)}{kept}", Tone.QUIET)
    if found.prompt:
        yield Line(f"am task pick {short(found.task.id)} CONTENDER", Tone.QUIET)


def _standing(found: Comparison) -> str:
    if found.picked:
        return f"Run {short(found.picked)} is picked."
    if found.prompt:
        return "All have ended; somebody picks."
    return f"{found.judge} picks when all have ended." if found.judge else "Nobody is picked yet."


def _checks(checks: Checked) -> str:
    """The checks that ran, each by its result."""
    passed = [name for name in checks.ran if name not in checks.failed]
    parts = [
        f"{word}: {', '.join(names)}"
        for word, names in (("passed", passed), ("failed", checks.failed))
        if names
    ]
    return "; ".join(parts) or "none run"


def _row(found: Comparison, one: Compared) -> tuple[str, ...]:
    figures = one.figures
    known = figures is not None and figures.files is not None
    return (
        short(one.run.id) if one.run else "",
        str(one.contender),
        "picked" if one.run and one.run.id == found.picked else one.unfit or "can be picked",
        _checks(one.checks),
        str(figures.files) if figures and known else UNKNOWN,
        f"+{figures.additions} -{figures.deletions}" if figures and known else UNKNOWN,
        money(one.run.cost_usd if one.run else None),
        took(one.seconds) if one.seconds is not None else UNKNOWN,
    )
