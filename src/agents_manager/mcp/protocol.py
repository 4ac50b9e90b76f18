"""Speaking MCP by its official SDK. Nothing is kept between two messages: each is answered by a
server that is made for it, with the tools that whoever sent it has."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from starlette.types import Message, Scope, Send

from agents_manager.errors import AgentsManagerError

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

Json = Mapping[str, Any]
NAME = "agents-manager"


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
    changes: bool = True
    """Whether calling it may change something."""


async def load() -> None:
    """The SDK takes half a second to import, which only those wait for who speak to it."""
    await asyncio.to_thread(import_module, "mcp.server.lowlevel.server")


def server(tools: Sequence[Tool], instructions: str) -> "Server[Any]":
    import mcp_types as types
    from mcp.server.lowlevel.server import Server
    from mcp.shared.exceptions import MCPError

    async def listed(_context: object, _params: object) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.description,
                    input_schema=dict(tool.schema),
                    annotations=types.ToolAnnotations(read_only_hint=not tool.changes),
                )
                for tool in tools
            ]
        )

    async def called(_context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = next((one for one in tools if one.name == params.name), None)
        if tool is None:
            known = ", ".join(one.name for one in tools)
            raise MCPError(types.INVALID_PARAMS, f"There is no such tool. There are: {known}.")
        said = await _said(tool, params.arguments or {})
        text = types.TextContent(type="text", text=said.text)
        return types.CallToolResult(content=[text], is_error=said.wrong)

    return Server(
        NAME,
        version=version("agents-manager"),
        instructions=instructions,
        on_list_tools=listed,
        on_call_tool=called,
    )


async def _said(tool: Tool, given: Json) -> Said:
    """An error of ours is told to the agent, which can act on it."""
    try:
        return await tool.call(given)
    except AgentsManagerError as error:
        return Said("\n".join([error.message, *error.details]), wrong=True)


async def answer(
    tools: Sequence[Tool], instructions: str, scope: Scope, body: bytes, send: Send
) -> None:
    """One message over HTTP, whose body was read and bounded before."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    over = asyncio.Event()

    async def receive() -> Message:
        if over.is_set():  # It watches for a client that leaves, as we do.
            await asyncio.Event().wait()
        over.set()
        return {"type": "http.request", "body": body, "more_body": False}

    made = server(tools, instructions)
    manager = StreamableHTTPSessionManager(
        made, json_response=True, stateless=True, max_request_body_size=len(body) + 1
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)
