"""What came of a list of tasks."""

from collections.abc import Iterator, Mapping

from agents_manager.cli.render import Block, Line, Table, counted, short
from agents_manager.flow.importing import Imported, ImportState

STATES: Mapping[ImportState, str] = {
    ImportState.MADE: "made",
    ImportState.TO_MAKE: "would be made",
    ImportState.ALREADY_THERE: "already there",
}


def page(done: Imported, skipped: str) -> Iterator[Block]:
    """`skipped` says of what kind the others were."""
    if done.items:
        yield Table(
            ("WHERE", "WHAT", "TASK", "TITLE", "PIPELINE", "WAITS FOR"),
            [
                (
                    item.place,
                    f"{STATES[item.state]}, changed since" if item.changed else STATES[item.state],
                    short(item.task_id or ""),
                    item.title,
                    item.pipeline,
                    counted(item.dependencies, "task") if item.dependencies else "",
                )
                for item in done.items
            ],
            cut=("TITLE",),
        )
        yield Line()
    yield Line(_sum(done, skipped))


def _sum(done: Imported, skipped: str) -> str:
    told = ["Nothing is new"]
    if planned := done.count(ImportState.TO_MAKE):
        told = [f"{counted(planned, 'task')} would be made"]
    if made := done.count(ImportState.MADE):
        told = [f"{counted(made, 'task')} made, none of them started"]
    if there := done.count(ImportState.ALREADY_THERE):
        told.append(f"{there} already there")
    if changed := sum(item.changed for item in done.items):
        told.append(f"{changed} of them changed on GitHub since, and left alone")
    if done.skipped:
        told.append(f"{done.skipped} {skipped} and skipped")
    return f"{'; '.join(told)}."
