"""The machines that perform effects, and when each was last seen."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import bindparam, insert, select, update

from agents_manager.domain.host import Host, HostState
from agents_manager.errors import NotFound
from agents_manager.store import schema
from agents_manager.store.rows import Rows
from agents_manager.store.statements import Session

HOSTS = Rows(schema.host, Host, NotFound, state=HostState)
_HOST = schema.host.c
_ADD = insert(schema.host)
_SEEN = update(schema.host).where(_HOST.id == bindparam("b_id"))
_BY_NAME = HOSTS.select.order_by(_HOST.name, _HOST.id)
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

    def all(self) -> list[Host]:
        return HOSTS.all(self._session, _BY_NAME)
