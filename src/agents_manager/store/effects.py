"""Effects, the work items: which are due, and whose turn it is within a task."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BindParameter,
    bindparam,
    case,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from agents_manager.domain.effects import OUT_OF_LINE
from agents_manager.domain.fields import PRIORITIES
from agents_manager.domain.ids import EffectId, HistoryId, TaskId
from agents_manager.domain.task import OPEN_EFFECTS, EffectRow
from agents_manager.errors import NotFound
from agents_manager.store import schema
from agents_manager.store.rows import Rows
from agents_manager.store.statements import Session

EFFECTS = Rows(schema.effect, EffectRow, NotFound)
_EFFECT = schema.effect.c
_ADD = insert(schema.effect).values(
    seq=select(func.coalesce(func.max(_EFFECT.seq), 0) + 1)
    .where(_EFFECT.task_id == bindparam("b_task"))
    .scalar_subquery()
)
# Written into the statement, as SQLite looks for the index of open effects before it has values.
_OPEN_STATUS: BindParameter[Any] = bindparam(
    "open", list(OPEN_EFFECTS), expanding=True, literal_execute=True
)
_EARLIER = schema.effect.alias("earlier")
_KEEPS_LINE = _EARLIER.c.kind.not_in(sorted(OUT_OF_LINE))
# Parts of the work do not wait for each other.
_SAME_PART = or_(_EFFECT.part == "", _EARLIER.c.part == "", _EARLIER.c.part == _EFFECT.part)
_BLOCKED = exists().where(
    _EARLIER.c.task_id == _EFFECT.task_id,
    _EARLIER.c.seq < _EFFECT.seq,
    _EARLIER.c.status.in_(_OPEN_STATUS),
    _KEEPS_LINE,
    _SAME_PART,
)
# Agents may have to wait for a place, so nothing else must stand behind them.
_STARTS = case((_EFFECT.kind == "start_agent", 1), else_=0)
_URGENCY = (
    select(case({name: n for n, name in enumerate(PRIORITIES)}, value=schema.task.c.priority))
    .where(schema.task.c.id == _EFFECT.task_id)
    .scalar_subquery()
)
# Also where a clock was put back since, which would make it wait for as long.
_AT_ONCE = _EFFECT.due_at <= _EFFECT.created_at
_DUE = (
    EFFECTS.select.where(
        _EFFECT.status == "pending",
        or_(_EFFECT.due_at <= bindparam("now"), _AT_ONCE),
        or_(_EFFECT.kind.in_(sorted(OUT_OF_LINE)), ~_BLOCKED),
    )
    .order_by(
        _STARTS,
        case((_STARTS == 1, _URGENCY), else_=0).desc(),
        _EFFECT.due_at,
        _EFFECT.task_id,
        _EFFECT.seq,
    )
    .limit(bindparam("most"))
)
_OPEN = EFFECTS.select.where(_EFFECT.status.in_(_OPEN_STATUS))
_ALL_OPEN = _OPEN.order_by(_EFFECT.created_at, _EFFECT.task_id, _EFFECT.seq)
_OPEN_OF_TASK = _OPEN.where(_EFFECT.task_id == bindparam("wanted")).order_by(_EFFECT.seq)
_FAILED_OF_TASK = EFFECTS.select.where(
    _EFFECT.status == "failed", _EFFECT.task_id == bindparam("wanted")
).order_by(_EFFECT.seq)
_STARTED = EFFECTS.select.where(_EFFECT.status == "started").order_by(
    _EFFECT.created_at, _EFFECT.task_id, _EFFECT.seq
)
_NEXT_DUE = select(func.min(_EFFECT.due_at)).where(
    _EFFECT.status == "pending", _EFFECT.due_at > bindparam("after")
)
_CANCEL_REST = (
    update(schema.effect)
    .where(
        _EFFECT.history_id == bindparam("b_history"),
        _EFFECT.position > bindparam("b_after"),
        _EFFECT.status == "pending",
    )
    .values(status="cancelled")
)


class Effects:
    def __init__(self, session: Session, wrote: Callable[[], None]) -> None:
        self._session = session
        self._wrote = wrote

    def add(self, effect: EffectRow) -> None:
        self._session.run(_ADD, {"b_task": effect.task_id, **EFFECTS.fields(effect)})
        self._wrote()

    def get(self, effect_id: EffectId) -> EffectRow:
        return EFFECTS.get(self._session, effect_id)

    def due(self, now: datetime, limit: int) -> list[EffectRow]:
        return EFFECTS.all(self._session, _DUE, {"now": now, "most": limit})

    def open(self, task_id: TaskId | None = None) -> list[EffectRow]:
        if task_id is None:
            return EFFECTS.all(self._session, _ALL_OPEN)
        return EFFECTS.all(self._session, _OPEN_OF_TASK, {"wanted": task_id})

    def failed(self, task_id: TaskId) -> list[EffectRow]:
        return EFFECTS.all(self._session, _FAILED_OF_TASK, {"wanted": task_id})

    def next_due(self, after: datetime) -> datetime | None:
        return self._session.scalar(_NEXT_DUE, {"after": after})

    def started(self) -> list[EffectRow]:
        return EFFECTS.all(self._session, _STARTED)

    def update(self, effect_id: EffectId, **fields: Any) -> None:
        EFFECTS.update(self._session, effect_id, fields)
        self._wrote()

    def cancel_rest(self, history_id: HistoryId, after: int, now: datetime) -> None:
        self._session.run(
            _CANCEL_REST, {"b_history": history_id, "b_after": after, "finished_at": now}
        )
        self._wrote()
