"""One shape for everything that goes wrong: `{"error": class, "message": …, "details": […]}`."""

import secrets
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import structlog
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents_manager.errors import (
    AgentsManagerError,
    InvalidInput,
    NotFound,
    NotReady,
    StoreUnavailable,
    TooManyRequests,
    Unauthenticated,
)
from agents_manager.meters import Times

log = structlog.get_logger()

METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})

HEADERS = {
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "worker-src 'self' blob:",
            "manifest-src 'self'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""On every answer. What agents wrote is shown by our pages: none of it may run, load or send
anything, and no other page may show or embed ours."""

MOST_FAULTS = 100
AWAY_S = 5
"""After how long it is worth asking a server again whose database was away."""
REQUEST_ID = "X-Request-Id"
UNEXPECTED = "Something went wrong inside Agents Manager; the server's log says what, under request"


class MethodNotAllowed(AgentsManagerError):
    """This address does not take that method."""

    http_status = 405


class UnsupportedMedia(AgentsManagerError):
    """The request has a form that this server does not read."""

    http_status = 415


class Edge:
    """The outermost layer: no error leaves in another shape, no page does more than it should."""

    def __init__(self, app: ASGIApp, times: Times | None = None) -> None:
        self._app = app
        self._times = times or Times()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":  # There is none: what is live are server-sent events.
            await send({"type": "websocket.close", "code": 1008})
            return
        started = False
        request, begun = secrets.token_hex(8), time.monotonic()
        method = scope["method"] if scope["method"] in METHODS else "other"

        async def leave(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("Cache-Control", "no-store")
                headers[REQUEST_ID] = request
                kind = f"{message['status'] // 100}xx"
                self._times.note(time.monotonic() - begun, method, kind)
            await send(message)

        asked = {"request": request, "method": scope["method"], "path": scope["path"]}
        with structlog.contextvars.bound_contextvars(**asked):
            try:
                await self._app(scope, receive, leave)
            except Exception as error:
                if not isinstance(error, AgentsManagerError):
                    log.exception("api.failed")
                    error = AgentsManagerError(f"{UNEXPECTED} {request}.")
                if not started:
                    await answer(error)(scope, receive, leave)


def answer(told: AgentsManagerError, headers: Mapping[str, str] | None = None) -> JSONResponse:
    say = log.warning if told.http_status >= 500 else log.info
    say("api.refused", status=told.http_status, error=type(told).__name__, message=told.message)
    body = {
        "error": type(told).__name__,
        "message": told.message,
        "details": list(told.details),
    }
    if isinstance(told, Unauthenticated):
        headers = {"WWW-Authenticate": "Bearer"}
    if isinstance(told, TooManyRequests):
        headers = {"Retry-After": "1"}
    if isinstance(told, StoreUnavailable | NotReady):
        headers = {"Retry-After": str(AWAY_S)}
    return JSONResponse(body, told.http_status, headers)


async def _ours(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, AgentsManagerError)
    return answer(error)


async def _wrong_form(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    faults = [f"{_place(fault['loc'])}: {_what(fault)}" for fault in found[:MOST_FAULTS]]
    if len(found) > MOST_FAULTS:
        faults.append(f"and {len(found) - MOST_FAULTS} more")
    return answer(InvalidInput("The request does not have the right form.", faults))


async def _wrong_address(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    asked = f"{request.method} {request.url.path}"
    known = "Every address is listed at /openapi.json."
    match error.status_code:
        case 404:
            return answer(NotFound(f"There is no {asked}. {known}"))
        case 405:
            allowed = (error.headers or {}).get("Allow", "")
            told = MethodNotAllowed(f"{asked} is not possible; this address takes {allowed}.")
            return answer(told, error.headers)
        case _:
            return answer(InvalidInput(f"{asked} cannot be read: {error.detail}."))


def _place(loc: tuple[int | str, ...]) -> str:
    """Where in the body, or which parameter; FastAPI puts the kind of place first."""
    return ".".join(str(part) for part in loc[1:]) or str(loc[0])


def _what(fault: Mapping[str, str]) -> str:
    return "there is no such field" if fault["type"] == "extra_forbidden" else fault["msg"]


Handler = Callable[[Request, Any], Coroutine[Any, Any, Response]]
HANDLERS: dict[int | type[Exception], Handler] = {
    AgentsManagerError: _ours,
    RequestValidationError: _wrong_form,
    HTTPException: _wrong_address,
}
