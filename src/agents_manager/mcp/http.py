"""What every endpoint over HTTP does alike: a token, one message of bounded size, and an answer
that nobody works at any more once the client has gone."""

import asyncio
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from agents_manager.domain import strict_json
from agents_manager.errors import AgentsManagerError, TooLarge, Unauthenticated
from agents_manager.mcp import protocol
from agents_manager.mcp.protocol import Tool

PARSE_ERROR = -32700


class OnlyPost(AgentsManagerError):
    """This endpoint answers POST; it has nothing to tell by itself."""

    http_status = 405


def token(request: Request) -> str:
    kind, _, said = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not said.strip():
        raise Unauthenticated('Send the header "Authorization: Bearer TOKEN".')
    return said.strip()


def check_method(request: Request) -> None:
    if request.method != "POST":
        raise OnlyPost


async def body(request: Request, most: int) -> bytes:
    found = bytearray()
    async for piece in request.stream():
        found += piece
        if len(found) > most:
            raise TooLarge(f"A message has at most {most // 1024} KiB.")
    return bytes(found)


async def answered(
    tools: Sequence[Tool],
    instructions: str,
    body: bytes,
    max_depth: int,
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    try:
        strict_json.loads(body.decode(), max_bytes=len(body) + 1, max_depth=max_depth)
    except ValueError as error:
        fault = {"code": PARSE_ERROR, "message": f"The message is not JSON: {error}."}
        refused = JSONResponse({"jsonrpc": "2.0", "id": None, "error": fault}, 400)
        await refused(scope, receive, send)
        return
    await protocol.load()
    loop = asyncio.get_running_loop()
    work = loop.create_task(protocol.answer(tools, instructions, scope, body, send))
    leaving = loop.create_task(_left(receive))
    try:
        await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
        if not work.done():
            work.cancel()
        await asyncio.wait({work, leaving})
    if not work.cancelled():
        work.result()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
