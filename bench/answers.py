"""How many questions a second can be asked and answered, durably? Beside LangGraph's interrupt and
resume on its own SQLite saver.

One cycle of ours is two transactions: the run's end with its question (status, history, events,
prompt), and the answer (prompt, event, status, history, run and the effect that resumes the agent).
"""

import asyncio
import os
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver  # pyright: ignore[reportMissingImports]
from langgraph.graph import END, START, StateGraph  # pyright: ignore[reportMissingImports]
from langgraph.types import Command, interrupt  # pyright: ignore[reportMissingImports]

from agents_manager import bootstrap
from agents_manager.domain.ids import RunId, TaskId
from agents_manager.flow import prompts, tasks
from agents_manager.flow.ports import Services
from agents_manager.flow.runs import close
from agents_manager.flow.runs.verdict import Verdict
from bench.places import ANN, ANSWER, QUESTION, place
from bench.rows import Row

BATCHES = 30
CYCLES = 10
GOAL = 10


def run() -> list[Row]:
    # Whatever the user traces elsewhere: nothing here may leave the machine.
    os.environ.update(LANGSMITH_TRACING="false", LANGCHAIN_TRACING_V2="false")
    return asyncio.run(_run())


async def _run() -> list[Row]:
    ours: list[float] = []
    alike: list[float] = []
    shipped: list[float] = []
    with place() as (settings, repo):
        folder = settings.home.parent
        async with bootstrap.client(settings) as program:
            s = program.services
            project = await tasks.add_project(s, repo, None, None)
            with (
                _langgraph(folder / "alike.db", "NORMAL") as same_promise,
                _langgraph(folder / "shipped.db", "FULL") as as_shipped,
            ):
                for batch in range(BATCHES + 1):
                    ours.append(await _ours(s, await _started(s, project, CYCLES)))
                    alike.append(_theirs(same_promise, batch))
                    shipped.append(_theirs(as_shipped, batch))
    return [
        _row("question and answer committed, no agent", ours, alike, "LangGraph"),
        _row("the same, LangGraph as it ships", ours, shipped, "LangGraph, synchronous=FULL"),
    ]


def _row(name: str, ours: list[float], theirs: list[float], beside: str) -> Row:
    # The first batch warms up; the median passes over those that something else disturbed.
    own, other = statistics.median(ours[1:]), statistics.median(theirs[1:])
    return Row(
        name=name,
        ours=f"{CYCLES / own:,.0f} cycles/s",
        beside=f"{CYCLES / other:,.0f} cycles/s ({beside})",
        ratio=other / own,
        goal=f">= {GOAL} x",
        met=other / own >= GOAL,
    )


async def _started(s: Services, project: Any, number: int) -> list[tuple[TaskId, RunId]]:
    """Tasks whose agent is at work, as far as the database knows."""
    started: list[tuple[TaskId, RunId]] = []
    for _ in range(number):
        task = await tasks.create(s, project, tasks.NewTask(title="t", pipeline="simple"), ANN)
        await tasks.move(s, task.id, ANN)
        (run,) = await s.store.read(lambda tx, id=task.id: tx.runs.live(id))
        started.append((task.id, run.id))
    return started


async def _ours(s: Services, started: list[tuple[TaskId, RunId]]) -> float:
    """Seconds of the two commits of each cycle; finding out the prompt's id is nobody's work."""
    spent = 0.0
    for task_id, run_id in started:
        verdict = Verdict(outcome="needs_info", payload=QUESTION, inferred=False)
        begun = time.perf_counter()
        await close.close(run_id, verdict, s)
        spent += time.perf_counter() - begun
        [asked] = await s.store.read(lambda tx, id=task_id: tx.prompts.pending(id))
        begun = time.perf_counter()
        await prompts.answer(s, asked.id, ANSWER, ANN)
        spent += time.perf_counter() - begun
    return spent


class State(TypedDict):
    answer: str


@contextmanager
def _langgraph(path: Path, synchronous: str) -> Iterator[Callable[[str], None]]:
    """NORMAL is what our own store promises about power cuts, FULL what the saver does if nobody
    says otherwise. It wants the standard library's SQLite, which is harmless: the file is its own.
    """
    connection = sqlite3.connect(str(path), check_same_thread=False)
    with closing(connection):
        saver = SqliteSaver(connection)
        saver.setup()
        connection.execute(f"PRAGMA synchronous={synchronous}")
        builder = StateGraph(State)
        builder.add_node("ask", _ask)
        builder.add_edge(START, "ask")
        builder.add_edge("ask", END)
        graph = builder.compile(checkpointer=saver)

        def cycle(thread: str) -> None:
            config: Any = {"configurable": {"thread_id": thread}}
            graph.invoke({"answer": ""}, config)
            done = graph.invoke(Command(resume=ANSWER), config)
            assert done["answer"] == "REST"

        yield cycle


def _ask(_: State) -> State:
    answer = interrupt(QUESTION)
    return {"answer": answer["answers"][0]["option"]}


def _theirs(cycle: Callable[[str], None], batch: int) -> float:
    begun = time.perf_counter()
    for index in range(CYCLES):
        cycle(f"{batch}-{index}")
    return time.perf_counter() - begun
