"""What Claude Code may do in a run: asked before every call of a tool, of sub-agents too. It keeps
mistakes inside the workspace; it is no sandbox, because a command can write wherever its user can.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from agents_manager.agents import bounds

READS = ("Read", "Glob", "Grep", "WebFetch", "WebSearch", "Agent")
COMMAND = "Bash"
WRITES: Mapping[str, str] = {
    "Write": "file_path",
    "Edit": "file_path",
    "NotebookEdit": "notebook_path",
}
"""The tools that write a file, and where their input says which."""
ENDS = "StructuredOutput"
"""The tool by which Claude Code takes a final message that has a form."""
SERVER = "agents-manager"
OURS = f"mcp__{SERVER}__"
"""How the tools begin that we bring along ourselves."""
PERMISSION = f"{OURS}request_permission"
"""By which Claude Code has a person asked."""
REFUSE, ASK = "refuse", "ask"


def refusal(
    tool: str,
    given: Mapping[str, Any],
    workspace: Path,
    tools: Collection[str],
    servers: Collection[str] = (),
) -> str | None:
    """Why a call is refused, in words the model can act on; None when it may be made. `servers` are
    the MCP servers all of whose tools may be used, as Claude Code calls them."""
    if tool == ENDS or tool.startswith(OURS) or is_of_server(tool, servers):
        return None
    if tool not in tools:
        return f"The tool {tool} is not available in this run. There are: {', '.join(tools)}."
    if tool not in WRITES:
        return None
    path = given.get(WRITES[tool])
    if not isinstance(path, str) or not path.startswith("/"):
        return "Name the file by its absolute path."
    return bounds.unwritable(path, workspace)


def is_of_server(tool: str, servers: Collection[str]) -> bool:
    return any(tool.startswith(f"{server}__") for server in servers)


def asked(
    tool: str, given: Mapping[str, Any], why: str | None, tools: Collection[str], permissions: str
) -> str | None:
    """Why a person decides on a call, in the place of the refusal if there is one; None: nobody is
    asked."""
    if permissions == ASK and tool.startswith("mcp__") and not tool.startswith(OURS):
        return "Every call of a tool of an MCP server is asked for."
    if permissions == REFUSE or tool not in tools or tool not in (*WRITES, COMMAND):
        return None
    if why is None:
        return "Every command and every change is asked for." if permissions == ASK else None
    return why if str(given.get(WRITES.get(tool, ""))).startswith("/") else None
