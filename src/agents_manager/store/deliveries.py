"""What is told by channels, how far the log was read for it, and who is not known there."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, bindparam, delete, func, insert, literal_column, or_, select, update

from agents_manager.domain.delivery import Delivery, DeliveryState, Stranger
from agents_manager.domain.prompt import PromptStatus
from agents_manager.domain.routing import Occasion
from agents_manager.errors import NotFound
from agents_manager.store import schema
from agents_manager.store.columns import UtcTime
from agents_manager.store.rows import Rows
from agents_manager.store.statements import Row, Session

DELIVERIES = Rows(
    schema.delivery,
    Delivery,
    NotFound,
    occasion=Occasion,
    state=DeliveryState,
    body=tuple,
    given=tuple,
    actions=tuple,
)
_D, _P = schema.delivery.c, schema.prompt.c
_OF_CHANNEL = DELIVERIES.select.where(_D.channel == bindparam("of_channel"))
_FIND = DELIVERIES.select.where(_D.id == bindparam("wanted"))
_SAME = select(_D.id).where(
    _D.key == bindparam("of_key"),
    _D.channel == bindparam("of_channel"),
    _D.place == bindparam("of_place"),
)
_BY_MESSAGE = _OF_CHANNEL.where(
    _D.place == bindparam("of_place"), _D.message == bindparam("of_message")
)
_NOW = bindparam("now", type_=UtcTime())
_MOST = bindparam("most", type_=Integer())
_DUE = (
    _OF_CHANNEL.where(
        _D.state == DeliveryState.PENDING,
        # What was to be told at once is, also where a clock was put back since.
        or_(_D.due_at <= _NOW, _D.due_at <= _D.created_at),
    )
    .order_by(_D.due_at, _D.created_at, _D.id)
    .limit(_MOST)
)
_SENDING = _OF_CHANNEL.where(_D.state == DeliveryState.SENDING).order_by(_D.created_at, _D.id)
# Written into the statement, as SQLite looks for a partial index before it has values.
_SHOWN = _D.state == literal_column(f"'{DeliveryState.SENT}'")
_SPENT = (
    DELIVERIES.select.outerjoin(schema.prompt, _P.id == _D.prompt_id)
    .where(
        _SHOWN,
        _D.closed_at.is_(None),
        _D.channel == bindparam("of_channel"),
        _D.due_at <= _NOW,
        or_(_P.id.is_(None), _P.status != PromptStatus.PENDING),
    )
    .order_by(_D.due_at, _D.created_at, _D.id)
    .limit(_MOST)
)
_LATEST = _OF_CHANNEL.order_by(_D.created_at.desc(), _D.id.desc()).limit(_MOST)
_COUNTS = (
    select(_D.state, func.count()).where(_D.channel == bindparam("of_channel")).group_by(_D.state)
)
_IS_OVER = (
    _D.created_at < bindparam("before", type_=UtcTime()),
    or_(_D.state.in_((DeliveryState.FAILED, DeliveryState.VOID)), _D.closed_at.is_not(None)),
)
_OVER = select(func.count()).select_from(schema.delivery).where(*_IS_OVER)
_REMOVE = delete(schema.delivery).where(_D.id.in_(select(_D.id).where(*_IS_OVER).limit(_MOST)))
_POSITION = select(schema.cursor.c.position).where(schema.cursor.c.name == bindparam("wanted"))
_MOVE = update(schema.cursor).where(schema.cursor.c.name == bindparam("wanted"))
_BEGIN = insert(schema.cursor)
_LEASE = schema.lease.c
_HELD = update(schema.lease).where(
    _LEASE.name == bindparam("wanted"),
    or_(_LEASE.host == bindparam("mine"), _LEASE.until <= _NOW),
)
_LEASED = select(_LEASE.host).where(_LEASE.name == bindparam("wanted"))
_FIRST_LEASE = insert(schema.lease)
_W = schema.words_asked.c
_WHOSE = (
    _W.channel == bindparam("of_channel"),
    _W.place == bindparam("of_place"),
    _W.person == bindparam("of_person"),
)
_ASKED = select(_W.button, _W.asked_at).where(*_WHOSE)
_ASK = insert(schema.words_asked)
_GIVEN = delete(schema.words_asked).where(*_WHOSE)
_S = schema.stranger.c
_OF_STRANGER = (_S.channel == bindparam("of_channel"), _S.person == bindparam("of_person"))
_SEEN = update(schema.stranger).where(*_OF_STRANGER).values(times=_S.times + 1)
_NEW = insert(schema.stranger)
_STRANGERS = (
    select(_S.channel, _S.person, _S.called, _S.times, _S.last_at)
    .where(_S.channel == bindparam("of_channel"))
    .order_by(_S.last_at.desc(), _S.person)
    .limit(_MOST)
)
_FORGET = delete(schema.stranger).where(*_OF_STRANGER)

MOST_STRANGERS = 100
"""Of a channel: anybody can write to it, and nobody else fills the database."""


class Deliveries:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, delivery: Delivery) -> bool:
        same = {
            "of_key": delivery.key,
            "of_channel": delivery.channel,
            "of_place": delivery.place,
        }
        if self._session.scalar(_SAME, same) is not None:
            return False
        DELIVERIES.add(self._session, delivery)
        return True

    def find(self, delivery_id: str) -> Delivery | None:
        return DELIVERIES.first(self._session, _FIND, {"wanted": delivery_id})

    def by_message(self, channel: str, place: str, message: str) -> Delivery | None:
        wanted = {"of_channel": channel, "of_place": place, "of_message": message}
        return DELIVERIES.first(self._session, _BY_MESSAGE, wanted)

    def due(self, channel: str, now: datetime, limit: int) -> list[Delivery]:
        wanted = {"of_channel": channel, "now": now, "most": limit}
        return DELIVERIES.all(self._session, _DUE, wanted)

    def sending(self, channel: str) -> list[Delivery]:
        return DELIVERIES.all(self._session, _SENDING, {"of_channel": channel})

    def spent(self, channel: str, now: datetime, limit: int) -> list[Delivery]:
        wanted = {"of_channel": channel, "now": now, "most": limit}
        return DELIVERIES.all(self._session, _SPENT, wanted)

    def latest(self, channel: str, limit: int) -> list[Delivery]:
        return DELIVERIES.all(self._session, _LATEST, {"of_channel": channel, "most": limit})

    def counts(self, channel: str) -> Mapping[str, int]:
        return dict(self._session.all(_COUNTS, {"of_channel": channel}))

    def update(self, delivery_id: str, **fields: Any) -> None:
        DELIVERIES.update(self._session, delivery_id, fields)

    def over(self, before: datetime) -> int:
        return self._session.scalar(_OVER, {"before": before})

    def remove(self, before: datetime, limit: int) -> int:
        return self._session.run(_REMOVE, {"before": before, "most": limit})

    def position(self, name: str) -> int | None:
        return self._session.scalar(_POSITION, {"wanted": name})

    def move_to(self, name: str, position: int) -> None:
        if self._session.run(_MOVE, {"wanted": name, "position": position}) == 0:
            self._session.run(_BEGIN, {"name": name, "position": position})

    def lease(self, name: str, host: str, now: datetime, until: datetime) -> bool:
        held = {"wanted": name, "mine": host, "now": now, "host": host, "until": until}
        if self._session.run(_HELD, held):
            return True
        if self._session.scalar(_LEASED, {"wanted": name}) is not None:
            return False
        self._session.run(_FIRST_LEASE, {"name": name, "host": host, "until": until})
        return True

    def ask_words(self, channel: str, place: str, person: str, button: str, now: datetime) -> None:
        self.words_given(channel, place, person)
        whose = {"channel": channel, "place": place, "person": person}
        self._session.run(_ASK, {**whose, "button": button, "asked_at": now})

    def words_asked(self, channel: str, place: str, person: str) -> tuple[str, datetime] | None:
        whose = {"of_channel": channel, "of_place": place, "of_person": person}
        return self._session.one(_ASKED, whose)

    def words_given(self, channel: str, place: str, person: str) -> None:
        whose = {"of_channel": channel, "of_place": place, "of_person": person}
        self._session.run(_GIVEN, whose)

    def stranger(self, channel: str, person: str, called: str, now: datetime) -> None:
        who = {"of_channel": channel, "of_person": person}
        if self._session.run(_SEEN, {**who, "called": called, "last_at": now}):
            return
        known = self._session.all(_STRANGERS, {"of_channel": channel, "most": MOST_STRANGERS})
        if len(known) >= MOST_STRANGERS:
            self.forget_stranger(channel, known[-1][1])
        new = {"channel": channel, "person": person, "called": called}
        self._session.run(_NEW, {**new, "times": 1, "last_at": now})

    def strangers(self, channel: str) -> list[Stranger]:
        wanted = {"of_channel": channel, "most": MOST_STRANGERS}
        return [_stranger(row) for row in self._session.all(_STRANGERS, wanted)]

    def forget_stranger(self, channel: str, person: str) -> None:
        self._session.run(_FORGET, {"of_channel": channel, "of_person": person})


def _stranger(row: Row) -> Stranger:
    channel, person, called, times, last_at = row
    return Stranger(channel=channel, person=person, called=called, times=times, last_at=last_at)
