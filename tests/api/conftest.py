"""The interface on a database of its own, without an engine unless a test starts one."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from agents_manager import bootstrap
from agents_manager.api import auth
from agents_manager.api.app import Application, build
from agents_manager.api.doors import doors
from agents_manager.api.stream import Feed
from agents_manager.bootstrap import Program
from agents_manager.domain.task import Project
from agents_manager.flow import tasks
from agents_manager.settings import Settings
from tests import ready
from tests.api.scenes import OWNER, PORT, Scene
from tests.repos import make_repo, own_home, scripted_home

__all__ = ["own_home"]


@pytest.fixture
def repo(tmp_path: Path, own_home: Path) -> Path:
    return make_repo(tmp_path / "shop", {"README.md": "Hello\n"})


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[Program]:
    home = ready.home(scripted_home(tmp_path / "home"))
    async with bootstrap.client(Settings(home, None)) as program:
        yield program


@pytest.fixture
async def token(program: Program) -> str:
    return await auth.ensure_owner_token(program, OWNER)


@pytest.fixture
async def app(program: Program) -> AsyncIterator[Application]:
    feed = Feed(program.services.store, program.database.watch)
    async with feed.running():
        yield build(program.services, feed, doors("127.0.0.1", PORT), bootstrap.mounts(program))


@pytest.fixture
async def stranger(app: Application) -> AsyncIterator[httpx.AsyncClient]:
    """A client without a token."""
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(
        transport=transport, base_url=f"http://127.0.0.1:{PORT}"
    ) as client:
        yield client


@pytest.fixture
async def api(stranger: httpx.AsyncClient, token: str) -> httpx.AsyncClient:
    """The owner's client."""
    stranger.headers["Authorization"] = f"Bearer {token}"
    return stranger


@pytest.fixture
async def project(program: Program, repo: Path) -> Project:
    return await tasks.add_project(program.services, repo, None, None)


@pytest.fixture
async def scene(program: Program, project: Project) -> Scene:
    return Scene(program.services, project)
