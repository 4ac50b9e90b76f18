"""Do a prompt and a handoff take longer when much was found out? 100,000 findings beside 100, in
turns: what a run is told is chosen, and what it found out is kept, each in its one transaction."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

from agents_manager import bootstrap
from agents_manager.bootstrap import Program
from agents_manager.domain.handoff import Gotcha, Handoff, HandoffOutcome, Level, Pattern
from agents_manager.domain.ids import RunId
from agents_manager.domain.knowledge import KeptHandoff, Node, NodeKind, NodeState, Source
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.task import Project, Task
from agents_manager.flow import tasks
from agents_manager.flow.memory import absorb, recall
from agents_manager.flow.ports import Services, Tx
from agents_manager.store import knowledge_tables
from bench.places import ANN, place
from bench.rows import Row, quantile

SIZES = (100, 100_000)
TIMES = 200
WARM_UP = 10
WRITTEN = 2_000
"""By the functions that keep them; the others are copies of these."""
SOURCES = knowledge_tables.source.name
FOUND_BY = (knowledge_tables.tag, knowledge_tables.file)
GOAL = 2.0
WORDS, TAGS, FILES = 4_000, 200, 5_000
COMMON = 1_000
"""As many of the words as there are in texts of every kind."""
SELDOM = "zz"
KINDS = (NodeKind.PATTERN, NodeKind.GOTCHA, NodeKind.DECISION)


@dataclass
class Place:
    s: Services
    project: Project
    run: Run
    task: Task
    chance: random.Random
    """The same for both, so that both are asked the same."""


def run() -> list[Row]:
    return asyncio.run(_run())


async def _run() -> list[Row]:
    async with AsyncExitStack() as stack:
        places = [await stack.enter_async_context(filled(size)) for size in SIZES]
        rows: list[Row] = []
        for name, ask in QUESTIONS.items():
            taken: tuple[list[float], list[float]] = ([], [])
            for _ in range(TIMES + WARM_UP):
                for where, times in zip(places, taken, strict=True):
                    times.append(await ask(where))
            rows.append(_row(name, *(times[WARM_UP:] for times in taken)))
        return rows


def _row(name: str, few: Sequence[float], many: Sequence[float]) -> Row:
    ratio = quantile(many, 0.95) / quantile(few, 0.95)
    return Row(
        name=f"{name}, {SIZES[1]:,} findings",
        ours=_told(many),
        beside=f"{_told(few)} ({SIZES[0]} findings)",
        ratio=ratio,
        goal=f"p95 <= {GOAL:.0f} x",
        met=ratio <= GOAL,
    )


def _told(times: Sequence[float]) -> str:
    middle, most = (quantile(times, share) * 1000 for share in (0.5, 0.95))
    return f"p50 {middle:.2f}, p95 {most:.2f} ms"


# ------------------------------------------------------------------------------ what is asked


async def _recall(where: Place) -> float:
    """For another task each time, as the database would remember the answer."""
    new = tasks.NewTask(
        title=_text(where.chance, 5),
        description=f"{_text(where.chance, 60)} {_file(where.chance)} {_file(where.chance)}",
        tags=tuple({_tag(where.chance) for _ in range(3)}),
        complexity="high",
        pipeline="simple",
    )
    task = await tasks.create(where.s, where.project, new, ANN)
    begun = time.perf_counter()
    known = await where.s.store.read(lambda tx: recall.recalled(tx, where.s, task, (), None))
    spent = time.perf_counter() - begun
    assert known.memory.hits
    assert known.found.hits
    return spent


async def _absorb(where: Place) -> float:
    """Of the size that handoffs have: three patterns and three gotchas, all of them new."""
    new = tasks.NewTask(title=_text(where.chance, 5), pipeline="simple")
    task = await tasks.create(where.s, where.project, new, ANN)
    run = replace(where.run, id=RunId(f"{task.id}-1"), task_id=task.id, status=RunStatus.COMPLETED)
    kept = _handoff(where, run)
    await where.s.store.write(lambda tx: tx.runs.add(run))
    begun = time.perf_counter()
    await where.s.store.write(lambda tx: absorb.absorb(tx, where.s, run, task, kept, "a" * 40))
    return time.perf_counter() - begun


QUESTIONS: dict[str, Callable[[Place], Awaitable[float]]] = {
    "function: what a run is told is chosen": _recall,
    "function: what a run found out is kept": _absorb,
}


def _handoff(where: Place, run: Run) -> KeptHandoff:
    chance = where.chance
    levels = (Level.HIGH, Level.MEDIUM, Level.LOW)
    handoff = Handoff(
        outcome=HandoffOutcome.COMPLETED,
        patterns_discovered=tuple(
            Pattern(pattern=_text(chance), location=_file(chance), applies_to=(_tag(chance),))
            for _ in range(3)
        ),
        gotchas=tuple(
            Gotcha(
                issue=_text(chance),
                discovered_in=_text(chance, 4),
                mitigation=_text(chance, 8),
                severity=level,
            )
            for level in levels
        ),
    )
    return KeptHandoff(
        run_id=run.id,
        task_id=run.task_id,
        project_id=where.project.id,
        handoff=handoff,
        source="message",
        completeness=1.0,
        at=where.s.clock.now(),
    )


# ----------------------------------------------------------------------------- what there is


@asynccontextmanager
async def filled(size: int) -> AsyncIterator[Place]:
    with place() as (settings, repo):
        async with bootstrap.client(settings) as program:
            s = program.services
            project = await tasks.add_project(s, repo, None, None)
            new = tasks.NewTask(title="Add auth", pipeline="simple")
            task = await tasks.create(s, project, new, ANN)
            await tasks.move(s, task.id, ANN)
            (started,) = await s.store.read(lambda tx: tx.runs.live(task.id))
            first = min(size, WRITTEN)
            await s.store.write(lambda tx: _add(tx, project, started, first))
            _copies(program, first, size // first)
            yield Place(s, project, started, task, random.Random(7))


def _add(tx: Tx, project: Project, run: Run, many: int) -> None:
    chance = random.Random(many)
    for number in range(many):
        kind = KINDS[number % len(KINDS)]
        at = run.created_at - timedelta(minutes=number)
        source = Source(
            task_id=None,
            run_id=None,
            by="ann",
            commit="a" * 40,
            file=_file(chance),
            lines=None,
            words="",
            at=at,
        )
        severity = (Level.HIGH, Level.MEDIUM, Level.LOW)[number % 7 % 3]
        tx.knowledge.add(
            Node(
                id=f"{number:06}-{run.id}",
                project_id=project.id,
                kind=kind,
                text=_text(chance),
                detail={"mitigation": _text(chance, 8)},
                severity=severity if kind is NodeKind.GOTCHA else None,
                tags=(_tag(chance), _tag(chance)),
                state=NodeState.ACTIVE,
                sources=(source,),
                used=0,
                helpful=0,
                created_at=at,
                updated_at=at,
                confirmed_at=None,
                confirmed_commit=None,
                version=1,
            )
        )


def _copies(program: Program, many: int, times: int) -> None:
    """All of them again and again, by one statement a table."""
    numbers = "WITH RECURSIVE many(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < ?)"
    tables = (knowledge_tables.node, knowledge_tables.source, *FOUND_BY)
    with program.database.engines.writer.begin() as connection:
        for table in tables if times > 1 else ():
            own = "id" if "id" in table.c else "node"
            names = [c.name for c in table.columns if (table.name, c.name) != (SOURCES, "number")]
            copied = ", ".join(_copied(name, many) for name in names)
            quoted = ", ".join(f'"{name}"' for name in names)
            connection.exec_driver_sql(
                f"INSERT INTO {table.name} ({quoted}) {numbers} "
                f"SELECT {copied} FROM many, {table.name} ORDER BY n, {own}",
                (times - 1,),
            )


def _copied(name: str, many: int) -> str:
    if name in ("number", "node"):
        return f'"{name}" + n * {many}'
    if name == "words":
        return f"replace(\"words\", '{SELDOM}', '{SELDOM}' || n)"
    return f"\"{name}\" || '.' || n" if name in ("id", "fingerprint") else f'"{name}"'


def _often(chance: random.Random, most: int) -> int:
    """Some of many, few of them very often, as it is with words."""
    return int(most ** chance.random()) - 1


def _text(chance: random.Random, words: int = 12) -> str:
    return " ".join(_word(_often(chance, WORDS), chance) for _ in range(words))


def _word(number: int, chance: random.Random) -> str:
    """Each copy has seldom words of its own, else there were too few of them for so many texts."""
    copy = chance.randrange(SIZES[1] // WRITTEN) or ""
    return f"w{number:x}ord" if number < COMMON else f"w{number:x}{SELDOM}{copy}"


def _tag(chance: random.Random) -> str:
    return f"tag-{_often(chance, TAGS)}"


def _file(chance: random.Random) -> str:
    number = _often(chance, FILES)
    return f"src/part{number % 50}/file{number}.py"
