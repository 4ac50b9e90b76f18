"""Tries an MCP server as an agent would: connects, initializes and counts its tools."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from agents_manager.agents import login_shell, mcp_servers
from agents_manager.agents.mcp_servers import Owner, ReadyServer
from agents_manager.domain.names import visible
from agents_manager.errors import InvalidInput
from agents_manager.flow.ports import McpServer, ServerState

if TYPE_CHECKING:
    from mcp import ClientSession

TIMEOUT_S = 15.0
"""For each server; they are tried side by side."""
MAX_PROBLEM = 300


async def probe(
    servers: Mapping[str, McpServer], agent: str, variables: Mapping[str, str]
) -> Sequence[ServerState]:
    """Returns the state of each server. Programs are started once, and ended."""
    path = await asyncio.to_thread(login_shell.path)
    async with asyncio.TaskGroup() as group:
        tries = [
            group.create_task(_state(name, server, Owner(agent, path, variables)))
            for name, server in servers.items()
        ]
    return [each.result() for each in tries]


async def _state(name: str, server: McpServer, owner: Owner) -> ServerState:
    place = server.command or server.url or ""
    state = ServerState(name=name, type=server.kind, place=place)
    try:
        (ready,) = mcp_servers.ready({name: server}, owner)
    except InvalidInput as error:
        return _failed(state, error.message)
    try:
        async with asyncio.timeout(TIMEOUT_S), _session(ready, owner.path) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools
    except TimeoutError:
        return _failed(state, f"It did not answer within {TIMEOUT_S:g} s.")
    except Exception as error:  # noqa: BLE001 - the library and the server may raise anything
        return _failed(state, _sentence(error, ready))
    return ServerState(name=name, type=server.kind, place=place, tools=len(tools))


def _failed(state: ServerState, problem: str) -> ServerState:
    return ServerState(name=state.name, type=state.type, place=state.place, problem=problem)


def _sentence(error: BaseException, server: ReadyServer) -> str:
    first = _first(error)
    said = str(first) or type(first).__name__
    for secret in server.secrets:
        said = said.replace(secret, "[redacted]")
    return f"It could not be used: {visible(said, MAX_PROBLEM)}"


def _first(error: BaseException) -> BaseException:
    """The first error of a group, at any depth."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    return _first(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])


@asynccontextmanager
async def _session(server: ReadyServer, path: str) -> AsyncGenerator["ClientSession"]:
    # Imported here, as it takes a third of a second and only `am agent doctor` needs it.
    from mcp import ClientSession

    async with _transport(server, path) as (read, write), ClientSession(read, write) as session:
        yield session


@asynccontextmanager
async def _transport(server: ReadyServer, path: str) -> AsyncGenerator[Any]:
    if server.type == "stdio":
        from mcp import StdioServerParameters, stdio_client

        env = {"PATH": path, **server.env}
        given = StdioServerParameters(command=server.command, args=list(server.args), env=env)
        with open("/dev/null", "w") as quiet:  # noqa: ASYNC230, PTH123 - a device, not a file
            async with stdio_client(given, errlog=quiet) as streams:
                yield streams
    elif server.type == "sse":
        from mcp.client.sse import sse_client

        async with sse_client(server.url, headers=dict(server.headers)) as streams:
            yield streams
    else:
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        async with (
            create_mcp_http_client(headers=dict(server.headers)) as client,
            streamable_http_client(server.url, http_client=client) as streams,
        ):
            yield streams[:2]
