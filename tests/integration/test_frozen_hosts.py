"""A worker that is frozen in the middle of a run, as a real process: another takes the run over,
and what the frozen one comes to when it wakes is refused."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
)
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.domain.event import Logged
from agents_manager.domain.ids import TaskId
from agents_manager.domain.run import Run
from agents_manager.domain.task import Task
from agents_manager.flow import tasks
from agents_manager.flow.ports import Services
from agents_manager.flow.runs.places import job_dir
from agents_manager.settings import Settings
from tests import repos
from tests.repos import scripted_home
from tests.worlds import ANN

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PATIENCE_S = 120.0
RETRIES = {"retries": {"interrupted": {"tries": 3, "delay": 20}}}
DONE = [{"modify": {"path": "a.txt", "append": "b\n"}}, {"commit": "B"}, {"outcome": "pr_ready"}]
ENDS: Mapping[str, Any] = {"implement": [[{"say": "Up."}, {"sleep": 1.0}, *DONE], DONE]}
HANG: Mapping[str, Any] = {"implement": [[{"say": "Up."}, {"hang": True}], DONE]}


@contextmanager
def worker(home: Path, url: str, name: str, *more: str) -> Iterator[subprocess.Popen[str]]:
    program = [sys.executable, "-m", "tests.worker_program", str(home), url, name, *more]
    output = (home / "worker.log").open("a")
    with output, subprocess.Popen(program, stdout=subprocess.PIPE, stderr=output, text=True) as one:
        try:
            assert one.stdout is not None
            assert one.stdout.readline() == "ready\n", (home / "worker.log").read_text()
            yield one
        finally:
            one.send_signal(signal.SIGCONT)
            one.kill()


class Two:
    """Two machines, each with a checkout of its own, and a person who looks on from the second."""

    def __init__(self, folder: Path, url: str) -> None:
        self.url = url
        self.homes = [scripted_home(folder / name, **RETRIES) for name in ("a", "b")]
        self.checkouts = [repos.make_repo(folder / f"repo-{n}", {"a.txt": "a\n"}) for n in "ab"]

    async def start(self, script: Mapping[str, Any]) -> Task:
        async with bootstrap.client(Settings(self.homes[0], self.url)) as one:
            project = await tasks.add_project(one.services, self.checkouts[0], None, None)
            block = f"```agent-script\n{json.dumps(script)}\n```"
            new = tasks.NewTask(title="Change", description=block, pipeline="simple")
            task = await tasks.create(one.services, project, new, ANN)
            await tasks.move(one.services, task.id, ANN)
        async with bootstrap.client(Settings(self.homes[1], self.url)) as two:
            path = str(self.checkouts[1])
            await two.services.store.write(lambda tx: tx.projects.put(project.id, path))
        return task


@pytest.fixture
def two(tmp_path: Path, own_home: Path, shared_url: str) -> Two:
    return Two(tmp_path, shared_url)


@pytest.fixture
async def looking(two: Two) -> AsyncIterator[Services]:
    async with bootstrap.client(Settings(two.homes[1], two.url)) as program:
        yield program.services


async def until(s: Services, task: Task, status: str) -> list[Run]:
    async with asyncio.timeout(PATIENCE_S):
        while (await s.store.read(lambda tx: tx.tasks.get(task.id))).status != status:
            await asyncio.sleep(0.1)
    return await s.store.read(lambda tx: tx.runs.of_task(task.id))


async def up(s: Services, two: Two, task: Task) -> Run:
    """The first run, once its agent has said something."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            for run in await s.store.read(lambda tx: tx.runs.of_task(task.id)):
                output = two.homes[0] / "jobs" / run.id / "1" / "output"
                if output.exists() and output.stat().st_size:
                    return run
            await asyncio.sleep(0.05)


async def events(s: Services, task: Task) -> list[Logged]:
    return await s.store.read(lambda tx: tx.events.of_task(TaskId(task.id), after_seq=0, limit=999))


async def settled(s: Services, task: Task) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while await s.store.read(lambda tx: tx.effects.open(task.id)):
            await asyncio.sleep(0.1)


async def said(log: Path, word: str) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while word not in await asyncio.to_thread(log.read_text):
            await asyncio.sleep(0.1)


async def joined_again(s: Services, name: str, epoch: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while (await s.store.read(lambda tx: tx.hosts.find(name))).epoch < epoch:
            await asyncio.sleep(0.1)


@asynccontextmanager
async def woken(
    two: Two, s: Services, script: Mapping[str, Any], *ways: str
) -> AsyncGenerator[tuple[Run, Callable[[], Awaitable[list[Logged]]]]]:
    """Freezes the machine that has a run, has the other take it over, and wakes it;
    the run, and what asks for the events since then."""
    task = await two.start(script)
    with ExitStack() as stack:
        frozen = stack.enter_context(worker(two.homes[0], two.url, "a", *ways))
        run = await up(s, two, task)
        frozen.send_signal(signal.SIGSTOP)
        stack.enter_context(worker(two.homes[1], two.url, "b"))
        first, second = await until(s, task, "review")
        await settled(s, task)
        assert (first.id, first.error and first.error.error_class) == (run.id, "interrupted")
        assert first.host != second.host
        job = job_dir(s, run.id, 1).relative_to(two.homes[1])
        ended = json.loads((two.homes[0] / job / "exit.json").read_text())
        assert ended["reason"] == ("interrupted" if script is HANG else "exited")
        before = await events(s, task)
        frozen.send_signal(signal.SIGCONT)

        async def late() -> list[Logged]:
            return (await events(s, task))[len(before) :]

        yield first, late
        assert frozen.poll() is None
        assert len(await until(s, task, "review")) == 2


async def test_what_a_frozen_machine_comes_to_is_refused(two: Two, looking: Services) -> None:
    async with woken(two, looking, ENDS, "deaf") as (run, late):
        await said(two.homes[0] / "worker.log", "effect.taken_over")
        assert await late() == []
        assert await looking.store.read(lambda tx: tx.runs.get(run.id)) == run


async def test_without_the_fence_a_frozen_machine_writes_to_what_is_over(
    two: Two, looking: Services
) -> None:
    async with woken(two, looking, ENDS, "deaf", "unfenced") as (run, _):
        async with asyncio.timeout(PATIENCE_S):
            while await looking.store.read(lambda tx: tx.runs.get(run.id)) == run:
                await asyncio.sleep(0.1)
        written = await looking.store.read(lambda tx: tx.runs.get(run.id))
        assert (run.session, written.status) == (None, run.status)
        assert written.session is not None


async def test_the_agent_of_a_frozen_machine_is_ended_by_its_runner(
    two: Two, looking: Services
) -> None:
    async with woken(two, looking, HANG) as (_, late):
        await joined_again(looking, "a", 3)
        assert await late() == []


async def test_the_work_of_a_killed_machine_goes_on_elsewhere(two: Two, looking: Services) -> None:
    s = looking
    task = await two.start(HANG)
    with worker(two.homes[0], two.url, "a") as killed:
        run = await up(s, two, task)
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
        with worker(two.homes[1], two.url, "b"):
            first, second = await until(s, task, "review")
            assert first.id == run.id
            with worker(two.homes[0], two.url, "a"):
                await asyncio.sleep(2)
                assert len(await until(s, task, "review")) == 2
    assert second.host != first.host
