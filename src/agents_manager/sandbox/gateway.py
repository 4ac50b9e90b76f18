"""The model gateway: asks a provider in the place of an agent, with the key that the agent is not
to know. Only what the agent needs goes through, and answers pass as they come."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

import httpx
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from agents_manager.domain import limit_headers
from agents_manager.errors import (
    AgentsManagerError,
    ExternalError,
    NotAllowed,
    NotFound,
    TooLarge,
    Unauthenticated,
)
from agents_manager.flow.ports import Services
from agents_manager.flow.runs import gateway
from agents_manager.flow.runs.gateway import RUNS, Caller
from agents_manager.sandbox.answers import Listener

FOLDER = "/model"
MAX_BYTES = 32 * 1024 * 1024
"""What Anthropic takes as one request."""
CONNECT_S = 30.0
"""A model may think for as long as it likes: the agent knows how long it waits for an answer."""
PATIENCE = timedelta(minutes=1)
"""How long an agent may wait for the end of a limit itself, and keep its place."""
HOPS = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer"),
        *("proxy-connection", "transfer-encoding", "upgrade", "expect"),
    }
)
"""Headers between two machines."""
NOT_SENT = HOPS | {
    *("host", "content-length", "accept-encoding", "cookie", "forwarded", "origin", "referer"),
    *("authorization", "x-api-key", "api-key"),
}
NOT_TOLD = HOPS | {"content-length", "content-encoding", "set-cookie", "www-authenticate"}


@dataclass(frozen=True, slots=True)
class Asked:
    caller: Caller
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


def app(services: Services) -> ASGIApp:
    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            asked = await _asked(services, Request(scope, receive))
        except ClientDisconnect:
            return
        failed: AgentsManagerError | None = None
        try:
            async with asyncio.TaskGroup() as group:
                answering = group.create_task(_answer(services, asked, send))
                listening = group.create_task(_hang_up(receive, answering))
                await asyncio.wait([answering])
                listening.cancel()
        except* AgentsManagerError as errors:
            failed = next(e for e in errors.exceptions if isinstance(e, AgentsManagerError))
        if failed is not None:
            raise failed

    return serve


async def _asked(s: Services, request: Request) -> Asked:
    """The request as the provider gets it, if it may."""
    if not request.url.path.startswith(RUNS):
        raise NotFound(
            f"There is no {request.url.path[:100]}; agents ask their model below {RUNS}."
        )
    run_id, _, path = request.url.path.removeprefix(RUNS).partition("/")
    caller = await gateway.enter(s, run_id, _key(request.headers))
    wanted, provider = f"{request.method} /{path}", caller.provider
    if wanted not in provider.allows:
        raise NotAllowed(
            f"The gateway does not let {wanted[:100]} through, only {', '.join(provider.allows)}."
        )
    await gateway.admit(s, caller)
    query = f"?{request.url.query}" if request.url.query else ""
    return Asked(
        caller=caller,
        method=request.method,
        url=f"{provider.url}/{path}{query}",
        headers={
            **_passed(request.headers, NOT_SENT),
            # Read on the way, and not to be taken apart for it.
            "accept-encoding": "identity",
            **provider.headers,
        },
        body=await _body(request),
    )


def _key(headers: Headers) -> str:
    kind, _, token = headers.get("authorization", "").partition(" ")
    key = token.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "")
    if not key:
        raise Unauthenticated("The gateway needs the key of a run, as the provider does its own.")
    return key


async def _body(request: Request) -> bytes:
    announced = request.headers.get("content-length", "0")
    body = bytearray()
    if announced.isdecimal() and int(announced) <= MAX_BYTES:
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_BYTES:
                break
        else:
            return bytes(body)
    raise TooLarge(f"The gateway lets at most {MAX_BYTES // 1024 // 1024} MiB through at once.")


async def _answer(s: Services, asked: Asked, send: Send) -> None:
    """Passes the answer on piece by piece. What it tells is counted before its last words are
    heard: the next request may come at once."""
    listener, begun, status = Listener(), s.clock.now(), 0
    tls = asked.url.startswith("https://")
    timeout = httpx.Timeout(None, connect=CONNECT_S)
    try:
        async with (
            httpx.AsyncClient(
                verify=_trusted(), timeout=timeout, trust_env=tls, follow_redirects=False
            ) as client,
            client.stream(
                asked.method, asked.url, headers=asked.headers, content=asked.body
            ) as answer,
        ):
            if answer.is_redirect:
                raise ExternalError("The model's server leads elsewhere, where nobody is asked.")
            status = answer.status_code
            told = Headers(headers=dict(answer.headers))
            headers = (await _noting_limit(s, asked.caller, status, told)).items()
            await send(
                {
                    "type": "http.response.start",
                    "status": answer.status_code,
                    "headers": [
                        (name.encode("latin-1"), v.encode("latin-1")) for name, v in headers
                    ],
                }
            )
            listener.begin(answer.headers.get("content-type", ""))
            async for piece in answer.aiter_bytes():
                listener.take(piece)
                await _count(s, asked.caller, listener, over=False)
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await _count(s, asked.caller, listener, over=True)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
    except httpx.HTTPError as error:
        why = str(error) or type(error).__name__
        raise ExternalError(f"The model's server cannot be reached: {why}") from error
    finally:
        await _count(s, asked.caller, listener, over=True)
        if s.traces.on:
            await gateway.told(s, asked.caller, begun, listener.heard, status)


async def _noting_limit(
    s: Services, caller: Caller, status: int, told: Headers
) -> Mapping[str, str]:
    """Return the headers for the agent, after recording when the limit ends that they name. An
    agent that would wait too long for it is not told: its run ends, and is retried then."""
    passed, now = _passed(told, NOT_TOLD), s.clock.now()
    until = limit_headers.resets_at(told, now) if status in limit_headers.LIMITED else None
    if until is None:
        return passed
    await gateway.limited(caller, until)
    if until <= now + PATIENCE:
        return passed
    return {name: value for name, value in passed.items() if name.lower() != "retry-after"}


async def _count(s: Services, caller: Caller, listener: Listener, *, over: bool) -> None:
    counted = listener.counted(over=over)
    if counted is not None:
        await gateway.count(s, caller, counted)


async def _hang_up(receive: Receive, answering: "asyncio.Task[None]") -> None:
    """Nobody pays for an answer that nobody waits for."""
    while (await receive())["type"] != "http.disconnect":
        pass
    answering.cancel()


def _passed(headers: Headers, but: frozenset[str]) -> dict[str, str]:
    named = {name.strip().lower() for name in headers.get("connection", "").split(",")}
    return {name: value for name, value in headers.items() if name.lower() not in but | named}


@cache
def _trusted() -> ssl.SSLContext:
    return httpx.create_ssl_context()
