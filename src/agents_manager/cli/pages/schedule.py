"""Schedules as people read them."""

from collections.abc import Iterator, Sequence

from agents_manager.cli import times
from agents_manager.cli.render import Block, Line, Table, Tone, ago, one_line, short, title
from agents_manager.domain.schedule import Schedule, ScheduleState, WhenOpen
from agents_manager.flow.schedules import ScheduleView


def listing(found: Sequence[Schedule]) -> Iterator[Block]:
    if not found:
        yield Line("There is no schedule. Add one: am schedule add NAME --rule RULE --title TITLE")
        return
    yield Table(
        ("NAME", "RULE", "NEXT", "DOES", "TASKS", "PROJECT"),
        [(s.name, s.rule, stands(s), does(s), str(s.fired), s.project) for s in found],
        cut=("NAME", "RULE"),
    )


def stands(schedule: Schedule) -> str:
    if schedule.next_at is not None:
        return times.told(schedule.next_at, schedule.zone)
    why = f": {schedule.reason}" if schedule.reason else ""
    return one_line(f"{schedule.state}{why}")


def does(schedule: Schedule) -> str:
    return "creates and starts" if schedule.start else "creates"


def page(view: ScheduleView) -> Iterator[Block]:
    schedule = view.schedule
    yield title(one_line(schedule.name))
    yield Line(f"{schedule.id} · {schedule.project} · added {ago(schedule.created_at)}", Tone.QUIET)
    yield Line()
    alarm = Tone.URGENT if schedule.state is ScheduleState.HALTED else Tone.PLAIN
    yield Line(f"Next    {stands(schedule)}", alarm)
    yield Line(f"Rule    {schedule.rule} ({schedule.zone})")
    yield Line(f"Task    {one_line(schedule.template['title'])}")
    opened = "skips while the last task is open"
    waits = opened if schedule.when_open is WhenOpen.SKIP else "also while the last task is open"
    yield Line(f"Does    {does(schedule)}; {waits}")
    yield Line(f"Made    {_made(schedule)}")
    if schedule.until is not None:
        yield Line(f"Until   {times.told(schedule.until, schedule.zone)}")
    if view.next:
        yield Line()
        yield title("Next times")
        yield from (Line(f"  {times.told(at, schedule.zone)}") for at in view.next)
    if view.firings:
        yield Line()
        yield title("Last times")
        rows = [
            (
                times.told(one.period, schedule.zone),
                one.came.value if one.by is None else f"{one.came}, asked for by {one.by}",
                short(one.task_id or ""),
            )
            for one in view.firings
        ]
        yield Table(("PERIOD", "CAME", "TASK"), rows, indent=2)


def _made(schedule: Schedule) -> str:
    of = f" of {schedule.most}" if schedule.most else ""
    return f"{schedule.fired}{of} tasks by the rule"
