"""How much room the files of the product take."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from agents_manager.errors import AgentsManagerError
from agents_manager.flow import places
from agents_manager.flow.ports import Services
from agents_manager.flow.retention import room

DATABASES = ("agents-manager.db*", "engine.db*")


async def measure(s: Services) -> dict[str, int]:
    """Returns bytes by kind, for what lies on this machine."""
    workspaces: list[Path] = []
    for project in await s.store.read(lambda tx: tx.projects.all()):
        if places.away(s, project) is None:
            # What cannot be looked at is named in the report.
            with suppress(AgentsManagerError):
                workspaces += (await s.workspaces.standing(Path(project.path))).values()
    kinds = {
        "workspaces": workspaces,
        "transcripts": [s.jobs_dir, s.agent_homes_dir],
        "setup": [s.home / "setup"],
        "backups": [s.home / "backups"],
        "databases": [file for pattern in DATABASES for file in s.home.glob(pattern)],
    }
    return await asyncio.to_thread(
        lambda: {kind: _together(paths) for kind, paths in kinds.items()}
    )


def _together(paths: Iterable[Path]) -> int:
    return sum(room.size(path) for path in paths if path.exists())
