"""Work that machines pass on to each other by the remote: nothing begins again from nothing, what
is merged is merged once, and what the remote refuses stays where it is."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from agents_manager.bootstrap import Program
from agents_manager.domain.host import HostState
from agents_manager.domain.task import Project, Task
from agents_manager.errors import WorkElsewhere
from agents_manager.flow import agents, changes, places, removal, sharing, tasks
from tests.hosts import Hosts
from tests.repos import commit, run, sha
from tests.worlds import ANN, GREETING, PATIENCE_S, World


async def _world(program: Program, hosts: Hosts, name: str) -> World:
    """With a checkout of the shared repository, unless the machine has the project."""
    s = program.services
    known = await s.store.read(lambda tx: tx.projects.all())
    project = known[0] if known else None
    if project is None:
        project = await tasks.add_project(s, hosts.checkout(name), "greeter", None)
        project = await agents.consent(s, project, given=True)
    await _until(lambda: _is_here(program, project))
    return World(program, hosts.bare, project)


async def _is_here(program: Program, project: Project) -> bool:
    return places.away(program.services, project) is None


async def _left(program: Program, name: str) -> None:
    """A machine that ended goes on with its own when it is back within the minute; not so here."""
    await program.services.store.write(
        lambda tx: tx.hosts.set_state(tx.hosts.find(name).id, HostState.LEFT)
    )


async def _until(there: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await there():
            await asyncio.sleep(0.05)


@pytest.mark.slow
async def test_one_machine_works_and_another_goes_on(hosts: Hosts) -> None:
    """The second has a clone of its own, and merges what the first one made."""
    async with hosts.worker("one") as one:
        world = await _world(one, hosts, "mine")
        task = await world.start(GREETING, pipeline="simple")
        await world.until(task, "review")
        await world.settled(task)
        pushed = await _pushed(world, task)
    (branch,) = [name for name in run(hosts.bare, "branch").split() if name.startswith("agent/")]
    assert sha(hosts.bare, branch) == pushed

    async with hosts.worker("two") as two:
        other = await _world(two, hosts, "unused")
        assert other.project.path == str(hosts.folder / "two" / "projects" / other.project.id)
        shown = await changes.of_task(other.s, task.id, None)
        assert [file.path for file in shown.files] == ["greeting.txt"]
        await _left(two, "one")
        await other.review(task, "changes_requested", summary="Again, please.")
        await other.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "run again")
        await other.until(task, "review")
        assert sha(hosts.bare, branch) != pushed
        run(hosts.bare, "merge-base", "--is-ancestor", pushed, branch)
        await other.review(task, "approved")
        await other.until(task, "done")
        await other.settled(task)
        clone = hosts.folder / "two" / "projects" / other.project.id
        assert (clone / "greeting.txt").read_text() == "hi\nhello\nagain\n"
    assert run(hosts.bare, "show", "main:greeting.txt") == "hi\nhello\nagain"


async def _pushed(world: World, task: Task) -> str:
    heads = await world.s.store.read(lambda tx: sharing.heads(tx, task.id))
    assert await world.s.store.read(lambda tx: sharing.only_on(tx, task.id)) is None
    return next(iter(heads.values())).sha


@pytest.mark.slow
async def test_a_remote_that_refuses_keeps_the_work_where_it_is(hosts: Hosts) -> None:
    hook = hosts.refuse_pushes("No agents here", "refs/heads/agent/")
    async with hosts.worker("one") as one:
        world = await _world(one, hosts, "mine")
        task = await world.start(GREETING, pipeline="simple")
        await world.until(task, "review")
        refused = [e for e in await world.events(task) if e.type == "git.push_refused"]
        assert "No agents here" in refused[0].summary
        assert world.s.here
        assert await _only_on(world, task) == world.s.here.host
        await world.settled(task)
        assert "only, as the remote did not take it" in (await world.view(task)).why

    async with hosts.worker("two") as two:
        other = await _world(two, hosts, "unused")
        with pytest.raises(WorkElsewhere, match="cannot be shown here"):
            await changes.of_task(other.s, task.id, None)
        await _left(two, "one")
        await other.review(task, "changes_requested", summary="Again, please.")
        view = await other.wait(task, lambda v: bool(v.prompts) and v.run is None, "asked")
        assert "cannot be had here" in str(view.prompts[0].payload)
        assert view.runs[-1].started_at is None
        await other.choose(task, "afresh")
        await other.wait(task, lambda v: v.runs[-1].branch is not None and v.run is None, "again")
        assert "git.work_left" in await other.types(task)

    hook.unlink()
    async with hosts.worker("one") as one:
        world = await _world(one, hosts, "unused")
        assert await _only_on(world, task) is not None  # That of the other machine, by now.


async def _only_on(world: World, task: Task) -> str | None:
    return await world.s.store.read(lambda tx: sharing.only_on(tx, task.id))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
async def test_a_merge_goes_on_top_of_what_others_pushed(hosts: Hosts, method: str) -> None:
    mine = hosts.checkout("mine")
    commit(mine, {".agents-manager/config.json": f'{{"forge": {{"mergeMethod": "{method}"}}}}'})
    run(mine, "push", "-q", "origin", "main")
    async with hosts.worker("one") as one:
        project = await tasks.add_project(one.services, mine, "greeter", None)
        await agents.consent(one.services, project, given=True)
        world = World(one, mine, project)
        task = await world.start(GREETING, pipeline="simple")
        await world.until(task, "review")
        theirs = hosts.checkout("theirs")
        commit(theirs, {"other.txt": "theirs\n"}, "Meanwhile")
        run(theirs, "push", "-q", "origin", "main")
        await world.review(task, "approved")
        await world.until(task, "done")
        await world.settled(task)
    log = run(hosts.bare, "log", "--format=%s", "main")
    assert log.count("Meanwhile") == 1
    assert run(hosts.bare, "show", "main:greeting.txt") == "hi\nhello"
    assert run(hosts.bare, "show", "main:other.txt") == "theirs"
    assert sha(mine, "main") == sha(hosts.bare, "main")


@pytest.mark.slow
async def test_a_base_with_commits_of_its_own_is_not_merged_into(hosts: Hosts) -> None:
    mine = hosts.checkout("mine")
    async with hosts.worker("one") as one:
        project = await tasks.add_project(one.services, mine, "greeter", None)
        await agents.consent(one.services, project, given=True)
        world = World(one, mine, project)
        task = await world.start(GREETING, pipeline="simple")
        await world.until(task, "review")
        commit(mine, {"own.txt": "mine\n"}, "Not pushed")
        before = sha(hosts.bare, "main")
        await world.review(task, "approved")
        view = await world.wait(task, lambda v: bool(v.prompts), "asked again")
        assert "git push origin main" in (view.prompts[0].note or "")
        assert sha(hosts.bare, "main") == before
        run(mine, "push", "-q", "origin", "main")
        await world.review(task, "approved")
        await world.until(task, "done")
    assert "Not pushed" in run(hosts.bare, "log", "--format=%s", "main")


@pytest.mark.slow
async def test_a_clone_that_fails_is_told_once_and_made_when_it_can_be(hosts: Hosts) -> None:
    async with hosts.client("one") as one:
        project = await tasks.add_project(one.services, hosts.checkout("mine"), "greeter", None)
        await places.set_remote(one.services, "greeter", str(hosts.folder / "nowhere"), ANN)
        task = await tasks.create(one.services, project, tasks.NewTask(title="Wait"), ANN)
        async with hosts.worker("two") as two:
            away = await two.services.store.read(lambda tx: tx.projects.get(project.id))
            world = World(two, hosts.bare, away)

            async def failed() -> bool:
                return "could not be cloned" in (places.away(two.services, away) or "")

            await _until(failed)
            told = [e for e in await world.events(task) if e.type == "project.clone_failed"]
            assert len(told) == 1
            assert "nowhere" in told[0].summary
            await places.set_remote(one.services, "greeter", str(hosts.bare), ANN)
            await _until(lambda: _is_here(two, away))

            async def placed() -> bool:
                lies = await one.services.store.read(lambda tx: places.of(tx, project))
                return away.path in {one.path for one in lies}

            await _until(placed)
            assert world.s.here
            await removal.remove_project(one.services, "greeter", ANN, force=True)
            clone = world.s.here.projects / project.id

            async def gone() -> bool:
                return not clone.exists()

            await _until(gone)
