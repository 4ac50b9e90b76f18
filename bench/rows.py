"""A measured number beside another one, with its goal, and how both are printed."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from agents_manager.domain.run import UNSANDBOXED
from bench.world import World

WIDTH = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    name: str
    ours: str
    beside: str = ""
    ratio: float | None = None
    goal: str = ""
    met: bool | None = None
    """None if the row has no goal."""
    easier: str = ""
    """How this row was measured more easily than the goal asks, such as "1,000 tasks only"."""
    sandbox: str | None = None
    """The level of this row's runs, where a question measures several levels."""
    timed: bool = True
    """Whether a busy machine makes the number worse. Sizes do not depend on it."""
    sandboxed: bool = True
    """Whether a sandbox could make the number worse."""


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * round(share * 100) // 100) - 1)]


def verdict(row: Row, world: World) -> str:
    """Whether the goal is met, or why this run cannot tell."""
    if row.met is None:
        return ""
    levels = world.sandbox if row.sandbox is None else {row.sandbox}
    easier = row.easier or ("no sandbox" if row.sandboxed and UNSANDBOXED in levels else "")
    if easier:
        return f"not comparable: {easier}"
    if row.met:
        return "met"
    return "not comparable: busy machine" if row.timed and world.is_busy else "NOT MET"


def show(title: str, rows: Sequence[Row], world: World) -> None:
    table = Table(title=f"{title}: {world}", title_justify="left", title_style="bold")
    table.add_column("what")
    for name in ("ours", "beside", "ratio", "goal"):
        table.add_column(name, justify="right")
    table.add_column("")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
        table.add_row(row.name, row.ours, row.beside, ratio, row.goal, verdict(row, world))
    # A pipe has no width of its own, and a table that wraps is hard to read.
    Console(width=None if Console().is_terminal else WIDTH).print(table)
