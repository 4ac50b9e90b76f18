"""Projects on several machines that share a database: where each has them."""

import pytest

from agents_manager.errors import InvalidConfig, InvalidInput, ProjectExists
from agents_manager.flow import branches, places, sharing, tasks
from agents_manager.flow.branches import Ground
from tests import machines
from tests.hosts import Hosts
from tests.repos import commit, make_repo, refs, run
from tests.worlds import ANN


async def test_a_checkout_on_another_machine_is_the_same_project(hosts: Hosts) -> None:
    mine, theirs = hosts.checkout("mine"), hosts.checkout("theirs")
    run(mine, "remote", "set-url", "origin", f"file://ada:secret@/{hosts.bare}")
    stranger = make_repo(hosts.folder / "stranger")
    async with hosts.client("one") as one, hosts.client("two") as two:
        a, b = one.services, two.services
        project = await tasks.add_project(a, mine, "greeter", None, by=ANN)
        assert project.remote == f"file:///{hosts.bare}"
        away = await b.store.read(lambda tx: tx.projects.get(project.id))
        assert "clones it from" in (places.away(b, away) or "")
        with pytest.raises(InvalidConfig, match="not on this machine"):
            b.configs.of(away)

        placed = await tasks.add_project(b, theirs, None, None, by=ANN)
        assert (placed.id, placed.name, placed.path) == (project.id, "greeter", str(theirs))
        assert places.away(b, placed) is None
        assert b.configs.of(placed).default_agent == "scripted"
        lies = await a.store.read(lambda tx: places.of(tx, project))
        assert {one.path for one in lies} == {str(mine), str(theirs)}
        assert (await a.store.read(lambda tx: tx.projects.get(project.id))).path == str(mine)

        with pytest.raises(ProjectExists, match=f'lies at "{theirs}" on this machine already'):
            await tasks.add_project(b, hosts.checkout("again"), None, None)
        both = hosts.folder / "both"
        await tasks.add_project(a, make_repo(both), None, None)
        run(both, "remote", "add", "origin", str(stranger))
        with pytest.raises(ProjectExists, match="a different repository"):
            await tasks.add_project(b, both, "another", None)

        with pytest.raises(InvalidInput, match="password"):
            await places.set_remote(a, "greeter", "https://ada:secret@example.org/x", ANN)
        changed = await places.set_remote(a, "greeter", str(hosts.bare), ANN)
        assert changed.remote == str(hosts.bare)


async def test_a_machine_that_lost_its_lease_pushes_nothing(hosts: Hosts) -> None:
    checkout = hosts.checkout("ours")
    async with hosts.client("ours-home") as program:
        s = program.services
        project = await tasks.add_project(s, checkout, "shop", None)
        task = await tasks.create(s, project, tasks.NewTask(title="Paint it"), ANN)
        run(checkout, "checkout", "-q", "-b", "agent/paint")
        commit(checkout, {"door.txt": "blue"})
        ground = Ground(branch="agent/paint", base="main", title="Paint it")
        await s.store.write(lambda tx: branches.keep(tx, s, task, ground))
        await machines.settle(s)
        assert s.here
        until, s.here.tenure.until = s.here.tenure.until, 0.0
        await sharing.share(s, task, project, [ground])
        assert "agent/paint" not in refs(hosts.bare)
        told = await s.store.read(lambda tx: tx.events.of_task(task.id, after_seq=0, limit=9))
        assert "others may have its tasks" in told[-1].summary
        s.here.tenure.until = until
        await sharing.share(s, task, project, [ground])
        assert "refs/heads/agent/paint" in refs(hosts.bare)
