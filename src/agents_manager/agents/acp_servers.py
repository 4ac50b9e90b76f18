"""MCP servers as the Agent Client Protocol takes them when a session begins."""

from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

from acp.schema import (
    EnvVariable,
    HttpHeader,
    HttpMcpServer,
    InitializeResponse,
    McpServerStdio,
    SseMcpServer,
)

SessionServer: TypeAlias = McpServerStdio | HttpMcpServer | SseMcpServer


def types_taken(able: InitializeResponse) -> Collection[str]:
    """Returns the types of servers that an agent takes: programs, and addresses if it says so."""
    offered = able.agent_capabilities and able.agent_capabilities.mcp_capabilities
    return {"stdio", *(kind for kind in ("http", "sse") if getattr(offered, kind, False))}


def session_server(name: str, entry: Mapping[str, Any]) -> SessionServer:
    """Converts the entry of an `.mcp.json`."""
    if entry["type"] == "stdio":
        env = [EnvVariable(name=key, value=value) for key, value in entry["env"].items()]
        return McpServerStdio(name=name, command=entry["command"], args=entry["args"], env=env)
    headers = [HttpHeader(name=key, value=value) for key, value in entry["headers"].items()]
    if entry["type"] == "http":
        return HttpMcpServer(type="http", name=name, url=entry["url"], headers=headers)
    return SseMcpServer(type="sse", name=name, url=entry["url"], headers=headers)
