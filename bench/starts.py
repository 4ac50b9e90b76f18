"""How long does an agent take to start after an answer, in the process that took the answer and
from a command beside a running server? The agent is a shell script in the default sandbox. The
runner makes the file `stderr` right before it starts the sandbox, and the agent's output goes to
`output`. A file bears the time of the last clock tick, so a tick is added."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents_manager import bootstrap
from agents_manager.domain.prompt import Prompt
from agents_manager.domain.task import Task
from agents_manager.flow import prompts
from agents_manager.flow.ports import Services
from agents_manager.settings import Settings
from bench import commands, programs
from bench.places import ANN, ANSWER, place
from bench.rows import Row, quantile

ANSWERS = 25
GOAL_S = 0.1
COMMANDS = 20
GOAL_FOREIGN_S = 0.2
TICK_S = time.clock_getres(5)
"""Of Linux's CLOCK_REALTIME_COARSE, by which files get their times."""


@dataclass(frozen=True, slots=True)
class Started:
    """Seconds from the answer until each was there."""

    commit: float
    sandbox: float
    agent: float


def run() -> list[Row]:
    return [*asyncio.run(_in_process()), *asyncio.run(_by_command())]


async def _in_process() -> list[Row]:
    with place() as (settings, repo):
        commands.install(settings, commands.ASKS, 1)
        async with bootstrap.worker(settings) as program:
            s = program.services
            task = await asking_task(s, repo)
            found = [await _answered(s, task) for _ in range(ANSWERS + 1)][1:]
    return [
        Row(
            name=f"answer -> committed, {ANSWERS} answers",
            ours=_both([one.commit for one in found]),
        ),
        Row(name="answer -> sandbox starts", ours=_both([o.sandbox for o in found])),
        goal_row("answer -> agent's first output", [o.agent for o in found], GOAL_S),
    ]


async def _answered(s: Services, task: Task) -> Started:
    asked = await question(s, task)
    begun = time.time()
    await prompts.answer(s, asked.id, ANSWER, ANN)
    committed = time.time()
    await question(s, task)
    return await _started(s, task, begun, committed)


async def _by_command() -> list[Row]:
    with place() as (settings, repo):
        commands.install(settings, commands.ASKS, 1)
        with programs.serve(settings.home):
            found = await _all_commanded(settings, repo)
    return [
        Row(
            name=f"am prompt answer -> committed, {COMMANDS} times",
            ours=_both([one.commit for one in found]),
        ),
        goal_row(
            "another process's commit -> agent's first output",
            [one.agent - one.commit for one in found],
            GOAL_FOREIGN_S,
        ),
        Row(
            name="am prompt answer -> agent's first output",
            ours=_both([one.agent for one in found]),
        ),
    ]


async def _all_commanded(settings: Settings, repo: Path) -> list[Started]:
    async with bootstrap.client(settings) as program:
        s = program.services
        task = await asking_task(s, repo)
        return [await _commanded(s, task, settings.home) for _ in range(COMMANDS + 1)][1:]


async def _commanded(s: Services, task: Task, home: Path) -> Started:
    asked = await question(s, task)
    begun = time.time()
    await asyncio.to_thread(programs.run, home, "prompt", "answer", asked.id, "--option", "REST")
    await question(s, task)
    answered = await s.store.read(lambda tx: tx.prompts.get(asked.id))
    # The time the answer bears is taken inside its transaction, a little before the commit.
    assert answered.responded_at is not None
    return await _started(s, task, begun, answered.responded_at.timestamp())


async def _started(s: Services, task: Task, begun: float, committed: float) -> Started:
    run = (await s.store.read(lambda tx: tx.runs.of_task(task.id)))[-1]
    job = s.jobs_dir / run.id / "1"
    return Started(
        commit=committed - begun,
        sandbox=_written(job / "stderr") - begun,
        agent=_written(job / "output") - begun,
    )


async def asking_task(s: Services, repo: Path) -> Task:
    """A task whose agent is the installed one, which asks."""
    task_id = await commands.start(s, await commands.project_of(s, repo))
    return await s.store.read(lambda tx: tx.tasks.get(task_id))


async def question(s: Services, task: Task) -> Prompt:
    """The task's next question, once its agent has asked it."""
    async with asyncio.timeout(20):
        while True:
            pending = await s.store.read(lambda tx: tx.prompts.pending(task.id))
            if pending:
                return pending[0]
            await asyncio.sleep(0.1)


def _written(path: Path) -> float:
    return path.stat().st_mtime + TICK_S


def goal_row(name: str, seconds: Sequence[float], goal_s: float) -> Row:
    return Row(
        name=name,
        ours=_both(seconds),
        goal=f"p95 <= {goal_s * 1000:.0f} ms",
        met=quantile(seconds, 0.95) <= goal_s,
    )


def _both(seconds: Sequence[float]) -> str:
    p50, p95 = (quantile(seconds, share) * 1000 for share in (0.5, 0.95))
    return f"p50 {p50:.0f}, p95 {p95:.0f} ms"
