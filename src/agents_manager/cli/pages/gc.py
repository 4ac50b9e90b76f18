"""What retention removed, or would remove, as people read it."""

from collections.abc import Iterator

from agents_manager.cli.render import UNKNOWN, Block, Line, Table, Tone, title
from agents_manager.flow.retention.sweep import Report, Total

NAMED = {
    "transcripts": "transcripts",
    "worktrees": "workspaces",
    "snapshots": "snapshots",
    "engine": "rows of the engine",
    "backups": "databases put aside",
    "setup": "caches of installed files",
}

USED = {
    "workspaces": "workspaces",
    "transcripts": "transcripts and sessions of agents",
    "setup": "cached installed files",
    "backups": "databases put aside",
    "databases": "databases",
}


def page(report: Report) -> Iterator[Block]:
    if report.items:
        rows = [(i.kind, i.what, str(i.count), _size(i.bytes), i.why) for i in report.items]
        yield Table(("KIND", "WHAT", "COUNT", "SIZE", "WHY"), rows, cut=("WHAT",))
        yield Line()
    yield title("Would be removed" if report.dry_run else "Removed")
    for kind, total in report.totals.items():
        yield Line(f"  {total.count} {NAMED[kind]}{_together(total)}")
    yield title("Disk use")
    for kind, taken in report.used.items():
        yield Line(f"  {_size(taken)} {USED[kind]}")
    for why in report.left:
        yield Line(why, Tone.URGENT)
    if report.last:
        yield Line(f"The last pass was at {report.last[:16].replace('T', ' ')} UTC.", Tone.QUIET)


def _together(total: Total) -> str:
    return f", {_size(total.bytes)}" if total.count and total.bytes is not None else ""


def _size(number: int | None) -> str:
    if number is None:
        return UNKNOWN
    for unit in ("B", "KB", "MB"):
        if number < 1000:
            return f"{number} {unit}"
        number //= 1000
    return f"{number} GB"
