"""Worktrees inside the project would be seen as its files; a line in `.gitignore` hides them. It is
written once, into the user's checkout, and never committed."""

import asyncio
from pathlib import Path

from agents_manager.domain import event
from agents_manager.domain.event import Event
from agents_manager.errors import InvalidRepository
from agents_manager.scm.git import git

HEADING = "# Agent worktrees (managed by agents-manager)"


async def ignore(repo: Path, folder: Path) -> list[Event]:
    """Nothing for a root that lies outside the project or is ignored already."""
    top, root = await asyncio.to_thread(lambda: (repo.resolve(), folder.resolve()))
    if not root.is_relative_to(top):
        return []
    if root == top or root.is_relative_to(top / ".git"):
        raise InvalidRepository(
            f'worktreeRoot cannot be "{root}"; name a folder of its own, such as .agent-worktrees.'
        )
    inside = root.relative_to(top).as_posix() + "/"
    await asyncio.to_thread(root.mkdir, parents=True, exist_ok=True)
    seen = ("ls-files", "--others", "--exclude-standard", "--directory", "-z", "--", inside)
    if not (await git(repo, *seen)).stdout:
        return []
    line = f"/{inside}"
    await asyncio.to_thread(_append, top / ".gitignore", line)
    return [event.WorkspaceIgnored(line=line, file=".gitignore")]


def _append(file: Path, line: str) -> None:
    if file.is_symlink():
        raise InvalidRepository(f'"{file}" is a link. Add the line {line} yourself.')
    try:
        before = file.read_bytes() if file.exists() else b""
        gap = b"" if not before or before.endswith(b"\n") else b"\n"
        with file.open("ab") as content:
            content.write(gap + f"{HEADING}\n{line}\n".encode())
    except OSError as error:
        raise InvalidRepository(f'"{file}" cannot be written: {error.strerror}.') from error
