"""Machines that share a database: names, signs of life, and what is taken over of those that are
dead. Each with what it refuses."""

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from agents_manager import bootstrap
from agents_manager.domain.host import DEAD_AFTER, LEASE, HostState, Term
from agents_manager.domain.ids import EffectId
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.task import EffectRow
from agents_manager.engine.dispatcher import Dispatcher, Progress
from agents_manager.engine.lease import Lease
from agents_manager.environment import Place
from agents_manager.errors import (
    AgentsManagerError,
    HostLocked,
    HostNameTaken,
    HostReplaced,
    InvalidInput,
    StoreError,
)
from agents_manager.flow import admission, remedies, settling, takeover, tasks
from agents_manager.flow.ports import ACTING, Services, Tx
from agents_manager.settings import Settings
from agents_manager.store import schema
from agents_manager.store.tx import Database
from tests import machines
from tests.machines import join, last_heard, machine
from tests.worlds import ANN

DEAD = DEAD_AFTER + timedelta(seconds=1)


@pytest.fixture
async def program(tmp_path: Path, shared_url: str) -> AsyncIterator[bootstrap.Program]:
    async with machines.client(tmp_path / "mine", shared_url) as program:
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
    with pytest.raises(HostNameTaken, match=r'called "build" .*--name .*am host remove \w+$'):
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


async def test_a_copy_of_a_machine_is_refused(program: bootstrap.Program) -> None:
    beats, copy = program.database.beats(), program.database.beats()
    with closing(copy):
        with closing(beats):
            await beats.call(lambda hosts: hosts.now())
            with pytest.raises(HostLocked, match="delete the file host-id in the copy"):
                await copy.call(lambda hosts: hosts.now())
        await copy.call(lambda hosts: hosts.now())


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


async def test_an_attempt_that_another_follows_finishes_nothing(
    program: bootstrap.Program, repo: Path
) -> None:
    s = program.services
    await join(s, "other")
    run = await at_work(s, repo, "other", begun=False)
    late = await s.store.read(lambda tx: tx.effects.get(run.effect_id))
    last_heard(program.database, "other", DEAD)
    await takeover.look(s)
    await s.store.write(lambda tx: tx.effects.update(late.id, status="started", host="mine"))
    await settling.finish(s, late)
    stands = await s.store.read(lambda tx: tx.effects.get(late.id))
    assert (stands.status, stands.attempt) == ("started", 2)
    with pytest.raises(HostReplaced, match="not this machine's"):
        await settling.before_leaving(s, late)


async def test_a_machine_that_beats_is_not_buried(program: bootstrap.Program) -> None:
    """Also where it was found dead a moment before."""
    s = program.services
    host = await join(s, "other")
    assert not await s.store.write(lambda tx: tx.hosts.bury(host))
    last_heard(program.database, "other", DEAD)
    assert await s.store.write(lambda tx: tx.hosts.bury(host))
    assert not await s.store.write(lambda tx: tx.hosts.bury(host)), "once"
    assert await s.store.write(lambda tx: tx.hosts.beat(Term("other", host.epoch), 1, None)) is None


# -------------------------------------------------------------------------------- who takes what


class Noted:
    """An engine that notes what it is to perform."""

    def __init__(self) -> None:
        self.begun: list[str] = []

    async def start(self, effect_id: EffectId, attempt: int) -> None:
        self.begun.append(effect_id)

    async def look(self, work: Sequence[tuple[EffectId, int]]) -> dict[EffectId, Progress]:
        return {}

    async def resume(self, effect_id: EffectId, attempt: int) -> None:
        raise AssertionError


async def crashed(*_: object) -> None:
    raise AssertionError


async def started(s: Services, repo: Path, number: int = 1) -> list[Run]:
    """Runs that wait to begin."""
    found: list[Run] = []
    known = await s.store.read(lambda tx: tx.projects.by_path(str(repo)))
    project = known or await tasks.add_project(s, repo, None, None)
    for n in range(number):
        new = tasks.NewTask(title=f"Task {n}", pipeline="simple")
        task = await tasks.create(s, project, new, ANN)
        await tasks.move(s, task.id, ANN)
        found += await s.store.read(lambda tx, t=task: tx.runs.live(t.id))
    return found


