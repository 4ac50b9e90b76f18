"""How long does it take to write what an agent is told, when little and when much has happened?
The same task after 10 and after 1,000 events: questions with their answers, runs, transcripts."""

import asyncio
import json
import time

from agents_manager import bootstrap
from agents_manager.domain.context import TOTAL
from agents_manager.domain.ids import RunId, TaskId
from agents_manager.domain.run import RunStatus
from agents_manager.domain.task import Project
from agents_manager.flow import prompts, tasks
from agents_manager.flow.ports import Services
from agents_manager.flow.runs import brief, close
from agents_manager.flow.runs.places import OUTPUT, job_dir
from agents_manager.flow.runs.verdict import Verdict
from bench.places import ANN, ANSWER, QUESTION, place
from bench.rows import Row, quantile

SIZES = (10, 1_000)
TIMES = 50
GOAL_MS = 50.0
SAID = ({"type": "assistant", "text": "I look. " * 20}, {"type": "tool_use", "name": "shell"})
LINES = 200
"""Messages that each run printed."""


def run() -> list[Row]:
    return asyncio.run(_run())


async def _run() -> list[Row]:
    with place() as (settings, repo):
        async with bootstrap.client(settings) as program:
            s = program.services
            project = await tasks.add_project(s, repo, None, None)
            runs = [await _walked(s, project, size) for size in SIZES]
            taken: tuple[list[float], list[float]] = ([], [])
            for _ in range(TIMES + 5):
                for run_id, times in zip(runs, taken, strict=True):
                    begun = time.perf_counter()
                    await brief.brief(run_id, s)
                    times.append((time.perf_counter() - begun) * 1000)
            told = await s.store.read(lambda tx: tx.runs.get(runs[1]).prompt)
    assert told is not None
    assert len(told) <= TOTAL
    few, many = (quantile(times[5:], 0.5) for times in taken)
    return [
        Row(
            name=f"function: the prompt after {SIZES[1]:,} events ({len(told):,} characters)",
            ours=f"{many:.1f} ms",
            beside=f"{few:.1f} ms ({SIZES[0]} events)",
            ratio=many / few,
            goal=f"p50 <= {GOAL_MS:.0f} ms",
            met=many <= GOAL_MS,
        )
    ]


async def _walked(s: Services, project: Project, events: int) -> RunId:
    """A run that is about to be told what happened."""
    task = await tasks.create(s, project, tasks.NewTask(title="Add auth", pipeline="simple"), ANN)
    await tasks.move(s, task.id, ANN)
    while await _count(s, task.id) < events:
        asked = await _live(s, task.id)
        output = job_dir(s, asked, 1) / OUTPUT
        output.parent.mkdir(parents=True)
        output.write_text("".join(json.dumps(line) + "\n" for line in SAID * (LINES // 2)))
        ask = Verdict(outcome="needs_info", payload=QUESTION, inferred=False)
        await close.close(asked, ask, s)
        [prompt] = await s.store.read(lambda tx: tx.prompts.pending(task.id))
        await prompts.answer(s, prompt.id, ANSWER, ANN)
    return await _live(s, task.id)


async def _live(s: Services, task_id: TaskId) -> RunId:
    (live,) = await s.store.read(lambda tx: tx.runs.live(task_id))
    begun = {"agent": "scripted", "status": RunStatus.RUNNING, "started_at": s.clock.now()}
    await s.store.write(lambda tx: tx.runs.update(live.id, **begun))
    return live.id


async def _count(s: Services, task_id: TaskId) -> int:
    return len(await s.store.read(lambda tx: tx.events.of_task(task_id, after_seq=0, limit=2000)))
