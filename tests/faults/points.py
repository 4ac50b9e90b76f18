"""Counted points: the places where a process may be killed. They are laid around the real adapters
from outside, in the process that is going to die, so the product has no hook for them. Fakes would
not do: what is proven is that the real ones survive."""

import asyncio
import functools
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, event

from agents_manager import bootstrap
from agents_manager.checks.command import ProjectChecks
from agents_manager.engine.durable import Durable, RecordedSteps
from agents_manager.engine.runners import DetachedRunners
from agents_manager.flow import hooks
from agents_manager.scm import git as scm_git
from agents_manager.scm.local_forge import LocalForge
from agents_manager.scm.workspaces import ChosenWorkspaces
from agents_manager.store.tx import Database
from tests.faults.scenario import TurnedClock

PORTS: dict[type, tuple[str, ...]] = {
    DetachedRunners: ("start_or_adopt", "wait", "stop"),
    ChosenWorkspaces: (
        "validate",
        "ensure_branch",
        "prepare",
        "commit_all",
        "change",
        "remove",
        "join",
    ),
    LocalForge: ("publish", "merge"),
    ProjectChecks: ("run",),
    TurnedClock: ("turn",),
}


class Points:
    """Counts what this process passes, and kills it at the point it was told: one by its label
    (`name #occurrence`), or the n-th of all. Or something else happens there, to others."""

    def __init__(
        self,
        evidence: Path,
        kill: str | int | None,
        otherwise: Callable[[], None] | None = None,
    ) -> None:
        self.passed: list[str] = []
        self._kill = kill
        self._otherwise = otherwise
        self._counts: Counter[str] = Counter()
        self._evidence = evidence
        self._turn = threading.Lock()

    def reach(self, name: str) -> None:
        with self._turn:
            self._counts[name] += 1
            label = f"{name} #{self._counts[name]}"
            self.passed.append(label)
            if self._kill not in (label, len(self.passed)):
                return
            if self._otherwise is None:
                self.die(label)
        assert self._otherwise is not None
        self._otherwise()

    def die(self, label: str) -> None:
        self._evidence.write_text(label)
        os.kill(os.getpid(), signal.SIGKILL)


def lay(points: Points) -> None:
    """Lays the points around everything that changes something or waits for something."""
    for owner, methods in PORTS.items():
        for method in methods:
            _around(points, owner, method)
    _around(points, Durable, "start")
    _around_performing(points)
    _around_steps(points)
    _inside_transactions(points)
    _inside_the_engine(points)
    _around_programs(points)


def _around(points: Points, owner: Any, method: str) -> None:
    original = getattr(owner, method)
    name = f"{owner.__name__}.{method}"

    @functools.wraps(original)
    async def counted(*args: Any, **fields: Any) -> Any:
        points.reach(f"{name} begins")
        result = await original(*args, **fields)
        points.reach(f"{name} done")
        return result

    setattr(owner, method, counted)


def _around_performing(points: Points) -> None:
    original = hooks.perform

    async def counted(*args: Any) -> None:
        points.reach("effect begins")
        await original(*args)
        points.reach("effect done")

    bootstrap.hooks.perform = counted


def _around_steps(points: Points) -> None:
    original = RecordedSteps.run

    async def counted(self: RecordedSteps, name: str, fn: Callable[[], Any]) -> Any:
        async def step() -> Any:
            points.reach(f"step {name} begins")
            result = await fn()
            points.reach(f"step {name} done")
            return result

        result = await original(self, name, step)
        points.reach(f"step {name} kept")
        return result

    RecordedSteps.run = counted


def _inside_transactions(points: Points) -> None:
    original = Database._write

    def counted(self: Database, fn: Callable[[Any], Any]) -> Any:
        name = f"{fn.__module__.rpartition('.')[2]}.{fn.__qualname__.partition('.<locals>')[0]}"

        def transaction(tx: Any) -> Any:
            result = fn(tx)
            points.reach(f"transaction {name} commits")
            return result

        points.reach(f"transaction {name} begins")
        result = original(self, transaction)
        points.reach(f"transaction {name} done")
        return result

    Database._write = counted


def _inside_the_engine(points: Points) -> None:
    """Before DBOS commits to its own file: a started workflow, a kept step, an ended workflow."""

    def commits(connection: Connection) -> None:
        if (connection.engine.url.database or "").endswith("engine.db"):
            points.reach("engine commits")

    event.listen(Engine, "commit", commits)


def _around_programs(points: Points) -> None:
    """Around each git and each check: before it, while it runs, and after it."""
    spawn, collect = asyncio.create_subprocess_exec, scm_git._collect
    verbs: dict[int, str] = {}

    async def counted_spawn(program: str, *args: Any, **fields: Any) -> Any:
        called = git_called(program, args)
        name = f"git {called}" if called else program
        points.reach(f"{name} begins")
        process = await spawn(program, *args, **fields)
        verbs[process.pid] = name
        points.reach(f"{name} runs")
        return process

    async def counted_collect(process: Any, *args: Any) -> Any:
        output = await collect(process, *args)
        points.reach(f"{verbs[process.pid]} done")
        return output

    asyncio.create_subprocess_exec = counted_spawn
    scm_git._collect = counted_collect


def git_called(program: str, args: tuple[Any, ...]) -> str | None:
    """The command of a git, also of one that a shell is to become; None for other programs."""
    if program == "git":
        return verb(args)
    return verb(args[args.index("git") + 1 :]) if "git" in args else None


def verb(args: tuple[Any, ...]) -> str:
    """The git command among the arguments, after the settings."""
    rest = list(args)
    while rest:
        first = os.fsdecode(rest.pop(0))
        if first == "-c":
            rest.pop(0)
        elif not first.startswith("--git-dir=") and not first.startswith("--work-tree="):
            return first
    raise AssertionError("git without a command")
