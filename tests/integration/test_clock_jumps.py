"""The clock of a machine that jumps by a day, forward or back, while the server works: nothing is
ended, told or removed for it that would not have been a day later, and nothing waits a day."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agents_manager.domain.run import RunStatus
from agents_manager.flow import supervisor
from agents_manager.flow.retention.sweep import sweep
from tests import repos, worlds

DAY = timedelta(days=1)
ASKS = {"implement": [[{"ask": {"question": "Which?"}}]]}


class Jumping:
    def __init__(self) -> None:
        self.by = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.by


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "EVERY_S", 0.05)
    monkeypatch.setattr(supervisor, "TIMERS_S", 0.05)


GO_ON = "Go on"
WORKS = {
    "implement": [
        [{"meet": GO_ON}, {"outcome": {"name": "no_changes", "payload": {"reason": "Done"}}}]
    ]
}
"""Until it is told to go on."""


@pytest.mark.worktree
@pytest.mark.parametrize("days", [1, -1])
async def test_a_run_does_not_notice(tmp_path: Path, repo: Path, days: int) -> None:
    clock = Jumping()
    async with worlds.working(tmp_path / "home", repo, clock=clock) as world:
        task = await world.start(WORKS, pipeline="simple")
        waiting = await world.start(ASKS, pipeline="simple", title="Asks")
        await world.wait(task, lambda v: v.run is not None and v.run.status == "running", "working")
        view = await world.wait(waiting, lambda v: bool(v.prompts), "waiting for a person")
        clock.by = days * DAY
        await asyncio.sleep(0.3)
        clock.by -= days * DAY / 2
        report = await sweep(world.s, dry_run=False)
        repos.commit(repo, {"go": "on"}, GO_ON)
        await world.settled(task)
        [run] = await world.s.store.read(lambda tx: tx.runs.of_task(task.id))
        assert (run.status, run.outcome) == (RunStatus.COMPLETED, "no_changes")
        events = await world.events(task) + await world.events(waiting)
        told = Counter(event.type for event in events)
        assert told["prompt_reminded"] <= 1
        assert told["task.repaired"] == told["agent.failed"] == 0
        assert report.items == []
        for one in (task, waiting):
            assert [e.seq for e in await world.events(one)] == list(
                range(1, 1 + len(await world.events(one)))
            )
        assert (await world.view(waiting)).prompts[0].id == view.prompts[0].id


async def test_what_is_to_be_done_at_once_is_though_the_clock_was_put_back(
    tmp_path: Path, repo: Path
) -> None:
    clock = Jumping()
    async with worlds.working(tmp_path / "home", repo, clock=clock) as world:
        clock.by = DAY
        task = await world.create(worlds.GREETING, pipeline="simple")
        moved = asyncio.Event()

        def put_back() -> None:
            clock.by = timedelta()
            moved.set()

        world.s.store.after_commit(put_back)
        await worlds.tasks.move(world.s, task.id, worlds.ANN)
        await world.until(task, "review")
        assert moved.is_set()
