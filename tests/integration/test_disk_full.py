"""A disk that is full while the server works: nothing is damaged or half made, people are told
where room is missing, and everything goes on when there is some again."""

import asyncio
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from agents_manager.domain.ids import TaskId
from agents_manager.domain.run import RunStatus
from agents_manager.errors import StoreUnavailable
from agents_manager.flow import hooks, patience
from agents_manager.store.database import Database, open_database
from tests import repos, worlds
from tests.contract.store_values import NOW, furnish
from tests.postgres import unprivileged
from tests.small_disk import fill, small_disk

TASK = TaskId("task-1")
GO_ON = "Go on"
FLOOD = {"flood": {"lines": 2000}}
WORKS = {
    "implement": [
        [
            {"say": "Up."},
            {"meet": GO_ON},
            FLOOD,
            {"modify": {"path": "greeting.txt", "append": "hello\n"}},
            {"commit": "Say hello"},
            {"outcome": "pr_ready"},
        ]
    ]
}


@pytest.mark.slow
@pytest.mark.worktree
async def test_work_waits_for_room_and_goes_on(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooks, "LONGEST_PAUSE_S", 0.5)
    monkeypatch.setattr(patience, "LONGEST_PAUSE_S", 0.5)
    with small_disk(tmp_path / "disk", 48) as disk:
        home = repos.scripted_home(disk / "home", limits={"freeDiskMb": 8}, **worlds.NO_RETRIES)
        # What agents write to is elsewhere: theirs is another matter than ours.
        (tmp_path / "trees").mkdir()
        (home / "worktrees").symlink_to(tmp_path / "trees")
        async with worlds.working(home, repo) as world:
            task = await world.start(WORKS, pipeline="simple")
            await world.wait(task, lambda _: _is_up(home), "working")
            ballast = fill(disk)
            with pytest.raises(StoreUnavailable, match=r"agents-manager\.db.*disk is full"):
                await _create_many(world)
            there = await world.s.store.read(lambda tx: tx.events.last_id())
            repos.commit(repo, {"go": "on"}, GO_ON)
            await _agent_ended(repo)
            assert await world.s.store.read(lambda tx: tx.events.last_id()) == there
            os.truncate(ballast, 0)
            ballast.unlink()
            await world.wait(task, lambda v: v.run is None, "ended")
            await world.settled(task)
            [run] = await world.s.store.read(lambda tx: tx.runs.of_task(task.id))
            with world.program.database.engines.reader.begin() as connection:
                whole = connection.exec_driver_sql("PRAGMA integrity_check").scalar()
            told = await world.events(task)
    assert whole == "ok"
    assert [e.seq for e in told] == list(range(1, len(told) + 1))
    assert run.status is RunStatus.COMPLETED
    assert repos.run(repo, "show", f"{run.branch}:greeting.txt") == "hi\nhello"


@pytest.mark.slow
async def test_a_postgres_without_room_says_so_and_takes_more_later(postgres_url: str) -> None:
    with _small_postgres(postgres_url) as (address, disk):
        store = open_database(address)
        await store.write(furnish)
        ballast = fill(disk)
        with pytest.raises(StoreUnavailable, match="server's disk is full; free some space"):
            await _write_much(store)
        ballast.unlink()
        await store.write(lambda tx: tx.tasks.update(TASK, NOW, plan="short"))
        task = await store.read(lambda tx: tx.tasks.get(TASK))
        store.close()
        assert task.plan == "short"


def _is_up(home: Path) -> bool:
    return any(file.stat().st_size for file in home.glob("jobs/*/1/output"))


async def _agent_ended(repo: Path) -> None:
    """Its work is committed, and what it said cannot be put down."""
    async with asyncio.timeout(worlds.PATIENCE_S):
        while "Say hello" not in repos.run(repo, "log", "--all", "--format=%s"):
            await asyncio.sleep(0.05)
    await asyncio.sleep(1.5)


async def _create_many(world: worlds.World) -> None:
    for _ in range(200):
        await world.create({}, description="y" * 20_000)


async def _write_much(store: Database) -> None:
    for _ in range(300):
        noise = os.urandom(50_000).hex()
        await store.write(lambda tx, n=noise: tx.tasks.update(TASK, NOW, plan=n))


@contextmanager
def _small_postgres(url: str) -> Iterator[tuple[str, Path]]:
    """A database whose tables lie on a small disk, and that disk."""
    place = Path(tempfile.mkdtemp(prefix="am-small-"))
    place.chmod(0o755)
    name = place.name.replace("-", "_")
    with small_disk(place, 24), psycopg.connect(url, autocommit=True) as connection:
        (place / "tables").mkdir()
        if who := unprivileged():
            os.chown(place / "tables", who["user"], who["group"])
        connection.execute(f"CREATE TABLESPACE \"{name}\" LOCATION '{place}/tables'".encode())
        connection.execute(f'CREATE DATABASE "{name}" TABLESPACE "{name}"'.encode())
        try:
            yield f"{url.rpartition('/')[0]}/{name}", place
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())
            connection.execute(f'DROP TABLESPACE "{name}"'.encode())
    place.rmdir()
