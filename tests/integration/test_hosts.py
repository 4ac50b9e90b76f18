"""Machines that share a database: names, signs of life, and what is taken over of those that are
dead. Each with what it refuses."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from agents_manager import bootstrap
from agents_manager.domain.host import DEAD_AFTER, HostState, Term
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.task import EffectRow
from agents_manager.environment import Place
from agents_manager.errors import HostLocked, HostNameTaken, HostReplaced, InvalidInput
from agents_manager.flow import takeover, tasks
from agents_manager.flow.ports import ACTING, Services, Tx
from agents_manager.settings import Settings
from tests import machines
from tests.machines import join, last_heard
from tests.postgres import fresh_database
from tests.worlds import ANN

DEAD = DEAD_AFTER + timedelta(seconds=1)


@pytest.fixture
async def program(tmp_path: Path, postgres_url: str) -> AsyncIterator[bootstrap.Program]:
    async with machines.client(tmp_path / "mine", fresh_database(postgres_url)) as program:
        yield program


@pytest.fixture
def s(program: bootstrap.Program) -> Services:
    return program.services


async def at_work(s: Services, repo: Path, host: str, *, begun: bool) -> Run:
    """A run that a machine is at, or is about to begin."""
    project = await tasks.add_project(s, repo, None, None)
    new = tasks.NewTask(title="Add greeting", pipeline="simple")
    task = await tasks.create(s, project, new, ANN)
    await tasks.move(s, task.id, ANN)

    def write(tx: Tx) -> Run:
        (run,) = tx.runs.live(task.id)
        tx.effects.update(run.effect_id, status="started", host=host)
        tx.runs.update(run.id, host=host)
        if begun:
            now = s.clock.now()
            tx.runs.update(run.id, status=RunStatus.RUNNING, started_at=now, agent="scripted")
        return tx.runs.get(run.id)

    return await s.store.write(write)


# --------------------------------------------------------------------------------- signs of life


async def test_a_machine_joins_beats_and_is_found(s: Services) -> None:
    first = await join(s, "a", labels=["gpu"], capacity=3)
    assert (first.epoch, first.state, first.labels, first.capacity) == (1, "up", ["gpu"], 3)
    again = await join(s, "a")
    assert (again.epoch, again.labels) == (2, [])
    beat = await s.store.write(lambda tx: tx.hosts.beat(Term("a", 2), 5, 1234))
    assert beat is not None
    assert (beat.capacity, beat.free_disk_mb) == (5, 1234)
    assert beat.seen_at >= again.seen_at
    assert await s.store.write(lambda tx: tx.hosts.beat(Term("a", 1), 5, None)) is None
    drained = await s.store.write(lambda tx: tx.hosts.set_state("a", HostState.DRAINING))
    assert drained.state is HostState.DRAINING
    assert "a" in await s.store.read(lambda tx: tx.hosts.alive())
    await s.store.write(lambda tx: tx.hosts.set_state("a", HostState.LEFT))
    assert "a" not in await s.store.read(lambda tx: tx.hosts.alive())


async def test_a_name_belongs_to_one_living_machine(program: bootstrap.Program) -> None:
    s = program.services
    await join(s, "build", id="one")
    with pytest.raises(HostNameTaken, match=r'Another machine is called "build" .*--name'):
        await join(s, "build", id="two")
    last_heard(program.database, "one", DEAD)
    await join(s, "build", id="two")
    with pytest.raises(HostNameTaken):
        await join(s, "build", id="one")
    assert (await machines.host_of(s, "build")).id == "two"


async def test_times_of_machines_are_the_databases(program: bootstrap.Program) -> None:
    """However wrong the clock of a machine is, it is alive while it is heard of."""
    s = program.services
    host = await join(s, "a")
    now = await s.store.read(lambda tx: tx.hosts.now())
    assert timedelta(0) <= now - host.seen_at < timedelta(seconds=30)


async def test_a_copy_of_a_machine_is_refused(tmp_path: Path, postgres_url: str) -> None:
    url = fresh_database(postgres_url)
    async with machines.client(tmp_path / "home", url) as first:
        beats = first.database.beats()
        try:
            await beats.call(lambda hosts: hosts.now())
            copy = first.database.beats()
            with pytest.raises(HostLocked, match="delete the file host-id in the copy"):
                await copy.call(lambda hosts: hosts.now())
            copy.close()
        finally:
            beats.close()
        freed = first.database.beats()
        await freed.call(lambda hosts: hosts.now())
        freed.close()


async def test_names_and_labels_need_a_shared_database(tmp_path: Path) -> None:
    place = Settings(tmp_path / "home", None, place=Place(name="a"))
    with pytest.raises(InvalidInput, match="share a Postgres database"):
        async with bootstrap.client(place):
            pass


# ------------------------------------------------------------------------------------- taken over


async def test_a_run_of_a_machine_that_died_is_tried_again_elsewhere(
    program: bootstrap.Program, repo: Path
) -> None:
    s = program.services
    await join(s, "other")
    run = await at_work(s, repo, "other", begun=True)
    assert await takeover.look(s) == []
    last_heard(program.database, "other", DEAD)
    assert await takeover.look(s) == [run.effect_id]
    assert await takeover.look(s) == []

    def read(tx: Tx) -> tuple[list[Run], list[str], EffectRow]:
        told = tx.events.of_task(run.task_id, after_seq=0, limit=100)
        repaired = [e.summary for e in told if e.type == "task.repaired"]
        return tx.runs.of_task(run.task_id), repaired, tx.effects.get(run.effect_id)

    (failed, again), told, effect = await s.store.read(read)
    assert failed.error is not None
    assert (failed.error.error_class, again.status) == ("interrupted", RunStatus.QUEUED)
    assert effect.status == "failed"
    why = 'The machine "other" has not been heard of for 60 s. The run it had ends as interrupted.'
    assert told == [why]


async def test_what_a_machine_that_died_had_not_begun_is_begun_elsewhere(
    program: bootstrap.Program, repo: Path
) -> None:
    s = program.services
    await join(s, "other")
    run = await at_work(s, repo, "other", begun=False)
    last_heard(program.database, "other", DEAD)
    assert await takeover.look(s) == [run.effect_id]

    def read(tx: Tx) -> tuple[EffectRow, Run]:
        return tx.effects.get(run.effect_id), tx.runs.get(run.id)

    effect, stands = await s.store.read(read)
    assert (effect.status, effect.attempt, effect.host) == ("pending", 2, None)
    assert stands.host is None


async def test_a_machine_that_was_cut_off_itself_judges_nobody(
    program: bootstrap.Program, repo: Path
) -> None:
    s = program.services
    assert s.here is not None
    await join(s, "other")
    await at_work(s, repo, "other", begun=True)
    last_heard(program.database, "other", DEAD)
    s.here.tenure.since = s.here.tenure.clock()
    assert await takeover.look(s) == []
    await machines.settle(s)
    s.here.tenure.until = 0.0
    assert await takeover.look(s) == []


# ---------------------------------------------------------------------------------------- fencing


async def test_what_a_machine_that_was_given_up_writes_is_refused(
    program: bootstrap.Program, repo: Path
) -> None:
    s = program.services
    zombie = await join(s, "other")
    run = await at_work(s, repo, "other", begun=True)
    last_heard(program.database, "other", DEAD)
    await takeover.look(s)
    token = ACTING.set(Term("other", zombie.epoch))
    try:
        with pytest.raises(HostReplaced, match="taken over its work"):
            await s.store.write(lambda tx: tx.runs.update(run.id, session="late"))
        kept = await s.store.read(lambda tx: tx.runs.get(run.id))
        assert kept.session is None
    finally:
        ACTING.reset(token)


async def test_a_machine_that_beats_is_not_buried(program: bootstrap.Program) -> None:
    """Also where it was found dead a moment before."""
    s = program.services
    host = await join(s, "other")
    assert not await s.store.write(lambda tx: tx.hosts.bury(host))
    last_heard(program.database, "other", DEAD)
    assert await s.store.write(lambda tx: tx.hosts.bury(host))
    assert not await s.store.write(lambda tx: tx.hosts.bury(host)), "once"
    assert await s.store.write(lambda tx: tx.hosts.beat(Term("other", host.epoch), 1, None)) is None
