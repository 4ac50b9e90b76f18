"""MCP over HTTP for the agents of runs: one endpoint a run, which the run's token alone opens and
which does nothing but take the run's outcome, its handoff and whom it wants to have run again, put
its questions to people, and look up what its project found out."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from agents_manager.domain import payload as payloads
from agents_manager.domain import strict_json
from agents_manager.errors import (
    AgentsManagerError,
    NotFound,
    TooLarge,
    Unauthenticated,
)
from agents_manager.flow.ports import Services
from agents_manager.flow.runs import reporting
from agents_manager.flow.runs.reporting import Reporter
from agents_manager.mcp import protocol, run_tools

FOLDER = "/mcp"
RUNS = f"{FOLDER}/run/"
MAX_BYTES = 2 * payloads.MAX_BYTES
MAX_DEPTH = payloads.MAX_DEPTH + 8

INSTRUCTIONS = (
    "Where you need to know something from a person to go on, ask with ask_human and wait for the"
    " answer. When your work is done, save your handoff with save_handoff and report the outcome"
    " with report_outcome, then end with your final message. It needs no handoff and no outcome"
    " block then."
)


class OnlyPost(AgentsManagerError):
    """This endpoint answers POST; it has nothing to tell by itself."""

    http_status = 405


def app(services: Services) -> ASGIApp:
    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            reporter = await _admitted(services, request)
            body = await _body(request)
        except ClientDisconnect:
            return
        response = await _unless_gone(_answer(services, reporter, body), receive)
        if response is not None:
            await response(scope, receive, send)

    return serve


async def _unless_gone(answer: Coroutine[Any, Any, Response], receive: Receive) -> Response | None:
    """None where the agent went away before it was answered: nobody waits for it any more."""
    loop = asyncio.get_running_loop()
    work, leaving = loop.create_task(answer), loop.create_task(_left(receive))
    try:
        await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return await work if work.done() else None
    finally:
        for task in (work, leaving):
            task.cancel()
        await asyncio.wait({work, leaving})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _admitted(s: Services, request: Request) -> Reporter:
    path = request.url.path
    if not path.startswith(RUNS):
        raise NotFound(f"There is no {path[:100]}; agents find their endpoint below {RUNS}.")
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token:
        raise Unauthenticated(
            'Send the header "Authorization: Bearer TOKEN" with the run\'s token.'
        )
    reporter = await reporting.enter(s, path.removeprefix(RUNS), token.strip())
    if request.method != "POST":
        raise OnlyPost
    return reporter


async def _answer(s: Services, reporter: Reporter, body: bytes) -> Response:
    try:
        text = body.decode()
        message = strict_json.loads(text, max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)
    except ValueError as error:
        fault = protocol.error(None, protocol.PARSE_ERROR, f"The message is not JSON: {error}.")
        return JSONResponse(fault, 400)
    said = await protocol.answer(message, run_tools.of(s, reporter), INSTRUCTIONS)
    return Response(status_code=202) if said is None else JSONResponse(said)


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BYTES:
            raise TooLarge(f"A message has at most {MAX_BYTES // 1024} KiB.")
    return bytes(body)
