"""Sent twice, done once: a write under an Idempotency-Key is answered again, not repeated."""

import asyncio
import hashlib
import re
from weakref import WeakValueDictionary

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents_manager.api.bodies import WRITES
from agents_manager.api.gate import OPEN_PATHS
from agents_manager.errors import IdempotencyMismatch, InvalidInput
from agents_manager.flow.ports import Clock, Store

HEADER = "Idempotency-Key"
UNKEPT = OPEN_PATHS | {"/api/v1/tokens", "/api/v1/login-links"}
"""Where a key changes nothing: their answers hold secrets, which are told once and kept nowhere, or
nobody is known to have asked."""
REPLAYED = "Idempotency-Replayed"
_KEY = re.compile(r"[\x21-\x7e]{1,200}")


class Replies:
    def __init__(self, app: ASGIApp, store: Store, clock: Clock) -> None:
        self._app = app
        self._store = store
        self._clock = clock
        # The second of two requests under one key waits for the answer to the first.
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        keyed = scope["method"] in WRITES and scope["path"] not in UNKEPT
        key = _key(Headers(scope=scope)) if keyed else None
        if key is None:
            await self._app(scope, receive, send)
            return
        request = _fingerprint(scope)
        # With the fingerprint, so that the flow takes the same answer twice but no other one.
        scope["state"]["answer_key"] = f"{key} {request}"
        turn = self._turns.setdefault(key, asyncio.Lock())
        async with turn:
            response = await self._given(key, request)
            if response is None:
                response = await self._now(key, request, scope, receive)
        await response(scope, receive, send)

    async def _given(self, key: str, request: str) -> Response | None:
        kept = await self._store.read(lambda tx: tx.access.reply(key))
        if kept is None:
            return None
        asked, status, body = kept
        if asked != request:
            raise IdempotencyMismatch(
                f'The Idempotency-Key "{key}" was used for another request; take a new one.'
            )
        return Response(body, status, {REPLAYED: "true"}, "application/json")

    async def _now(self, key: str, request: str, scope: Scope, receive: Receive) -> Response:
        caught = _Caught()
        await self._app(scope, receive, caught.send)
        response = caught.response()
        if _final(response.status_code):
            text, now = bytes(response.body).decode(), self._clock.now()
            await self._store.write(
                lambda tx: tx.access.keep_reply(key, request, response.status_code, text, now)
            )
        return response


class _Caught:
    """A response on its way out, held until its answer is kept."""

    def __init__(self) -> None:
        self._start: Message = {}
        self._body = bytearray()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
        else:
            self._body += message.get("body", b"")

    def response(self) -> Response:
        response = Response(bytes(self._body), self._start["status"])
        response.raw_headers = list(self._start["headers"])
        return response


def _final(status: int) -> bool:
    """What was refused for its form may be corrected, what failed on our side tried again; every
    other answer stands."""
    return status < 500 and status != InvalidInput.http_status


def _key(headers: Headers) -> str | None:
    given = headers.getlist(HEADER)
    if not given:
        return None
    if len(given) > 1 or not _KEY.fullmatch(given[0]):
        raise InvalidInput(f"{HEADER} is one text of 1 to 200 visible ASCII characters.")
    return given[0]


def _fingerprint(scope: Scope) -> str:
    state = scope["state"]
    parts = [
        state["token"].encode(),
        scope["method"].encode(),
        scope["path"].encode(),
        scope["query_string"],
        hashlib.sha256(state["body"]).hexdigest().encode(),
    ]
    return hashlib.sha256(b"\n".join(parts)).hexdigest()
