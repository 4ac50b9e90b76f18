"""What Claude Code may do in a run: asked before every call of a tool, of sub-agents too. It keeps
mistakes inside the workspace; it is no sandbox, because a command can write wherever its user can.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

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


def refusal(
    tool: str, given: Mapping[str, Any], workspace: Path, tools: Collection[str]
) -> str | None:
    """Why a call is refused, in words the model can act on; None when it may be made."""
    if tool == ENDS or tool.startswith(OURS):
        return None
    if tool not in tools:
        return f"The tool {tool} is not available in this run. There are: {', '.join(tools)}."
    if tool not in WRITES:
        return None
    path = given.get(WRITES[tool])
    if not isinstance(path, str) or not path.startswith("/"):
        return "Name the file by its absolute path."
    try:
        return _outside(path, workspace)
    except (OSError, ValueError) as error:
        return f"{path!r} cannot be written: {error}."


def _outside(path: str, workspace: Path) -> str | None:
    root = os.path.realpath(workspace)
    # A link before a ".." leads elsewhere than the text does, and programs differ in which they
    # follow.
    for way in (path, os.path.normpath(path)):
        place = os.path.realpath(way)
        if os.path.commonpath([place, root]) != root or place == root:
            through = "" if place == way else f", which leads to {place},"
            return (
                f"{path}{through} lies outside of the workspace. Files can only be written below"
                f" {root}."
            )
        if ".git" in (part.lower() for part in Path(place).relative_to(root).parts):
            return f"{path} belongs to git's own files. Use git commands to change them."
    return None
