"""A measured number beside another one, with the goal it is held to, and how both are printed."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

WIDTH = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    name: str
    ours: str
    beside: str = ""
    ratio: float | None = None
    goal: str = ""
    met: bool | None = None
    """None where the number has no goal and is there to be compared."""


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * round(share * 100) // 100) - 1)]


def show(title: str, rows: Sequence[Row]) -> None:
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("what")
    for name in ("ours", "beside", "ratio", "goal"):
        table.add_column(name, justify="right")
    table.add_column("")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
        met = "" if row.met is None else "met" if row.met else "NOT MET"
        table.add_row(row.name, row.ours, row.beside, ratio, row.goal, met)
    # A pipe has no width of its own, and a table that wraps is hard to read.
    Console(width=None if Console().is_terminal else WIDTH).print(table)
