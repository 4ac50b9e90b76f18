"""Several machines on one machine: each is a data directory of its own, on one Postgres, beside one
bare repository that all of them reach."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.bootstrap import Program
from agents_manager.environment import Place
from agents_manager.settings import Settings
from tests.postgres import fresh_database
from tests.repos import executable, make_repo, run, scripted_home
from tests.worlds import NO_RETRIES, forget_connections

FILES = {"README.md": "Hello\n", "greeting.txt": "hi\n"}


@dataclass(frozen=True)
class Hosts:
    url: str
    folder: Path
    bare: Path
    """What all share."""

    def settings(self, name: str) -> Settings:
        home = scripted_home(self.folder / name, **NO_RETRIES)
        return Settings(home, self.url, place=Place(name=name))

    def checkout(self, name: str) -> Path:
        """Somebody's own, with the shared repository as its origin."""
        path = self.folder / name
        run(self.folder, "clone", "-q", str(self.bare), str(path))
        return path

    @asynccontextmanager
    async def client(self, name: str) -> AsyncIterator[Program]:
        async with bootstrap.client(self.settings(name)) as program:
            yield program

    @asynccontextmanager
    async def worker(self, name: str, **overrides: Any) -> AsyncIterator[Program]:
        async with bootstrap.worker(self.settings(name), **overrides) as program:
            yield program
        forget_connections()

    def refuse_pushes(self, words: str, of: str = "refs/heads/") -> Path:
        """From now on the shared repository takes nothing under these names."""
        refuse = f'case "$1" in {of}*) echo "{words}" >&2; exit 1;; esac'
        return executable(self.bare / "hooks" / "update", refuse)


@pytest.fixture
def hosts(tmp_path: Path, own_home: Path, postgres_url: str) -> Hosts:
    repo = make_repo(tmp_path / "first", FILES)
    run(tmp_path, "clone", "-q", "--bare", str(repo), str(tmp_path / "shared.git"))
    return Hosts(fresh_database(postgres_url), tmp_path, tmp_path / "shared.git")
