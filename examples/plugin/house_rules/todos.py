"""A check: how much is left to do in the files of a commit."""

import asyncio
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from agents_manager.flow.ports import CheckSaid, CheckWork

MOST_BYTES = 1024 * 1024


class Todos(BaseModel):
    model_config = ConfigDict(extra="forbid")

    most: int = Field(default=0, ge=0)
    """How many may be left."""


async def count_todos(work: CheckWork) -> CheckSaid:
    """Reading files blocks, so it is done in a thread."""
    found = await asyncio.to_thread(_found, await work.tree())
    most = work.spec.settings.most
    return CheckSaid(
        passed=len(found) <= most,
        how=f"{len(found)} TODOs, {most} are allowed",
        output="\n".join(found),
    )


def _found(tree: Path) -> list[str]:
    """An agent wrote these files: none is followed to elsewhere, or read without a limit."""
    found: list[str] = []
    for path in sorted(tree.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            lines = file.read(MOST_BYTES).decode(errors="replace").splitlines()
        name = path.relative_to(tree)
        found += [
            f"{name}:{n}: {line.strip()}" for n, line in enumerate(lines, 1) if "TODO" in line
        ]
    return found
