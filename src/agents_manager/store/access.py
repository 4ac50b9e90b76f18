"""Tokens by their digests, and the answers given under an idempotency key."""

from datetime import datetime

from sqlalchemy import bindparam, insert, select
from sqlalchemy.exc import IntegrityError

from agents_manager.errors import Conflict
from agents_manager.store import schema
from agents_manager.store.rows import violates
from agents_manager.store.statements import Session

_TOKEN = schema.token.c
_REPLY = schema.reply.c
_ADD_TOKEN = insert(schema.token)
_ROLE = select(_TOKEN.name, _TOKEN.role).where(_TOKEN.digest == bindparam("wanted"))
_ADD_REPLY = insert(schema.reply)
_GIVEN = select(_REPLY.request, _REPLY.status, _REPLY.body).where(_REPLY.key == bindparam("wanted"))


class Access:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add_token(self, digest: str, name: str, role: str, now: datetime) -> None:
        row = {"digest": digest, "name": name, "role": role, "created_at": now}
        self._session.run(_ADD_TOKEN, row)

    def role_of(self, digest: str) -> tuple[str, str] | None:
        return self._session.one(_ROLE, {"wanted": digest})

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
