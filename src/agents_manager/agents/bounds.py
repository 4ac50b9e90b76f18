"""Which files are an agent's to write: those of its workspace, wherever links lead."""

import os
from pathlib import Path


def unwritable(path: str, workspace: Path) -> str | None:
    """Why an absolute path is not to be written; None for one in the workspace."""
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
