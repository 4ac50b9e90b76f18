"""The machines as people see them, and what people tell them."""

from datetime import timedelta
from pathlib import Path

import pytest

from agents_manager.bootstrap import Program
from agents_manager.domain.host import DEAD_AFTER, HostState
from agents_manager.domain.task import Actor, ActorType
from agents_manager.errors import HostNotFound
from agents_manager.flow import audit, hosts
from agents_manager.flow.hosts import HostView
from tests import machines
from tests.postgres import fresh_database

ADA = Actor(type=ActorType.USER, name="ada", via="cli", admin=True)


async def test_what_people_tell_machines(tmp_path: Path, postgres_url: str) -> None:
    async with machines.client(tmp_path / "home", fresh_database(postgres_url)) as program:
        s = program.services
        await machines.join(s, "gpu-1", labels=["gpu"], capacity=2)
        drained = await hosts.tell(s, "gpu-1", HostState.DRAINING, ADA)
        assert (drained.state, drained.labels, drained.capacity) == ("draining", ["gpu"], 2)
        assert (await hosts.tell(s, "gpu-1", HostState.UP, ADA)).state == "up"
        assert (await hosts.tell(s, "gpu-1", HostState.LEFT, ADA)).state == "left"
        with pytest.raises(HostNotFound, match="gpu-2"):
            await hosts.tell(s, "gpu-2", HostState.UP, ADA)
        entries = await s.store.read(lambda tx: audit.page(tx, limit=10))
        assert [entry.what for entry in entries] == ["host.removed", "host.resumed", "host.drained"]


async def test_machines_that_are_not_heard_of(tmp_path: Path, postgres_url: str) -> None:
    async with machines.client(tmp_path / "home", fresh_database(postgres_url)) as program:
        await machines.join(program.services, "late")
        assert (await _named(program, "late")).state == "up"
        machines.last_heard(program.database, "late", DEAD_AFTER / 2)
        assert (await _named(program, "late")).state == "away"
        machines.last_heard(program.database, "late", DEAD_AFTER + timedelta(seconds=1))
        assert (await _named(program, "late")).state == "over"


async def _named(program: Program, name: str) -> HostView:
    found = await hosts.overview(program.services)
    return next(host for host in found.hosts if host.name == name)
