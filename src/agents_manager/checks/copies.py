"""Check copies: folders with a clean checkout of a commit, removed after use."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

MARK = "AM_CHECK"
"""The environment variable by which processes of a check copy are found."""
FOLDERS = ("tree", "home", "tmp", "log")


@dataclass(frozen=True, slots=True)
class CheckCopy:
    """The folders of one check copy."""

    path: Path

    @property
    def tree(self) -> Path:
        """The checkout."""
        return self.path / "tree"

    @property
    def home(self) -> Path:
        """The HOME of sandboxed commands: of set-up first, then of the checks."""
        return self.path / "home"

    @property
    def tmp(self) -> Path:
        return self.path / "tmp"

    @property
    def log(self) -> Path:
        """What the sandbox reports; commands cannot write here."""
        return self.path / "log"

    @property
    def env(self) -> dict[str, str]:
        """The variables that every command in the copy gets."""
        # In a folder without a repository git looks for one in those above.
        return {MARK: self.path.name, "GIT_CEILING_DIRECTORIES": str(self.path)}


class CheckCopies:
    """Creates check copies below a folder and removes those of killed processes."""

    def __init__(self, root: Path, kill_marked: Callable[[str], None]) -> None:
        self._root = root
        self._kill_marked = kill_marked

    @asynccontextmanager
    async def empty(self) -> AsyncGenerator[CheckCopy]:
        """Provides a check copy without a checkout; it is removed afterwards."""
        copy = await asyncio.to_thread(self._create)
        try:
            yield copy
        finally:
            await asyncio.to_thread(remove, copy.path)

    def sweep(self, copy: CheckCopy) -> None:
        """Kills every process that was started in the copy."""
        self._kill_marked(f"{MARK}={copy.path.name}")

    def _create(self) -> CheckCopy:
        self._root.mkdir(parents=True, exist_ok=True)
        for orphan in self._root.glob("check-*-*"):
            if not Path("/proc", orphan.name.split("-")[1]).exists():
                self._kill_marked(f"{MARK}={orphan.name}")
                remove(orphan)
        folder = tempfile.mkdtemp(dir=self._root, prefix=f"check-{os.getpid()}-")
        copy = CheckCopy(Path(folder).resolve())
        for name in FOLDERS:
            (copy.path / name).mkdir()
        return copy


def remove(folder: Path) -> None:
    """Removes a folder with everything in it, including read-only folders as package caches make
    them. Several callers may remove the same folder at the same time."""
    for parent, folders, _ in os.walk(folder):
        for name in folders:
            path = Path(parent, name)
            with suppress(FileNotFoundError):
                if not path.is_symlink():
                    path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
