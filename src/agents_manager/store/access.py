"""Tokens, sessions and login codes by their digests, and the answers given under an idempotency
key."""

import dataclasses
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from agents_manager.errors import Conflict
from agents_manager.flow.ports import Key, KeyKind, Subscription
from agents_manager.store import schema
from agents_manager.store.columns import Unreadable
from agents_manager.store.rows import corrupt, violates
from agents_manager.store.statements import Row, Session

_TOKEN = schema.token.c
_CODE = schema.login_code.c
_REPLY = schema.reply.c
_FIELDS = [field.name for field in dataclasses.fields(Key)]
_ADD_TOKEN = insert(schema.token)
_KEYS = select(*(_TOKEN[name] for name in _FIELDS)).order_by(_TOKEN.created_at, _TOKEN.digest)
_KEY = _KEYS.where(_TOKEN.digest == bindparam("wanted"))
_USED = update(schema.token).where(_TOKEN.digest == bindparam("wanted"))
_REMOVE = delete(schema.token).where(
    or_(_TOKEN.digest == bindparam("wanted"), _TOKEN.parent == bindparam("wanted"))
)
_REMOVE_CODES = delete(schema.login_code).where(_CODE.parent == bindparam("wanted"))
_EXPIRED = delete(schema.token).where(_TOKEN.expires_at <= bindparam("now"))
_EXPIRED_CODES = delete(schema.login_code).where(_CODE.expires_at <= bindparam("now"))
_ADD_CODE = insert(schema.login_code)
_TAKE_CODE = (
    delete(schema.login_code)
    .where(_CODE.digest == bindparam("wanted"), _CODE.expires_at > bindparam("now"))
    .returning(_CODE.parent)
)
_SUBSCRIBE = update(schema.token).where(_TOKEN.digest == bindparam("wanted"))
_SUBSCRIBED = select(_TOKEN.digest, _TOKEN.push).where(
    _TOKEN.push.is_not(None), _TOKEN.expires_at > bindparam("now")
)
_ADD_REPLY = insert(schema.reply)
_GIVEN = select(_REPLY.request, _REPLY.status, _REPLY.body).where(_REPLY.key == bindparam("wanted"))


class Access:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add_token(
        self,
        digest: str,
        name: str,
        role: str,
        now: datetime,
        *,
        kind: KeyKind = KeyKind.TOKEN,
        expires: datetime | None = None,
        parent: str | None = None,
    ) -> None:
        row = {"digest": digest, "name": name, "role": role, "created_at": now, "kind": kind}
        self._session.run(_ADD_TOKEN, {**row, "expires_at": expires, "parent": parent})

    def find(self, digest: str) -> Key | None:
        return self._session.one(_KEY, {"wanted": digest}, _key)

    def all(self) -> list[Key]:
        return self._session.all(_KEYS, make=_key)

    def used(self, digest: str, now: datetime) -> None:
        self._session.run(_USED, {"wanted": digest, "used_at": now})

    def remove(self, digest: str) -> None:
        self._session.run(_REMOVE, {"wanted": digest})
        self._session.run(_REMOVE_CODES, {"wanted": digest})

    def remove_expired(self, now: datetime) -> None:
        self._session.run(_EXPIRED, {"now": now})
        self._session.run(_EXPIRED_CODES, {"now": now})

    def add_code(self, digest: str, parent: str, expires: datetime) -> None:
        self._session.run(_ADD_CODE, {"digest": digest, "parent": parent, "expires_at": expires})

    def take_code(self, digest: str, now: datetime) -> str | None:
        return self._session.scalar(_TAKE_CODE, {"wanted": digest, "now": now})

    def subscribe(self, digest: str, to: Subscription | None) -> None:
        told = to.model_dump() if to else None
        self._session.run(_SUBSCRIBE, {"wanted": digest, "push": told})

    def subscriptions(self, now: datetime) -> dict[str, Subscription]:
        rows = self._session.all(_SUBSCRIBED, {"now": now})
        return {digest: Subscription.model_validate(told) for digest, told in rows}

    def reply(self, key: str) -> tuple[str, int, str] | None:
        return self._session.one(_GIVEN, {"wanted": key})

    def keep_reply(self, key: str, request: str, status: int, body: str, now: datetime) -> None:
        row = {"key": key, "request": request, "status": status, "body": body, "created_at": now}
        try:
            self._session.run(_ADD_REPLY, row)
        except IntegrityError as error:
            if not violates(error, "pk_am_reply", "am_reply.key"):
                raise
            raise Conflict(
                "Another request was answered under this Idempotency-Key in the meantime; "
                "send it again to get that answer."
            ) from error


def _key(row: Row) -> Key:
    fields: dict[str, Any] = dict(zip(_FIELDS, row, strict=True))
    for name, value in fields.items():
        if isinstance(value, Unreadable):
            raise corrupt("am_token", fields["name"], name, value.reason)
    try:
        fields["kind"] = KeyKind(fields["kind"])
        return Key(**fields)
    except ValueError as error:
        raise corrupt("am_token", fields["name"], "kind", str(error)) from error
