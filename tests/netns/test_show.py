"""What a team of machines promises, shown on machines that have nothing in common but a database
and a remote: work is shared out, and whatever becomes of one of them, nothing is lost or done
twice."""

import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from agents_manager.domain.host import DEAD_AFTER, LEASE
from agents_manager.domain.ids import TaskId
from agents_manager.flow.ports import Tx
from tests.netns import looks
from tests.netns.network import NotHere
from tests.netns.rig import Desk, Host, desk, rig, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SLOTS = 2
CAPACITY = ("--capacity", str(SLOTS))
MOMENT_S = 10.0
"""What a busy machine takes to do what it does at once."""


@pytest.fixture
async def team(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Desk]:
    """Whose agents wait for as many seconds as the test says."""
    try:
        with rig(tmp_path, looks.agent(request.param)) as made:
            async with desk(made) as somebody:
                yield somebody
    except NotHere as reason:
        pytest.xfail(f"Not proven here: no network namespaces ({reason}).")


def waiting(seconds: float) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("team", [seconds], indirect=True)


async def at_work(team: Desk, host: Host, number: int = SLOTS) -> list[TaskId]:
    """Tasks whose agents are at work there, as soon as there are so many."""

    async def look() -> list[TaskId]:
        seen = [s for s in looks.stints(team.rig) if s.host == host.name]
        tasks = [TaskId(s.task) for s in seen if await live(team, TaskId(s.task), s.run)]
        return tasks if len(tasks) >= number else []

    return await until(look, f"{number} agents at work on {host.name}")


async def live(team: Desk, task: TaskId, run: str) -> bool:
    found = await team.s.store.read(lambda tx: tx.runs.live(task))
    return run in {one.id for one in found}


async def runs_of(team: Desk, tasks: Sequence[TaskId]) -> Counter[int]:
    """How many runs tasks took."""

    def read(tx: Tx) -> Counter[int]:
        return Counter(len(tx.runs.of_task(task)) for task in tasks)

    return await team.s.store.read(read)


async def gone(host: Host, within_s: float) -> None:
    """Nothing lives there any more but its worker, and the program that forks its runners."""

    async def look() -> bool:
        others = [each for each in host.processes().values() if " worker " not in each]
        return all("starter.main()" in each and "/jobs/" not in each for each in others)

    await until(look, f"{host.name} without agents", within_s)


@waiting(2)
async def test_work_is_shared_out(team: Desk) -> None:
    hosts = team.rig.join(4, *CAPACITY)
    ordered = await team.order(24)

    await team.approved(ordered)

    assert await looks.violations(team, ordered) == []
    assert await runs_of(team, ordered) == {1: 24}
    done = Counter(stint.host for stint in looks.stints(team.rig))
    assert set(done) == {host.name for host in hosts}
    for host in hosts:
        await gone(host, MOMENT_S)


@waiting(40)
async def test_a_host_that_is_cut_off(team: Desk) -> None:
    first, second = team.rig.join(2, *CAPACITY)
    ordered = await team.order(6)
    had = await at_work(team, first)

    first.cut()
    await gone(first, LEASE.total_seconds() + MOMENT_S)
    await team.approved(ordered)
    assert await runs_of(team, had) == {2: len(had)}

    first.heal()
    more = await team.order(4)
    await at_work(team, first)
    await team.approved(more)
    assert await looks.violations(team, [*ordered, *more]) == []
    await gone(first, MOMENT_S)
    await gone(second, MOMENT_S)


@waiting(40)
async def test_a_host_that_dies(team: Desk) -> None:
    first, second = team.rig.join(2, *CAPACITY)
    ordered = await team.order(6)
    had = await at_work(team, first)

    first.die()
    await team.approved(ordered)

    assert await runs_of(team, had) == {2: len(had)}
    assert await looks.violations(team, ordered) == []
    await gone(second, MOMENT_S)


@waiting(40)
async def test_a_host_that_was_frozen(team: Desk) -> None:
    first, second = team.rig.join(2, *CAPACITY)
    ordered = await team.order(6)
    had = await at_work(team, first)

    first.freeze()
    frozen = time.monotonic()
    await team.approved(ordered)
    assert time.monotonic() - frozen > DEAD_AFTER.total_seconds()
    assert await runs_of(team, had) == {2: len(had)}

    first.thaw()
    await gone(first, MOMENT_S)
    more = await team.order(4)
    await at_work(team, first)
    await team.approved(more)
    assert await looks.violations(team, [*ordered, *more], thawed=first.name) == []
    await gone(first, MOMENT_S)
    await gone(second, MOMENT_S)
