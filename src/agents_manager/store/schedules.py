"""Schedules, and the periods that they had."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, insert, select

from agents_manager.domain.fields import OPTIONAL
from agents_manager.domain.ids import ProjectId
from agents_manager.domain.schedule import Came, Firing, Schedule, ScheduleState, WhenOpen
from agents_manager.errors import ScheduleNotFound
from agents_manager.store import schema
from agents_manager.store.columns import UtcTime
from agents_manager.store.rows import Rows
from agents_manager.store.statements import Row, Session


def _template(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The words of the tasks; earlier versions wrote none that can be left out."""
    return {**dict.fromkeys(OPTIONAL), **stored}


SCHEDULES = Rows(
    schema.schedule,
    Schedule,
    ScheduleNotFound,
    template=_template,
    when_open=WhenOpen,
    state=ScheduleState,
)
_SCHEDULE = schema.schedule.c
_ALL = SCHEDULES.select.order_by(_SCHEDULE.project, _SCHEDULE.name, _SCHEDULE.id)
_OF_PROJECT = _ALL.where(_SCHEDULE.project_id == bindparam("wanted"))
_DUE = SCHEDULES.select.where(_SCHEDULE.next_at <= bindparam("now", type_=UtcTime())).order_by(
    _SCHEDULE.next_at, _SCHEDULE.id
)
_REMOVE = delete(schema.schedule).where(_SCHEDULE.id == bindparam("b_id"))

_FIRING = schema.firing.c
_NAMES = ("schedule_id", "period", "came", "task_id", "by", "time")
_ADD = insert(schema.firing)
_FIRINGS = (
    select(*(_FIRING[name] for name in _NAMES))
    .where(_FIRING.schedule_id == bindparam("wanted"))
    .order_by(_FIRING.period.desc())
    .limit(bindparam("most"))
)
_SINCE = select(_FIRING.period).where(
    _FIRING.schedule_id == bindparam("wanted"),
    _FIRING.period >= bindparam("since", type_=UtcTime()),
)


class Schedules:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, schedule: Schedule) -> None:
        SCHEDULES.add(self._session, schedule)

    def get(self, schedule_id: str) -> Schedule:
        return SCHEDULES.get(self._session, schedule_id)

    def find(self, id_or_name: str) -> Schedule:
        named = [one for one in self.all() if one.name == id_or_name]
        return named[0] if len(named) == 1 else SCHEDULES.find(self._session, id_or_name)

    def all(self, project_id: ProjectId | None = None) -> list[Schedule]:
        if project_id is None:
            return SCHEDULES.all(self._session, _ALL)
        return SCHEDULES.all(self._session, _OF_PROJECT, {"wanted": project_id})

    def due(self, now: datetime) -> list[Schedule]:
        return SCHEDULES.all(self._session, _DUE, {"now": now})

    def update(self, schedule_id: str, now: datetime, **fields: Any) -> None:
        SCHEDULES.update(self._session, schedule_id, {"updated_at": now, **fields})

    def remove(self, schedule_id: str) -> None:
        self._session.run(_REMOVE, {"b_id": schedule_id})

    def note(self, firing: Firing) -> None:
        self._session.run(_ADD, {name: getattr(firing, name) for name in _NAMES})

    def firings(self, schedule_id: str, limit: int) -> list[Firing]:
        wanted = {"wanted": schedule_id, "most": limit}
        return self._session.all(_FIRINGS, wanted, _firing)

    def had(self, schedule_id: str, since: datetime) -> set[datetime]:
        rows = self._session.all(_SINCE, {"wanted": schedule_id, "since": since})
        return {row[0] for row in rows}


def _firing(row: Row) -> Firing:
    schedule_id, period, came, task_id, by, time = row
    return Firing(
        schedule_id=schedule_id,
        period=period,
        came=Came(came),
        task_id=task_id,
        by=by,
        time=time,
    )
