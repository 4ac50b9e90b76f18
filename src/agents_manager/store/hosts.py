"""The machines that perform effects, and when each was last heard of by the database's clock."""

from datetime import UTC, datetime

from sqlalchemy import bindparam, func, insert, or_, select, update

from agents_manager.domain.host import DEAD_AFTER, Host, HostState, Joining, Term
from agents_manager.errors import HostNameTaken, HostNotFound
from agents_manager.store import schema
from agents_manager.store.columns import UtcTime
from agents_manager.store.rows import Rows
from agents_manager.store.statements import Session

HOSTS = Rows(schema.host, Host, HostNotFound, state=HostState)
_HOST = schema.host.c
_ADD = insert(schema.host)
_BY_NAME = HOSTS.select.order_by(_HOST.name, _HOST.id)
_BY_ID = HOSTS.select.where(_HOST.id == bindparam("wanted"))
_EPOCH = select(_HOST.epoch).where(_HOST.id == bindparam("wanted"))
_JOIN = update(schema.host).where(_HOST.id == bindparam("b_id"))
_BEAT = _JOIN.where(_HOST.epoch == bindparam("b_epoch"))
# Looked at again as it is written: a machine may have been heard of in between.
_BURY = _BEAT.where(or_(_HOST.seen_at <= bindparam("b_since"), _HOST.state == HostState.LEFT))
_NOW = select(func.clock_timestamp(type_=UtcTime()))


class Hosts:
    def __init__(self, session: Session) -> None:
        self._session = session

    def now(self) -> datetime:
        if not self._session.postgres:
            return datetime.now(UTC)
        return self._session.scalar(_NOW)

    def all(self) -> list[Host]:
        return HOSTS.all(self._session, _BY_NAME)

    def alive(self) -> dict[str, Host]:
        now = self.now()
        return {host.id: host for host in self.all() if host.alive(now)}

    def find(self, name_or_id: str) -> Host:
        """Of several that had a name one after the other, the one that was heard of last."""
        known = self.all()
        found = [h for h in known if h.id == name_or_id] or [
            h for h in known if h.name == name_or_id
        ]
        if not found:
            raise HOSTS.not_found(name_or_id)
        return max(found, key=lambda host: host.seen_at)

    def join(self, joining: Joining, state: HostState = HostState.UP) -> Host:
        now = self.now()
        for other in self.all():
            if other.id != joining.id and other.name == joining.name and other.alive(now):
                ago = round((now - other.seen_at).total_seconds())
                raise HostNameTaken(
                    f'Another machine is called "{joining.name}" ({other.id}, heard of {ago} s'
                    " ago). Give this one a name of its own, by --name or host.name in its"
                    f" config.json, or end the other: am host remove {other.id}"
                )
        known = HOSTS.first(self._session, _BY_ID, {"wanted": joining.id})
        told = {
            "name": joining.name,
            "version": joining.version,
            "labels": list(joining.labels),
            "capacity": joining.capacity,
            "state": state,
            "started_at": now,
            "seen_at": now,
            "epoch": known.epoch + 1 if known else 1,
        }
        if known is None:
            self._session.run(_ADD, {"id": joining.id, **told})
        else:
            self._session.run(_JOIN, {"b_id": joining.id, **told})
        return HOSTS.get(self._session, joining.id)

    def beat(self, term: Term, capacity: int, free_disk_mb: int | None) -> Host | None:
        told = {"seen_at": self.now(), "capacity": capacity, "free_disk_mb": free_disk_mb}
        mine = {"b_id": term.host, "b_epoch": term.epoch}
        if self._session.run(_BEAT, {**mine, **told}) == 0:
            return None
        return HOSTS.get(self._session, term.host)

    def holds(self, term: Term) -> bool:
        return self._session.scalar(_EPOCH, {"wanted": term.host}) == term.epoch

    def bury(self, host: Host) -> bool:
        since = self.now() - DEAD_AFTER
        which = {"b_id": host.id, "b_epoch": host.epoch, "b_since": since}
        return self._session.run(_BURY, {**which, "epoch": host.epoch + 1}) > 0

    def give_up(self, term: Term) -> bool:
        mine = {"b_id": term.host, "b_epoch": term.epoch}
        return self._session.run(_BEAT, {**mine, "epoch": term.epoch + 1}) > 0

    def set_state(self, host_id: str, state: HostState) -> Host:
        self._session.run(_JOIN, {"b_id": host_id, "state": state})
        return HOSTS.get(self._session, host_id)
