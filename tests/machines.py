"""Machines that share a Postgres database."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import text

from agents_manager import bootstrap
from agents_manager.domain.host import Host, Joining, Term
from agents_manager.engine import lease
from agents_manager.flow import takeover
from agents_manager.flow.ports import Services
from agents_manager.settings import Settings
from agents_manager.store.database import open_database
from agents_manager.store.tx import Database
from tests.postgres import fresh_database
from tests.repos import scripted_home

LONG = timedelta(hours=1)


@pytest.fixture(scope="session")
def shared_template(postgres_url: str) -> str:
    """A database at the schema of this version, to be copied."""
    url = fresh_database(postgres_url)
    open_database(url).close()
    return url


@pytest.fixture
def shared_url(shared_template: str) -> str:
    """A database of its own; made in a moment."""
    server, _, template = shared_template.rpartition("/")
    name = f"am_{uuid4().hex}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
    return f"{server}/{name}"


def machine(name: str, *, labels: Sequence[str] = (), capacity: int = 8, id: str = "") -> Joining:
    return Joining(id=id or name, name=name, version="0", labels=labels, capacity=capacity)


async def join(s: Services, name: str, **fields: Any) -> Host:
    return await s.store.write(lambda tx: tx.hosts.join(machine(name, **fields)))


def last_heard(database: Database, host: str, ago: timedelta) -> None:
    """Turns back when a machine was last heard of."""
    with database.engines.writer.begin() as connection:
        told = {"host": host, "seconds": ago.total_seconds()}
        connection.execute(
            text(
                "UPDATE am_host SET seen_at = clock_timestamp() - make_interval(secs => :seconds)"
                " WHERE id = :host"
            ),
            told,
        )


async def settle(s: Services) -> None:
    """This program works, and has done so for a while, as the machine of its home. It does so for
    long enough for a slow test."""
    assert s.here is not None
    assert isinstance(s.store, Database)
    tenure = s.here.tenure
    host = await join(s, s.here.host)
    last_heard(s.store, host.id, -LONG)
    tenure.term = Term(host.id, host.epoch)
    tenure.until = tenure.clock() + LONG.total_seconds()
    tenure.since = tenure.clock() - takeover.SETTLED_S
    lease.put(s.home / lease.FILE, tenure.until)


@asynccontextmanager
async def client(home: Path, url: str, **overrides: Any) -> AsyncIterator[bootstrap.Program]:
    """Everything but an engine: what it would perform stays as it is."""
    async with bootstrap.client(Settings(scripted_home(home), url), **overrides) as program:
        await settle(program.services)
        yield program


async def host_of(s: Services, name: str) -> Host:
    return await s.store.read(lambda tx: tx.hosts.find(name))
