"""Tokens by their digests, and the answers given under an idempotency key."""

from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select
from sqlalchemy.exc import IntegrityError

from agents_manager.errors import Conflict
from agents_manager.store import schema
from agents_manager.store.rows import violates

_TOKEN = schema.token.c
_REPLY = schema.reply.c
_ADD_TOKEN = insert(schema.token)
_ROLE = select(_TOKEN.name, _TOKEN.role).where(_TOKEN.digest == bindparam("wanted"))
_ADD_REPLY = insert(schema.reply)
_GIVEN = select(_REPLY.request, _REPLY.status, _REPLY.body).where(_REPLY.key == bindparam("wanted"))


class Access:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add_token(self, digest: str, name: str, role: str, now: datetime) -> None:
        row = {"digest": digest, "name": name, "role": role, "created_at": now}
        self._connection.execute(_ADD_TOKEN, row)

    def role_of(self, digest: str) -> tuple[str, str] | None:
        row = self._connection.execute(_ROLE, {"wanted": digest}).first()
        return None if row is None else (row.name, row.role)

    def reply(self, key: str) -> tuple[str, int, str] | None:
        row = self._connection.execute(_GIVEN, {"wanted": key}).first()
        return None if row is None else (row.request, row.status, row.body)

    def keep_reply(self, key: str, request: str, status: int, body: str, now: datetime) -> None:
        row = {"key": key, "request": request, "status": status, "body": body, "created_at": now}
        try:
            self._connection.execute(_ADD_REPLY, row)
        except IntegrityError as error:
            if not violates(error, "pk_am_reply", "am_reply.key"):
                raise
            raise Conflict(
                "Another request was answered under this Idempotency-Key in the meantime; "
                "send it again to get that answer."
            ) from error
