"""The machines that perform effects, and when each was last seen."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import bindparam, insert, select, update

from agents_manager.store import schema
from agents_manager.store.statements import Session

_HOST = schema.host.c
_ADD = insert(schema.host)
_SEEN = update(schema.host).where(_HOST.id == bindparam("b_id"))
_ALL = select(_HOST.id, _HOST.seen_at)


class Hosts:
    def __init__(self, session: Session) -> None:
        self._session = session

    def beat(self, host: str, now: datetime) -> None:
        if self._session.run(_SEEN, {"b_id": host, "seen_at": now}) == 0:
            self._session.run(_ADD, {"id": host, "seen_at": now})

    def seen(self) -> Mapping[str, datetime]:
        rows = self._session.all(_ALL, {})
        return {row[0]: row[1] for row in rows}
