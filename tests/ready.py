"""Databases as a first start leaves them, made once for each test process and copied from there:
making them is most of what a short test costs. Tests of a first start make their own."""

import asyncio
import atexit
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

from agents_manager import bootstrap
from agents_manager.settings import Settings
from agents_manager.store.database import open_database
from tests.postgres import fresh_database

STORE = "agents-manager.db"
ENGINE = "engine.db"


def home(folder: Path) -> Path:
    """A data directory on which a server was once started, unless it has a database already."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (folder / STORE).exists():
        _copy(_home() / STORE, folder / STORE)
        _copy(_home() / ENGINE, folder / ENGINE)
    return folder


def store(path: Path) -> Path:
    """A file with the tables of this version, and nothing in them."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _copy(_store(), path)
    return path


@contextmanager
def database(url: str, *, opened_by_program: bool = False) -> Iterator[str]:
    """The same in the cluster, for a while; a program has put its built-in pipelines there."""
    name = f"am_{uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        # Otherwise all of it is written twice, the first time into the log.
        way = "STRATEGY FILE_COPY" if connection.info.server_version >= 150000 else ""
        template = _database(url, opened_by_program)
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" {way}'.encode())
    yield f"{url.rpartition('/')[0]}/{name}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


@cache
def _home() -> Path:
    folder = _scratch()
    _enter(bootstrap.worker(Settings(folder, None)))
    return folder


@cache
def _store() -> Path:
    path = _scratch() / STORE
    open_database(path).close()
    return path


@cache
def _database(url: str, opened_by_program: bool) -> str:
    address = fresh_database(url)
    if opened_by_program:
        _enter(bootstrap.client(Settings(_scratch(), address)))
    else:
        open_database(address).close()
    return address.rpartition("/")[2]


def _enter(program: AbstractAsyncContextManager[Any]) -> None:
    async def enter() -> None:
        async with program:
            pass

    with ThreadPoolExecutor(1) as apart:  # A loop may be running in this thread.
        apart.submit(asyncio.run, enter()).result()


def _copy(made: Path, to: Path) -> None:
    shutil.copyfile(made, to)
    to.chmod(0o600)


def _scratch() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="am-ready-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
