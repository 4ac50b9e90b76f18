"""Who gets in: tokens for programs, sessions for browsers, and codes that open a session once.

A secret is told once and kept by its digest alone. It is long and random, so a digest without salt
says nothing about it, and looking one up takes as long for a wrong one as for a right one.
"""

import hashlib
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents_manager.domain.audit import Deed
from agents_manager.domain.task import SYSTEM, Actor, ActorType
from agents_manager.errors import (
    Conflict,
    InvalidInput,
    NotAllowed,
    TokenNotFound,
    Unauthenticated,
)
from agents_manager.flow import audit
from agents_manager.flow.ports import Clock, Key, KeyKind, Services, Store, Tx

ADMIN = "admin"
VIEWER = "viewer"
TOKENS = frozenset({KeyKind.OWNER, KeyKind.TOKEN})
SESSIONS = frozenset({KeyKind.SESSION})
SESSION_LIFE = timedelta(days=30)
CODE_LIFE = timedelta(minutes=10)
USE_NOTED = timedelta(minutes=1)
"""How old the note of the last use may be before it is written again."""
SHORTEST_ID = 4
_ROLE = re.compile(r"[a-z][a-z0-9_-]{0,49}")
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Made:
    """A secret, told this once."""

    secret: str
    key: Key


@dataclass(frozen=True, slots=True)
class Code:
    code: str
    expires_at: datetime


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def actor_of(key: Key, address: str | None = None) -> Actor:
    via = "web" if key.kind is KeyKind.SESSION else "http"
    admin = key.role == ADMIN
    return Actor(
        type=ActorType.USER,
        name=key.name,
        via=via,
        admin=admin,
        role=key.role,
        address=address,
    )


def somebody(address: str | None, via: str = "http") -> Actor:
    """Who is not known, or not yet."""
    return Actor(type=ActorType.USER, name="somebody", via=via, address=address)


def check_may_change(actor: Actor) -> None:
    if actor.role == VIEWER:
        raise NotAllowed(f"{actor.name} may look and not change anything: the role is {VIEWER}.")


async def known(store: Store, clock: Clock, digest: str, kinds: Collection[KeyKind]) -> Key | None:
    key = await store.read(lambda tx: tx.access.find(digest))
    return key if key and key.kind in kinds and key.holds(clock.now()) else None


async def note_use(store: Store, clock: Clock, key: Key) -> None:
    now = clock.now()
    if key.used_at is None or now - key.used_at >= USE_NOTED:
        await store.write(lambda tx: tx.access.used(key.digest, now))


async def log_in(
    s: Services,
    *,
    token: str | None = None,
    code: str | None = None,
    address: str | None = None,
) -> Made | None:
    """A session of whoever has this token, or made this code; None for a wrong one."""
    now = s.clock.now()
    secret = secrets.token_urlsafe(32)

    def write(tx: Tx) -> Made | None:
        parent = digest_of(token) if token else tx.access.take_code(digest_of(code or ""), now)
        key = tx.access.find(parent) if parent else None
        if key is None or key.kind not in TOKENS:
            return None
        digest = digest_of(secret)
        tx.access.remove_expired(now)
        tx.access.add_token(
            *(digest, key.name, key.role, now),
            kind=KeyKind.SESSION,
            expires=now + SESSION_LIFE,
            parent=key.digest,
        )
        session = _get(tx, digest)
        how = "a token" if token else "a login link"
        said = {"session": session.id, "role": key.role}
        audit.note(tx, now, actor_of(session, address), Deed.LOGIN, f"logged in with {how}", **said)
        return Made(secret, session)

    made = await s.store.write(write)
    if made is None:
        how = "a token that is not known" if token else "a login link that does not work"
        await audit.refused_login(s.store, now, somebody(address, "web"), how)
    return made


async def log_out(s: Services, session: Key, by: Actor = SYSTEM) -> None:
    if session.kind is not KeyKind.SESSION:
        raise Conflict("You have not logged in: a token is revoked instead.")

    def write(tx: Tx) -> None:
        tx.access.remove(session.digest)
        audit.note(tx, s.clock.now(), by, Deed.LOGOUT, "logged out", session=session.id)

    await s.store.write(write)


async def take_notices(s: Services, session: Key, endpoint: str, point: str, secret: str) -> None:
    """The browser of a session is told what its person is, as long as the session holds."""
    if session.kind is not KeyKind.SESSION:
        raise Conflict("Only a browser that has logged in takes notices.")
    to = s.browsers().checked(endpoint, point, secret)
    await s.store.write(lambda tx: tx.access.subscribe(session.digest, to))


async def take_no_notices(s: Services, session: Key) -> None:
    await s.store.write(lambda tx: tx.access.subscribe(session.digest, None))


async def login_code(s: Services, key: Key, by: Actor = SYSTEM) -> Code:
    """For another session of the same person. It ends with the same token, not with the session in
    which it was made."""
    code, expires = secrets.token_urlsafe(16), s.clock.now() + CODE_LIFE
    parent = key.parent or key.digest

    def write(tx: Tx) -> None:
        if tx.access.find(key.digest) is None:
            raise Unauthenticated("This token was revoked.")
        tx.access.add_code(digest_of(code), parent, expires)
        summary = f"made a login link for {key.name}"
        audit.note(tx, s.clock.now(), by, Deed.LOGIN_LINK, summary, role=key.role)

    await s.store.write(write)
    return Code(code, expires)


async def tokens(s: Services) -> list[Key]:
    now = s.clock.now()
    return [key for key in await s.store.read(lambda tx: tx.access.all()) if key.holds(now)]


async def create(s: Services, name: str, role: str, by: Actor = SYSTEM) -> Made:
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise InvalidInput(f"A token's name is a line of 1 to {_LONGEST_NAME} characters.")
    if not _ROLE.fullmatch(role):
        raise InvalidInput(
            f'"{role[:50]}" is no role; write it in small letters, such as admin, member or viewer.'
        )
    secret, now = f"am_{secrets.token_urlsafe(32)}", s.clock.now()

    def write(tx: Tx) -> Key:
        tx.access.add_token(digest_of(secret), name.strip(), role, now)
        key = _get(tx, digest_of(secret))
        told_made(tx, now, by, key)
        return key

    return Made(secret, await s.store.write(write))


def told_made(tx: Tx, now: datetime, by: Actor, key: Key) -> None:
    summary = f"made a token for {key.name} with the role {key.role}"
    audit.note(tx, now, by, Deed.TOKEN_MADE, summary, token=key.id, role=key.role, kind=key.kind)


async def revoke(s: Services, id: str, by: Actor = SYSTEM) -> Key:
    """Also ends what was opened with it."""

    def write(tx: Tx) -> Key:
        wanted = id.lower()
        found = [key for key in tx.access.all() if key.id.startswith(wanted)]
        if len(found) != 1 or len(wanted) < SHORTEST_ID:
            raise TokenNotFound(f'There is no token "{id[:50]}"; "am token list" shows their ids.')
        key = found[0]
        tx.access.remove(key.digest)
        what = "a session" if key.kind is KeyKind.SESSION else "the token"
        summary = f"revoked {what} of {key.name}"
        said = {"token": key.id, "role": key.role, "kind": key.kind}
        audit.note(tx, s.clock.now(), by, Deed.TOKEN_REVOKED, summary, **said)
        return key

    return await s.store.write(write)


def _get(tx: Tx, digest: str) -> Key:
    key = tx.access.find(digest)
    assert key is not None
    return key
