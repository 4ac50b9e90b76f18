"""What people do about schedules. Making their tasks is in `firing`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from agents_manager.domain import recurrence
from agents_manager.domain.audit import Deed
from agents_manager.domain.names import visible
from agents_manager.domain.schedule import Firing, Schedule, ScheduleState, WhenOpen
from agents_manager.domain.strict_json import check_text
from agents_manager.domain.task import Actor, Project, Task
from agents_manager.errors import Conflict, InvalidInput, closest
from agents_manager.flow import audit, firing
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.tasks import NewTask

LONGEST_NAME = 100
PREVIEWED = 5
SHOWN_FIRINGS = 20
EDITABLE = ("name", "rule", "zone", "start", "when_open", "until", "most", "project", "task")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSchedule:
    name: str
    rule: str
    zone: str
    task: NewTask
    start: bool = False
    when_open: WhenOpen = WhenOpen.SKIP
    until: datetime | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class ScheduleView:
    schedule: Schedule
    next: Sequence[datetime]
    """The periods that come next, if nothing is changed."""
    firings: Sequence[Firing]
    """The newest first."""


async def add(s: Services, project: Project, new: NewSchedule, by: Actor) -> Schedule:
    """A schedule that begins with the next time of its rule."""
    now = s.clock.now()
    template = {name: getattr(new.task, name) for name in (*firing.WORDS, "pipeline")}
    schedule = Schedule(
        id=s.ids.new(),
        project_id=project.id,
        project=project.name,
        name=_name(new.name),
        rule=_rule(new.rule),
        zone=recurrence.zone_of(new.zone).key,
        template=await _template(s, project, template),
        start=new.start,
        when_open=new.when_open,
        state=ScheduleState.ACTIVE,
        reason=None,
        next_at=None,
        until=recurrence.to_come(new.until, now),
        most=_most(new.most),
        fired=0,
        last_task_id=None,
        created_by=by.name,
        created_at=now,
        updated_at=now,
    )

    def write(tx: Tx) -> Schedule:
        _refuse_same_name(tx, schedule)
        tx.schedules.add(schedule)
        _audit(tx, s, by, Deed.SCHEDULE_ADDED, "added", schedule, rule=schedule.rule)
        return _begun(firing.go_on(tx, s, schedule))

    return await s.store.write(write)


async def edit(s: Services, wanted: str, changes: Mapping[str, Any], by: Actor) -> Schedule:
    """Changes what is given; what it had already, it does not have again."""
    if not changes:
        raise InvalidInput("Nothing was given to change.", [", ".join(EDITABLE)])
    unknown = [name for name in changes if name not in EDITABLE]
    if unknown:
        raise InvalidInput(
            "The schedule cannot be changed like this.",
            [f"{n}: there is no such field.{closest(n, EDITABLE)}" for n in unknown],
        )
    before = await s.store.read(lambda tx: tx.schedules.find(wanted))
    kept = await _kept(s, before, changes)

    def write(tx: Tx) -> Schedule:
        schedule = tx.schedules.get(before.id)
        _refuse_same_name(tx, schedule, **kept)
        ended = {"state": ScheduleState.ACTIVE} if schedule.state is ScheduleState.ENDED else {}
        named = ", ".join(changes).replace("_", " ")
        _audit(tx, s, by, Deed.SCHEDULE_EDITED, f"changed {named} of", schedule)
        return _begun(firing.go_on(tx, s, schedule, **kept, **ended))

    return await s.store.write(write)


async def pause(s: Services, wanted: str, by: Actor) -> Schedule:
    """It has no period until it is resumed, and none of those is made up for."""

    def write(tx: Tx) -> Schedule:
        schedule = tx.schedules.find(wanted)
        if schedule.state is not ScheduleState.ACTIVE:
            raise Conflict(f'Schedule "{schedule.name}" is {schedule.state}; nothing is to pause.')
        _audit(tx, s, by, Deed.SCHEDULE_PAUSED, "paused", schedule)
        return firing.go_on(tx, s, schedule, state=ScheduleState.PAUSED)

    return await s.store.write(write)


async def resume(s: Services, wanted: str, by: Actor) -> Schedule:
    """Goes on with the next time of its rule, if such tasks can be made now."""
    before = await s.store.read(lambda tx: tx.schedules.find(wanted))
    if before.state in (ScheduleState.ACTIVE, ScheduleState.ENDED):
        raise Conflict(f'Schedule "{before.name}" is {before.state}; nothing is to resume.')
    await _settled(s, before)

    def write(tx: Tx) -> Schedule:
        schedule = tx.schedules.get(before.id)
        _audit(tx, s, by, Deed.SCHEDULE_RESUMED, "resumed", schedule)
        return firing.go_on(tx, s, schedule, state=ScheduleState.ACTIVE, reason=None)

    return await s.store.write(write)


async def remove(s: Services, wanted: str, by: Actor) -> Schedule:
    """Its tasks stay."""

    def write(tx: Tx) -> Schedule:
        schedule = tx.schedules.find(wanted)
        tx.schedules.remove(schedule.id)
        _audit(tx, s, by, Deed.SCHEDULE_REMOVED, "removed", schedule)
        return schedule

    return await s.store.write(write)


async def run_now(s: Services, wanted: str, by: Actor) -> Task:
    """Makes a task out of turn, which changes nothing about the periods to come."""
    schedule = await s.store.read(lambda tx: tx.schedules.find(wanted))
    what = await _settled(s, schedule)

    def write(tx: Tx) -> Task:
        found = tx.schedules.get(schedule.id)
        task = firing.make(tx, s, found, what, s.clock.now(), by.name)
        tx.schedules.update(found.id, s.clock.now(), last_task_id=task.id)
        _audit(tx, s, by, Deed.SCHEDULE_RUN, "ran", found, task=task.id)
        return task

    return await s.store.write(write)


def preview(rule: str, zone: str, now: datetime) -> list[datetime]:
    """The next times of a rule that begins now."""
    parsed, where = recurrence.parse(rule), recurrence.zone_of(zone)
    begun = now.astimezone(where).date()
    return list(islice(recurrence.fires(parsed, where, begun, now), PREVIEWED))


def view(tx: Tx, s: Services, wanted: str) -> ScheduleView:
    schedule = tx.schedules.find(wanted)
    return ScheduleView(
        schedule, upcoming(tx, s, schedule), tx.schedules.firings(schedule.id, SHOWN_FIRINGS)
    )


def upcoming(tx: Tx, s: Services, schedule: Schedule) -> list[datetime]:
    if schedule.state is not ScheduleState.ACTIVE:
        return []
    now = s.clock.now()
    had = tx.schedules.had(schedule.id, now)
    return list(islice((p for p in schedule.periods(now) if p not in had), PREVIEWED))


async def _kept(s: Services, before: Schedule, changes: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in changes.items() if name not in ("project", "task")}
    rules: Mapping[str, Callable[[Any], Any]] = {
        "name": _name,
        "rule": _rule,
        "zone": lambda zone: recurrence.zone_of(zone).key,
        "until": lambda until: recurrence.to_come(until, s.clock.now()),
        "most": _most,
    }
    kept |= {name: rule(kept[name]) for name, rule in rules.items() if name in kept}
    if "project" in changes or "task" in changes:
        named = str(changes.get("project", before.project_id))
        project = await s.store.read(lambda tx: tx.projects.find(named))
        words = changes.get("task", {})
        # A model belongs to its agent.
        forgotten = {"model": None} if "agent" in words else {}
        template = {**before.template, **forgotten, **words}
        kept["template"] = await _template(s, project, template)
        kept |= {"project_id": project.id, "project": project.name}
    return kept


async def _settled(s: Services, schedule: Schedule) -> firing.Settled:
    project = await s.store.read(lambda tx: tx.projects.get(schedule.project_id))
    return await firing.settled(s, project, schedule.template)


async def _template(s: Services, project: Project, template: Mapping[str, Any]) -> dict[str, Any]:
    """As it is kept, if such a task can be made now."""
    what = await firing.settled(s, project, template)
    return {**{n: what.words[n] for n in firing.WORDS}, "pipeline": template.get("pipeline")}


def _begun(schedule: Schedule) -> Schedule:
    if schedule.state is ScheduleState.ENDED:
        raise InvalidInput(
            f'Schedule "{schedule.name}" would have no time left: its end comes before the next'
            " time of its rule."
        )
    return schedule


def _refuse_same_name(tx: Tx, schedule: Schedule, **changed: Any) -> None:
    name = changed.get("name", schedule.name)
    of_project = changed.get("project_id", schedule.project_id)
    for other in tx.schedules.all(of_project):
        if other.name == name and other.id != schedule.id:
            raise Conflict(f'Project "{other.project}" has a schedule "{name}" already.')


def _audit(
    tx: Tx, s: Services, by: Actor, what: Deed, verb: str, schedule: Schedule, **more: Any
) -> None:
    summary = f'{verb} schedule "{schedule.name}" of project "{schedule.project}"'
    said = {"schedule": schedule.id, "project": schedule.project, **more}
    audit.note(tx, s.clock.now(), by, what, summary, **said)


def _name(text: str) -> str:
    name = " ".join(text.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InvalidInput(f"A schedule's name is a line of 1 to {LONGEST_NAME} characters.")
    return name


def _rule(text: str) -> str:
    try:
        check_text(text)
    except ValueError as error:
        raise InvalidInput(f"The rule cannot be read: {error}.") from None
    recurrence.parse(text)
    return visible(text, recurrence.LONGEST)


def _most(value: int | None) -> int | None:
    if value is not None and value < 1:
        raise InvalidInput("A schedule makes one task or more; leave the number out for no end.")
    return value
