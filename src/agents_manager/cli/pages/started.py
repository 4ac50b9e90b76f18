"""What starting many tasks led to."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from agents_manager.cli import times
from agents_manager.cli.render import Block, Line, Table, counted, one_line, short
from agents_manager.flow.bulk_starts import StartResult, StartState

STATES: Mapping[StartState, str] = {
    StartState.STARTED: "started",
    StartState.WAITING: "waiting for dependencies",
    StartState.SCHEDULED: "scheduled",
    StartState.REFUSED: "not started",
}


def page(done: Sequence[StartResult], at: datetime | None) -> Iterator[Block]:
    if not done:
        yield Line("There is no task to start.")
        return
    yield Table(
        ("TASK", "TITLE", "START", "WAITS FOR"),
        [(short(one.task.id), one.task.title, STATES[one.state], _waits(one)) for one in done],
        cut=("TITLE", "WAITS FOR"),
    )
    yield Line()
    for one in done:
        if one.state is StartState.REFUSED:
            title = one_line(one.task.title)
            yield Line(f'{short(one.task.id)} "{title}" was not started: {one_line(one.reason)}')
    tally = {state: sum(one.state is state for one in done) for state in StartState}
    when = f" That is {times.told(at)}." if at is not None else ""
    yield Line(f"{counted(len(done), 'task')}: {counts(tally)}.{when}")


def _waits(one: StartResult) -> str:
    return one.reason if one.state is StartState.WAITING else ""


def counts(tally: Mapping[StartState, int]) -> str:
    told = [f"{number} {STATES[state]}" for state, number in tally.items() if number]
    return ", ".join(told) or "none of them started"
