"""Who asks, and how they came in."""

from datetime import datetime
from typing import Literal

from agents_manager.api import schemas


class Noticed(schemas.Out):
    pulls: int
    """How many open pull requests are looked at because of it."""


class Health(schemas.Out):
    status: Literal["ok"]


class ReadyPart(schemas.Out):
    name: str
    ok: bool
    says: str


class Readiness(schemas.Out):
    ready: bool
    parts: list[ReadyPart]


class Me(schemas.Out):
    name: str
    role: str
    via: str
    admin: bool
    version: str
    """Of the program."""
    expires_at: datetime | None
    last_event: int
    """The newest event there is; a stream after it tells all that happens from now on."""


class Push(schemas.Out):
    key: str
    """What a browser asks its push service with (`applicationServerKey`)."""
    on: bool
    """Whether this session's browser is sent notices."""


class AuditEntry(schemas.Out):
    id: int
    time: datetime
    who: str
    via: str | None
    """The door: cli, http or web; none for the program itself."""
    address: str | None
    """Of the machine that asked over HTTP, as the server saw it."""
    what: str
    summary: str
    data: schemas.Json


class Audit(schemas.Out):
    items: list[AuditEntry]
    next: str | None


class Tokens(schemas.Out):
    items: list[schemas.Token]


class TokenMade(schemas.Out):
    token: str
    about: schemas.Token


class LoginLink(schemas.Out):
    url: str
    code: str
    expires_at: datetime
    svg: str
    """The link as a QR code."""
