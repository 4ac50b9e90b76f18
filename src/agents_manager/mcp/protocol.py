"""The part of MCP that an endpoint with tools and nothing else needs: JSON-RPC 2.0, one message a
request, answered at once."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, cast

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""What is spoken here; between them nothing differs that is used."""
PREFERRED = "2025-06-18"

INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS = -32600, -32601, -32602
PARSE_ERROR = -32700

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """The answer of a tool."""

    text: str
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str
    schema: Json
    call: Callable[[Json], Awaitable[Said]]


class RpcError(Exception):
    def __init__(self, code: int, message: str) -> None:
        self.code = code
        super().__init__(message)


async def answer(message: Any, tools: Sequence[Tool], instructions: str) -> Json | None:
    """The response; None to a notification."""
    match message:
        case {"jsonrpc": "2.0", "method": str(method), "id": str() | int() as number}:
            params = message.get("params", {})
        case {"jsonrpc": "2.0", "method": str()} if "id" not in message:
            return None
        case _:
            return error(None, INVALID_REQUEST, "One JSON-RPC 2.0 request is expected.")
    try:
        if not isinstance(params, dict):
            raise RpcError(INVALID_PARAMS, '"params" must be an object.')
        result = await _result(method, cast("Json", params), tools, instructions)
    except RpcError as fault:
        return error(number, fault.code, str(fault))
    return {"jsonrpc": "2.0", "id": number, "result": result}


def error(number: str | int | None, code: int, message: str) -> Json:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


async def _result(method: str, params: Json, tools: Sequence[Tool], instructions: str) -> Json:
    match method:
        case "initialize":
            return _introduction(params, instructions)
        case "ping":
            return {}
        case "tools/list":
            return {
                "tools": [
                    {"name": t.name, "description": t.description, "inputSchema": t.schema}
                    for t in tools
                ]
            }
        case "tools/call":
            return await _call(params, tools)
        case _:
            raise RpcError(UNKNOWN_METHOD, f'There is no method "{method[:100]}" here.')


def _introduction(params: Json, instructions: str) -> Json:
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in VERSIONS else PREFERRED,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "agents-manager", "version": version("agents-manager")},
        "instructions": instructions,
    }


async def _call(params: Json, tools: Sequence[Tool]) -> Json:
    name, given = params.get("name"), params.get("arguments", {})
    tool = next((t for t in tools if t.name == name), None)
    if tool is None:
        known = ", ".join(t.name for t in tools)
        raise RpcError(INVALID_PARAMS, f"There is no such tool. There are: {known}.")
    if not isinstance(given, dict):
        raise RpcError(INVALID_PARAMS, '"arguments" must be an object.')
    said = await tool.call(cast("Json", given))
    return {"content": [{"type": "text", "text": said.text}], "isError": said.wrong}
