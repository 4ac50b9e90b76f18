"""The record of decisions: rows are added and read, and the database refuses anything else."""

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, func, insert, select

from agents_manager.domain.audit import Entry
from agents_manager.errors import NotFound
from agents_manager.store import schema
from agents_manager.store.columns import UtcTime
from agents_manager.store.rows import Rows
from agents_manager.store.statements import Session

ENTRIES = Rows(schema.audit, Entry, NotFound)
_ENTRY = schema.audit.c
_SINCE = _ENTRY.time >= bindparam("since", type_=UtcTime())
_ADD = insert(schema.audit)
_COUNT = select(func.count()).where(_ENTRY.what == bindparam("deed"), _SINCE)


@cache
def _page(*, since: bool, who: bool, what: bool, area: bool, before: bool) -> Select[Any]:
    chosen = (
        (since, _SINCE),
        (who, _ENTRY.who == bindparam("by")),
        (what, _ENTRY.what == bindparam("deed")),
        (area, _ENTRY.what.startswith(bindparam("deeds"))),
        (before, _ENTRY.id < bindparam("last")),
    )
    wanted = ENTRIES.select.where(*(part for given, part in chosen if given))
    return wanted.order_by(_ENTRY.id.desc()).limit(bindparam("most"))


class Audit:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, **fields: Any) -> None:
        self._session.run(_ADD, fields)

    def count(self, what: str, since: datetime) -> int:
        return self._session.scalar(_COUNT, {"deed": what, "since": since})

    def page(
        self,
        *,
        since: datetime | None,
        who: str | None,
        what: str | None,
        before: int | None,
        limit: int,
    ) -> list[Entry]:
        area = what if what and "." not in what else None
        given = {
            "since": since,
            "by": who,
            "deed": None if area else what,
            "deeds": area and f"{area}.",
            "last": before,
        }
        params = {name: value for name, value in given.items() if value is not None}
        statement = _page(
            since=since is not None,
            who=who is not None,
            what="deed" in params,
            area=area is not None,
            before=before is not None,
        )
        return ENTRIES.all(self._session, statement, {**params, "most": limit})
