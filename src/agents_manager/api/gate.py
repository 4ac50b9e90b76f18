"""Who gets in: requests for one of our own names, from our own pages, with a known token."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Receive, Scope, Send

from agents_manager.api.doors import Doors
from agents_manager.api.pace import Pace
from agents_manager.errors import NotAllowed, StoreError, Unauthenticated, WrongHost
from agents_manager.flow import access, audit
from agents_manager.flow.ports import Clock, Key, KeyKind, Store

WEBHOOK = "/api/v1/forges/github/webhook"
METRICS = "/metrics"
OPEN_PATHS = frozenset({"/healthz", "/readyz", "/auth/login", WEBHOOK})
PACED = frozenset({"/readyz", METRICS, WEBHOOK})
"""Open addresses that take some work to answer."""
LOOKING = frozenset(
    {
        *("/auth/logout", "/api/v1/push"),
        "/mcp",  # Its tools look at the role themselves.
        *("/api/v1/pipelines/lint", "/api/v1/pipelines/simulate"),
    }
)
"""What a viewer may send, too: nothing of it changes what others see."""
COOKIE = "am_session"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
HOW = 'Send the header "Authorization: Bearer TOKEN"'
WHERE = "the owner's token is in the file `token` of the data directory"


def peer(scope: Scope) -> str | None:
    """The machine that asks, or the proxy before us."""
    client = scope.get("client")
    return client[0] if client else None


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

    def __init__(
        self,
        app: ASGIApp,
        store: Store,
        clock: Clock,
        pace: Pace,
        open_metrics: Callable[[], bool],
    ) -> None:
        self._app = app
        self._store = store
        self._clock = clock
        self._pace = pace
        self._open_metrics = open_metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        is_open = path in OPEN_PATHS or (path == METRICS and self._open_metrics())
        if is_open and path in PACED:
            self._pace.take(path)
        if not is_open:
            headers = Headers(scope=scope)
            address = peer(scope)
            if "authorization" in headers:
                key = await self._by_token(headers["authorization"], address)
            else:
                key = await self._by_session(headers, scope["method"])
            self._pace.take(key.digest)
            self._check(key, scope)
            # A database that cannot be written does not keep anybody from reading.
            with suppress(StoreError):
                await access.note_use(self._store, self._clock, key)
            actor = access.actor_of(key, address)
            scope.setdefault("state", {}).update(actor=actor, token=key.digest, key=key)
        await self._app(scope, receive, send)

    def _check(self, key: Key, scope: Scope) -> None:
        looks = scope["method"] in SAFE or scope["path"] in LOOKING
        if key.role == access.VIEWER and not looks:
            raise NotAllowed(f"{key.name} may look and not change anything: the role is viewer.")

    async def _by_token(self, header: str, address: str | None) -> Key:
        kind, _, token = header.partition(" ")
        if kind.lower() != "bearer" or not token:
            raise Unauthenticated(f"{HOW}; {WHERE}.")
        key = await self._known(token.strip(), access.TOKENS)
        if key is None:
            with suppress(StoreError):
                await audit.refused_login(
                    self._store, self._clock.now(), access.somebody(address), "an unknown token"
                )
            raise Unauthenticated(f"This token is not known; {WHERE}.")
        return key

    async def _by_session(self, headers: Headers, method: str) -> Key:
        session = cookie_parser(headers.get("cookie", "")).get(COOKIE)
        if not session:
            raise Unauthenticated(f"{HOW}; {WHERE}.")
        key = await self._known(session, access.SESSIONS)
        if key is None:
            raise Unauthenticated("You are logged out; log in again.")
        # A browser sends the cookie whichever page asks. An Origin that is there is one of ours.
        ours = "origin" in headers or headers.get("sec-fetch-site") == "same-origin"
        if method not in SAFE and not ours:
            raise NotAllowed("A session changes something only from its own pages: send an Origin.")
        return key

    async def _known(self, secret: str, kinds: Collection[KeyKind]) -> Key | None:
        return await access.known(self._store, self._clock, access.digest_of(secret), kinds)