async def handed_out(s: Services) -> list[str]:
    engine = Noted()
    await Dispatcher(s, engine, crashed).dispatch()
    return engine.begun


async def why(s: Services, run: Run) -> str | None:
    effect = await s.store.read(lambda tx: tx.effects.get(run.effect_id))
    return admission.waits(effect)


def require(repo: Path, **config: object) -> None:
    folder = repo / ".agents-manager"
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))


async def give(s: Services, repo: Path, host: str) -> None:
    """Another machine has the project, too."""
    project = await s.store.read(lambda tx: tx.projects.by_path(str(repo)))
    assert project is not None
    row = {"host": host, "project_id": project.id, "path": "/elsewhere/x"}
    database = s.store
    assert isinstance(database, Database)
    with database.engines.writer.begin() as connection:
        connection.execute(insert(schema.place), row)


async def test_new_work_goes_to_the_machine_with_the_least_to_do(
    program: bootstrap.Program, repo: Path
) -> None:
    s = program.services
    assert s.here is not None
    await join(s, "zz", capacity=8)
    runs = await started(s, repo, 4)
    assert sorted(await handed_out(s)) == sorted(r.effect_id for r in runs), "nobody else has it"
    runs = await started(s, repo, 4)
    await give(s, repo, "zz")
    assert await handed_out(s) == [], "the other has nothing to do yet"
    await s.store.write(lambda tx: tx.hosts.set_state("zz", HostState.DRAINING))
    assert len(await handed_out(s)) == 4
    given = await s.store.read(lambda tx: tx.runs.get(runs[0].id))
    assert given.host == s.here.host


async def test_work_waits_for_a_machine_that_has_what_it_needs(
    program: bootstrap.Program, repo: Path
) -> None:
    s = program.services
    require(repo, runsOn=["gpu"], agents={"scripted": {"runsOn": ["os=linux"]}})
    (run,) = await started(s, repo)
    assert await handed_out(s) == []
    assert await why(s, run) == "No live machine has the labels gpu, os=linux."
    await join(s, "big", id="zz", labels=["gpu", "os=linux", "fast"])
    assert await handed_out(s) == []
    text = await why(s, run)
    assert text is not None
    assert text.startswith('Project "a repo" is on no live machine with the labels gpu')
    await give(s, repo, "zz")
    await s.store.write(lambda tx: tx.hosts.set_state("zz", HostState.DRAINING))
    assert await handed_out(s) == []
    last_heard(program.database, "zz", DEAD)
    assert await handed_out(s) == []
    assert await why(s, run) == "No live machine has the labels gpu, os=linux."


async def test_a_task_stays_where_its_workspace_is(program: bootstrap.Program, repo: Path) -> None:
    s = program.services
    await join(s, "build-2", capacity=1)
    run = await at_work(s, repo, "build-2", begun=True)
    await give(s, repo, "build-2")

    def ended(tx: Tx) -> None:
        """It ends, and the next run of its task is due."""
        tx.runs.update(run.id, status=RunStatus.FAILED, ended_at=s.clock.now())
        tx.effects.update(run.effect_id, status="failed")
        remedies.rerun(tx, s, run.task_id, ANN, reason="again", run=tx.runs.get(run.id))

    await s.store.write(ended)
    (again,) = await s.store.read(lambda tx: tx.runs.live(run.task_id))
    assert await handed_out(s) == []
    await s.store.write(lambda tx: tx.hosts.set_state("build-2", HostState.DRAINING))
    assert await handed_out(s) == []
    told = 'It waits for machine "build-2", which has its workspace and takes nothing new'
    assert await why(s, again) == f"{told} (draining)."
    last_heard(program.database, "build-2", DEAD)
    assert await handed_out(s) == [again.effect_id]


