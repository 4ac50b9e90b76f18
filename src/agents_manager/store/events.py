"""The append-only log. Ids order all events, sequence numbers those of one task without gaps."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import String, bindparam, func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from agents_manager.domain.event import Event, Logged
from agents_manager.domain.event.happening import Level
from agents_manager.domain.ids import RunId, TaskId
from agents_manager.domain.task import Actor
from agents_manager.errors import NotFound, TaskNotFound
from agents_manager.store import schema
from agents_manager.store.rows import Rows
from agents_manager.store.statements import Session


class run_in(FunctionElement[str]):
    """The run that the data of an event is about."""

    type = String()
    inherit_cache = True


@compiles(run_in, "sqlite")
def _(element: run_in, compiler: SQLCompiler, **kw: Any) -> str:
    data = compiler.process(element.clauses, **kw)
    return f"CASE WHEN json_valid({data}) THEN json_extract({data}, '$.run') END"


@compiles(run_in, "postgresql")
def _(element: run_in, compiler: SQLCompiler, **kw: Any) -> str:
    return f"({compiler.process(element.clauses, **kw)} ->> 'run')"


EVENTS = Rows(schema.event, Logged, NotFound, level=Level, actor=Actor.model_validate)
_EVENT = schema.event.c
_ADD = (
    insert(schema.event)
    .values(
        seq=select(func.coalesce(func.max(_EVENT.seq), 0) + 1)
        .where(_EVENT.task_id == bindparam("b_task"))
        .scalar_subquery()
    )
    .returning(_EVENT.id, _EVENT.seq)
)
_AFTER = EVENTS.select.where(_EVENT.id > bindparam("last")).limit(bindparam("most"))
_AFTER_ALL = _AFTER.order_by(_EVENT.id)
# A task's ids rise with its sequence numbers, and those have an index.
_AFTER_OF_TASK = _AFTER.where(_EVENT.task_id == bindparam("wanted")).order_by(_EVENT.seq)
_LAST = select(func.max(_EVENT.id))
_OF_TASK = (
    EVENTS.select.where(_EVENT.task_id == bindparam("wanted"), _EVENT.seq > bindparam("last"))
    .order_by(_EVENT.seq)
    .limit(bindparam("most"))
)
_NEWEST = (
    EVENTS.select.where(_EVENT.task_id == bindparam("wanted"), _EVENT.category == bindparam("kind"))
    .order_by(_EVENT.seq.desc())
    .limit(bindparam("most"))
)
_LAST_OF_TYPE = (
    EVENTS.select.where(_EVENT.task_id == bindparam("wanted"), _EVENT.type == bindparam("kind"))
    .order_by(_EVENT.seq.desc())
    .limit(1)
)
_LAST_OF_RUN = (
    EVENTS.select.where(
        _EVENT.task_id == bindparam("wanted"),
        _EVENT.category == bindparam("kind"),
        run_in(_EVENT.data) == bindparam("run"),
    )
    .order_by(_EVENT.seq.desc())
    .limit(1)
)


class Events:
    def __init__(self, session: Session, wrote: Callable[[], None]) -> None:
        self._session = session
        self._wrote = wrote

    def add(self, task_id: TaskId, event: Event, actor: Actor, now: datetime) -> Logged:
        fields: dict[str, Any] = {
            "task_id": task_id,
            "time": now,
            "category": event.category,
            "type": event.type,
            "level": event.level,
            "summary": event.sentence(),
            "actor": actor,
            "data": event.model_dump(mode="json", exclude={"type"}),
        }
        try:
            id, seq = self._session.one(_ADD, {"b_task": task_id, **fields})
        except IntegrityError as error:
            if "foreign key" not in str(error.orig).lower():
                raise
            raise TaskNotFound(f'There is no task "{task_id}".') from error
        self._wrote()
        return Logged(id=id, seq=seq, **fields)

    def after(self, event_id: int, *, task: TaskId | None, limit: int) -> list[Logged]:
        bounds = {"last": event_id, "most": limit}
        if task is None:
            return EVENTS.all(self._session, _AFTER_ALL, bounds)
        return EVENTS.all(self._session, _AFTER_OF_TASK, {**bounds, "wanted": task})

    def last_id(self) -> int:
        return self._session.scalar(_LAST) or 0

    def of_task(self, task_id: TaskId, *, after_seq: int, limit: int) -> list[Logged]:
        bounds = {"wanted": task_id, "last": after_seq, "most": limit}
        return EVENTS.all(self._session, _OF_TASK, bounds)

    def newest(self, task_id: TaskId, category: str, limit: int) -> list[Logged]:
        bounds = {"wanted": task_id, "kind": category, "most": limit}
        return EVENTS.all(self._session, _NEWEST, bounds)

    def last(self, task_id: TaskId, type: str) -> Logged | None:
        found = EVENTS.all(self._session, _LAST_OF_TYPE, {"wanted": task_id, "kind": type})
        return found[0] if found else None

    def last_of_run(self, task_id: TaskId, category: str, run_id: RunId) -> Logged | None:
        bounds = {"wanted": task_id, "kind": category, "run": run_id}
        found = EVENTS.all(self._session, _LAST_OF_RUN, bounds)
        return found[0] if found else None
