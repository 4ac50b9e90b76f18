"""Fixtures for every lane. Each test has its own database."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents_manager import bootstrap
from agents_manager.sandbox.levels import Found, Level, Levels
from agents_manager.store.database import Database, open_database
from tests import ready, sandboxes
from tests.hosts import hosts
from tests.machines import shared_template, shared_url
from tests.postgres import fresh_database, postgres_url
from tests.repos import WORKSPACES, own_home
from tests.staged_walk import shop
from tests.two_machines import pair
from tests.worlds import repo, world

SANDBOXED = ("tests/hostile/", "sandboxed")
SLOW = os.environ.get("AM_SLOW_TESTS") == "all"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left = [item for item in items if not SLOW and item.get_closest_marker("slow")]
    if WORKSPACES == "clone":
        left += [item for item in items if item.get_closest_marker("worktree")]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]


@pytest.fixture(autouse=True)
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests of the sandbox say so; to the others it must make no difference whether there is one
    on the machine."""
    nothing = Found(Level.NONE, "Tests do without.")
    monkeypatch.setattr(bootstrap, "LEVELS", Levels(lambda: nothing))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the level at which tests of the sandbox ran: it is not the same on every machine."""
    reports = [each for kind in terminalreporter.stats.values() for each in kind]
    if any(name in getattr(each, "nodeid", "") for each in reports for name in SANDBOXED):
        found = sandboxes.LEVELS.found()
        who = "root" if os.geteuid() == 0 else "a plain user"
        terminalreporter.write_line(f"Sandbox of {who}: {found.level}. {found.why}")


__all__ = [
    "hosts",
    "own_home",
    "pair",
    "postgres_url",
    "repo",
    "shared_template",
    "shared_url",
    "shop",
    "world",
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Database]:
    """A database as a user has it who configured nothing: a file."""
    yield from opened(ready.store(tmp_path / "home" / ready.STORE))


@pytest.fixture
def postgres_store(postgres_url: str) -> Iterator[Database]:
    with ready.database(postgres_url) as address:
        yield from opened(address)


@pytest.fixture(params=["sqlite", "postgres"])
def database_address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new database of each kind may be opened, as often as a test likes."""
    if request.param == "sqlite":
        return str(tmp_path / "home" / "agents-manager.db")
    return fresh_database(request.getfixturevalue("postgres_url"))


@pytest.fixture(params=["sqlite", "postgres"])
def ready_address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of each kind, with its tables."""
    if request.param == "sqlite":
        yield str(ready.store(tmp_path / "home" / ready.STORE))
        return
    with ready.database(request.getfixturevalue("postgres_url")) as address:
        yield address


@pytest.fixture(params=["sqlite", "postgres"])
def used_address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of each kind that a program was once started on."""
    if request.param == "sqlite":
        yield str(ready.home(tmp_path / "home") / ready.STORE)
        return
    cluster = request.getfixturevalue("postgres_url")
    with ready.database(cluster, opened_by_program=True) as address:
        yield address


@pytest.fixture
def any_store(ready_address: str) -> Iterator[Database]:
    yield from opened(ready_address)


def opened(address: str | Path) -> Iterator[Database]:
    database = open_database(address)
    yield database
    database.close()