async def test_a_machine_without_room_on_its_disk_takes_nothing(
    program: bootstrap.Program, repo: Path
) -> None:
    s = program.services
    assert s.here is not None
    full = replace(s, disk=Full())
    (run,) = await started(s, repo)
    assert admission.takes(full) == 0
    term = s.here.tenure.term
    assert term is not None
    await s.store.write(lambda tx: tx.hosts.beat(term, admission.takes(full), 3))
    assert await handed_out(full) == []
    name = (await machines.host_of(s, s.here.host)).name
    room = f'Machine "{name}": too little room on its disk (limits.freeDiskMb).'
    assert await why(s, run) == room


class Full:
    def shortage(self) -> str | None:
        return "There is no room."


async def test_a_machine_leaves_alone_what_another_performs(
    program: bootstrap.Program, repo: Path
) -> None:
    s = program.services
    await join(s, "other")
    await at_work(s, repo, "other", begun=False)
    engine = Noted()
    await Dispatcher(s, engine, crashed).sweep()
    assert engine.begun == []
    assert s.here is not None
    s.here.tenure.until = 0.0
    await started(s, repo)
    assert await handed_out(s) == [], "its lease is over"


# -------------------------------------------------------------------------------------- the lease


@pytest.fixture
def lost() -> list[AgentsManagerError]:
    return []


@pytest.fixture
def lease(program: bootstrap.Program, lost: list[AgentsManagerError]) -> Iterator[Lease]:
    async def let_go() -> None:
        pass

    assert program.services.here is not None
    me = machine("me", id=program.services.here.host)
    with closing(program.database.beats()) as beats:
        yield Lease(program.services, beats, me, let_go, lost.append)


async def test_a_machine_that_was_given_up_ends_its_agents_and_joins_again(
    program: bootstrap.Program, repo: Path, lease: Lease, lost: list[AgentsManagerError]
) -> None:
    s = program.services
    assert s.here is not None
    await lease.join()
    run = await at_work(s, repo, s.here.host, begun=True)
    before = s.here.tenure.term
    host = await s.store.read(lambda tx: tx.hosts.find("me"))
    last_heard(program.database, host.id, DEAD)
    assert await s.store.write(lambda tx: tx.hosts.bury(host))
    assert not await lease.beat()
    assert s.here.tenure.held
    assert before is not None
    assert s.here.tenure.term == Term(host.id, before.epoch + 2)
    assert lost == []
    assert (s.home / "lease").read_text() == f"{s.here.tenure.until:.3f}"
    kept = await s.store.read(lambda tx: tx.runs.get(run.id))
    assert kept.status is RunStatus.RUNNING, "whoever gave it up takes what it had"


async def test_a_machine_that_was_cut_off_takes_over_from_itself(
    s: Services, repo: Path, lease: Lease
) -> None:
    """Nobody else did, as nobody else reached the database either."""
    assert s.here is not None
    tenure = s.here.tenure
    await lease.join()
    run = await at_work(s, repo, s.here.host, begun=True)
    real, tenure.clock = tenure.clock, lambda: real() + LEASE.total_seconds()
    beats, lease._beats = lease._beats, Broken()
    assert not await lease.beat()
    assert not tenure.held
    lease._beats = beats
    assert not await lease.beat()
    assert tenure.held
    kept, *again = await s.store.read(lambda tx: tx.runs.of_task(run.task_id))
    assert kept.error is not None
    assert (kept.error.error_class, len(again)) == ("interrupted", 1)


class Broken:
    async def call(self, fn: object) -> Any:
        raise StoreError("The database cannot be reached.")


async def test_a_newer_start_of_the_same_machine_ends_the_older(
    s: Services, lease: Lease, lost: list[AgentsManagerError]
) -> None:
    await lease.join()
    assert s.here is not None
    await join(s, "me", id=s.here.host)
    assert await lease.beat()
    assert isinstance(lost[0], HostReplaced)
    assert "If the data directory was copied" in lost[0].message


async def test_a_machine_that_was_sent_away_ends(
    s: Services, lease: Lease, lost: list[AgentsManagerError]
) -> None:
    await lease.join()
    assert s.here is not None
    me = s.here.host
    await s.store.write(lambda tx: tx.hosts.set_state(me, HostState.LEFT))
    assert await lease.beat()
    assert "was sent away" in lost[0].message
