"""What came of a list of tasks."""

from collections.abc import Iterator, Mapping

from agents_manager.cli.pages import started
from agents_manager.cli.render import Block, Line, Table, counted, short
from agents_manager.flow.bulk_starts import StartState
from agents_manager.flow.importing import Imported, ImportState, Item

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
                    _what(item),
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
    yield from _left_out(done)


def _left_out(done: Imported) -> Iterator[Line]:
    if not done.left_out:
        return
    bullets = counted(done.left_out_count, "list item")
    yield Line(f'{bullets} left out, because a task is a line like "- [ ] Title":')
    for each in done.left_out:
        yield Line(f"  {each.place}: {each.text}")
    if more := done.left_out_count - len(done.left_out):
        yield Line(f"  and {more} more")


def _what(item: Item) -> str:
    what = f"{STATES[item.state]}, changed since" if item.changed else STATES[item.state]
    return f"{what}, {started.STATES[item.start]}" if item.start else what


def _tally(done: Imported) -> dict[StartState, int]:
    return {state: done.started(state) for state in StartState}


def _sum(done: Imported, skipped: str) -> str:
    told = ["Nothing is new"]
    if planned := done.count(ImportState.TO_MAKE):
        told = [f"{counted(planned, 'task')} would be made"]
    if made := done.count(ImportState.MADE):
        told = [f"{counted(made, 'task')} made, {started.counts(_tally(done))}"]
    if there := done.count(ImportState.ALREADY_THERE):
        told.append(f"{there} already there")
    if changed := sum(item.changed for item in done.items):
        told.append(f"{changed} of them changed on GitHub since, and left alone")
    if done.skipped:
        told.append(f"{done.skipped} {skipped} and skipped")
    return f"{'; '.join(told)}."
