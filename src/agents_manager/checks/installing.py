"""Provides checkouts with what set-up installs: from the cache, or by running set-up once on a
clean copy of a commit and keeping the result."""

import asyncio
import hashlib
import json
import os
import platform
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import structlog

from agents_manager.checks.copies import CheckCopies
from agents_manager.checks.running import CopyCommands
from agents_manager.checks.setup_cache import SetupCache, tracked_paths
from agents_manager.checks.shell import environment
from agents_manager.flow.ports import TASK_VARIABLES, SetupPlan, Surroundings

log = structlog.get_logger()

Export = Callable[[Path, str, Path], Awaitable[None]]
"""Writes the files of a repository's commit into an empty folder."""

FORMAT = 1
"""To be raised when entries of earlier versions cannot be used any more."""
TOOLS = (
    *("python3", "python", "pip", "uv", "poetry", "node", "npm", "pnpm", "yarn", "bun", "go"),
    *("cargo", "rustc", "java", "mvn", "gradle", "ruby", "bundle", "php", "composer", "make", "cc"),
)
"""Programs whose version what is installed depends on."""


class SetupInstaller:
    def __init__(
        self,
        cache: SetupCache,
        copies: CheckCopies,
        commands: CopyCommands,
        export: Export,
    ) -> None:
        self.cache = cache
        self._copies = copies
        self._commands = commands
        self._export = export

    async def install(
        self,
        repo: Path,
        plan: SetupPlan,
        tree: Path,
        home: Path | None,
        surroundings: Surroundings,
        *,
        kept: bool,
    ) -> bool:
        """Copies what set-up installs into a checkout and, if given, into an empty HOME. Returns
        False if set-up has to run in the checkout itself, as it must if it uses variables of the
        task. Raises CheckNotRun when set-up failed; that is not cached."""
        if any(name in command for name in TASK_VARIABLES for command in plan.spec.commands):
            return False
        env = {
            name: value for name, value in surroundings.env.items() if name not in TASK_VARIABLES
        }
        shared = replace(surroundings, env=env)
        files = await self._copied_files(shared)
        key = await asyncio.to_thread(_key, repo, plan, env, files, kept)
        while True:
            async with self.cache.reading(key) as entry:
                if entry is not None:
                    fits = await asyncio.to_thread(entry.fits, tree)
                    if not fits:
                        log.info("setup.not_copied", key=key, binary=entry.manifest.binary)
                        return False
                    await asyncio.to_thread(entry.restore, tree, home)
                    return True
            await self._make(key, repo, plan, shared, kept)

    async def _copied_files(self, surroundings: Surroundings) -> str:
        """Returns a digest of the ignored files that set-up finds in a check copy."""
        if surroundings.place_files is None:
            return ""
        async with self._copies.empty() as copy:
            paths = await surroundings.place_files(copy.tree)
            return await asyncio.to_thread(_digest, copy.tree, sorted(paths))

    async def _make(
        self, key: str, repo: Path, plan: SetupPlan, surroundings: Surroundings, kept: bool
    ) -> None:
        async with self.cache.making(key) as missing:
            if not missing:
                return
            async with self._copies.empty() as origin:
                await self._export(repo, plan.commit, origin.tree)
                if surroundings.place_files is not None:
                    await surroundings.place_files(origin.tree)
                # What is there before set-up, the copied files included, is not part of the entry.
                tracked = await asyncio.to_thread(tracked_paths, origin.tree)
                began = time.monotonic()
                hidden = repo if kept else None
                await self._commands.set_up(origin, plan.spec, hidden, surroundings.env)
                what = "; ".join(plan.spec.commands)
                await asyncio.to_thread(self.cache.store, key, origin, tracked, what)
                seconds = round(time.monotonic() - began, 1)
                log.info("setup.cached", key=key, seconds=seconds, private=plan.task is not None)
        await asyncio.to_thread(self.cache.evict, key)


def _digest(tree: Path, paths: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        content = (tree / path).read_bytes()
        digest.update(f"{path}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _key(repo: Path, plan: SetupPlan, env: Mapping[str, str], files: str, kept: bool) -> str:
    parts = [
        FORMAT,
        plan.spec.commands,
        plan.inputs,
        str(repo.resolve()),
        plan.task,
        sorted(env.items()),
        files,
        kept,
        _machine(),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _machine() -> Sequence[object]:
    """What installed files depend on besides the repository."""
    system = Path("/etc/os-release")
    release = system.read_text(errors="replace") if system.exists() else platform.version()
    path = environment(Path(), {}).get("PATH", "")
    tools = [_tool(name, path) for name in TOOLS]
    return [platform.system(), platform.machine(), release, os.getuid(), path, tools]


def _tool(name: str, path: str) -> Sequence[object] | None:
    found = shutil.which(name, path=path)
    if found is None:
        return None
    real = Path(found).resolve()
    told = real.stat()
    return [str(real), told.st_size, told.st_mtime_ns]
