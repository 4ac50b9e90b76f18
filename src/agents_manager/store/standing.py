"""How much there is of everything, for those who look after the program."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import SelectBase, bindparam, func, select

from agents_manager.domain.prompt import PromptStatus
from agents_manager.store import board, schema
from agents_manager.store.columns import UtcTime
from agents_manager.store.statements import Session

_RUN, _EFFECT = schema.run.c, schema.effect.c
_PROMPT, _DELIVERY = schema.prompt.c, schema.delivery.c
_RUNS = select(_RUN.status, func.count()).group_by(_RUN.status).order_by(_RUN.status)
# Over the index of figures, as the rows of runs are long.
_COST = select(func.count(), func.count(_RUN.cost_usd), func.sum(_RUN.cost_usd)).where(
    _RUN.started_at.is_not(None), _RUN.ended_at.is_not(None)
)
_UNDONE = _EFFECT.status.in_(["pending", "started", "failed"])
_EFFECTS = (
    select(_EFFECT.kind, _EFFECT.status, func.count())
    .where(_UNDONE)
    .group_by(_EFFECT.kind, _EFFECT.status)
    .order_by(_EFFECT.kind, _EFFECT.status)
)
_DUE_SINCE = select(func.min(_EFFECT.due_at)).where(
    _EFFECT.status == "pending", _EFFECT.due_at <= bindparam("now", type_=UtcTime())
)
_ASKED = _PROMPT.status == PromptStatus.PENDING
_PROMPTS = (
    select(_PROMPT.type, func.count()).where(_ASKED).group_by(_PROMPT.type).order_by(_PROMPT.type)
)
_ASKED_SINCE = select(func.min(_PROMPT.created_at)).where(_ASKED)
_DELIVERIES = (
    select(_DELIVERY.channel, _DELIVERY.state, func.count())
    .group_by(_DELIVERY.channel, _DELIVERY.state)
    .order_by(_DELIVERY.channel, _DELIVERY.state)
)


class Standing:
    def __init__(self, session: Session) -> None:
        self._session = session

    def tasks(self) -> Mapping[tuple[str, int, str], int]:
        return self._counted(board.counted(project=False))

    def runs(self) -> Mapping[tuple[str], int]:
        return self._counted(_RUNS)

    def cost(self) -> tuple[int, int, float]:
        ended, known, usd = self._session.one(_COST)
        return ended, ended - known, usd or 0.0

    def effects(self) -> Mapping[tuple[str, str], int]:
        return self._counted(_EFFECTS)

    def due_since(self, now: datetime) -> datetime | None:
        return self._session.scalar(_DUE_SINCE, {"now": now})

    def prompts(self) -> Mapping[tuple[str], int]:
        return self._counted(_PROMPTS)

    def asked_since(self) -> datetime | None:
        return self._session.scalar(_ASKED_SINCE)

    def deliveries(self) -> Mapping[tuple[str, str], int]:
        return self._counted(_DELIVERIES)

    def _counted(self, statement: SelectBase) -> dict[Any, int]:
        return {tuple(row[:-1]): row[-1] for row in self._session.all(statement)}
