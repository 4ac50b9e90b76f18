"""Who gets in: requests for one of our own names, from our own pages, with a known token."""

from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from agents_manager.api import auth
from agents_manager.api.doors import Doors
from agents_manager.errors import NotAllowed, Unauthenticated, WrongHost
from agents_manager.flow.ports import Store

OPEN_PATHS = frozenset({"/healthz"})
HOW = 'Send the header "Authorization: Bearer TOKEN"'
WHERE = "the owner's token is in the file `token` of the data directory"


class Addresses:
    """A page elsewhere can make a browser send requests here, under a name of its own (DNS
    rebinding) or under ours; both are told apart by headers that a page cannot choose."""

    def __init__(self, app: ASGIApp, doors: Doors) -> None:
        self._app = app
        self._hosts = doors.hosts
        self._origins = doors.origins
        self._address = doors.address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host.lower() not in self._hosts:
            raise WrongHost(f'This server is not "{host[:100]}"; use {self._address}.')
        for origin in headers.getlist("origin"):
            if origin.lower() not in self._origins:
                raise NotAllowed(f'Pages of "{origin[:100]}" may not use this server.')
        await self._app(scope, receive, send)


class Based:
    """A proxy may show this server in a folder, and pass that on or not."""

    def __init__(self, app: ASGIApp, base: str) -> None:
        self._app = app
        self._base = base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path == self._base or path.startswith(f"{self._base}/"):
            scope["path"] = path[len(self._base) :] or "/"
        await self._app(scope, receive, send)


class Mounted:
    """Addresses that other parts of the program answer, each behind a lock of its own."""

    def __init__(self, app: ASGIApp, parts: Mapping[str, ASGIApp]) -> None:
        self._app = app
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = "/" + scope["path"].lstrip("/").partition("/")[0]
        await self._parts.get(head, self._app)(scope, receive, send)


class Tokens:
    """Closed by default: an address is open only if it is listed here."""

    def __init__(self, app: ASGIApp, store: Store) -> None:
        self._app = app
        self._store = store

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] not in OPEN_PATHS:
            kind, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
            if kind.lower() != "bearer" or not token:
                raise Unauthenticated(f"{HOW}; {WHERE}.")
            digest = auth.digest_of(token.strip())
            actor = await auth.actor_of(self._store, digest)
            if actor is None:
                raise Unauthenticated(f"This token is not known; {WHERE}.")
            scope.setdefault("state", {}).update(actor=actor, token=digest)
        await self._app(scope, receive, send)
