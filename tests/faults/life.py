"""One life of a server: a forked process that works on a home until the walk is over or it is
killed. It begins without threads, loop or database, and ends without clean-up."""

import asyncio
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from signal import SIGKILL
from typing import Any, NoReturn

from agents_manager import bootstrap, log, redaction
from agents_manager.engine import runners, starting
from agents_manager.flow import hooks, patience, supervisor
from agents_manager.settings import Settings
from tests.faults import controls, git_deaths, invariants, points, scenario
from tests.faults.outages import Outage
from tests.faults.scenario import TO_THE_END, Walk
from tests.repos import scripted_home

LIMIT_S = 90.0
DYING_RUNNER = Path(__file__).with_name("dying_runner.py")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is killed in a life, and what is switched off."""

    server: str | int | None = None
    """The point at which the server dies: its label, or its number."""
    runner: str = ""
    git: git_deaths.Death | None = None
    outage: Outage | None = None
    """What becomes of the database at the server's point, instead of the server's death."""
    off: str | None = None
    """The protection that is off, to see that the harness would notice."""
    walk: Walk = TO_THE_END
    url: str | None = None
    """Of a Postgres database; None for a file."""
    undisturbed: Sequence[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Ending:
    killed_at: str | None = None
    violations: Sequence[str] = ()
    told: Sequence[str] = ()
    points: Sequence[str] = ()
    gits: Sequence[str] = ()


def live(case: Path, number: int, plan: Plan) -> Ending:
    """Forks a life and waits for its end. The caller must be a process of one thread."""
    evidence = case / "evidence"
    evidence.mkdir(exist_ok=True)
    last_words = evidence / f"killed-{number}"
    outcome = evidence / f"outcome-{number}"
    pid = os.fork()
    if pid == 0:
        _be(case, number, plan, last_words, outcome)
    status = _wait(pid)
    if status is None:
        return Ending(violations=[f"life {number} hung for {LIMIT_S:g} s"])
    if last_words.exists():
        return Ending(killed_at=last_words.read_text())
    if not outcome.exists():
        return Ending(violations=[f"life {number} ended with status {status}"])
    return Ending(**json.loads(outcome.read_text()))


def _wait(pid: int) -> int | None:
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.005)
    os.kill(pid, SIGKILL)
    os.waitpid(pid, 0)
    return None


def _be(case: Path, number: int, plan: Plan, last_words: Path, outcome: Path) -> NoReturn:
    try:
        output = os.open(case / f"life-{number}.log", os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(output, 1)
        os.dup2(output, 2)
        log.configure(json=False, level="info", redactor=redaction.NOTHING)
        # Waiting proves nothing.
        hooks.BACKOFF_S = 0.02
        patience.FIRST_PAUSE_S, patience.LONGEST_PAUSE_S = 0.02, 0.2
        if plan.walk.timed:
            supervisor.EVERY_S = supervisor.TIMERS_S = 0.02
        if plan.off is not None:
            controls.CONTROLS[plan.off].off()
        strike = None if plan.outage is None else plan.outage.strike
        counted = points.Points(last_words, plan.server, strike)
        gits = git_deaths.lay(plan.git, case / "evidence" / "gits", counted.die)
        points.lay(counted)
        ending = asyncio.run(_walk(case, plan))
        ending = replace(ending, points=counted.passed, gits=gits)
        outcome.write_text(json.dumps(asdict(ending)))
    except BaseException as error:  # noqa: BLE001 - whatever it was, it is the case's result
        traceback.print_exc()
        broke = Ending(violations=[f"{type(error).__name__}: {error}"])
        outcome.write_text(json.dumps(asdict(broke)))
    finally:
        sys.stderr.flush()
        os._exit(0)


async def _walk(case: Path, plan: Plan) -> Ending:
    home, repo, evidence = case / "home", case / "repo", case / "evidence"
    program = (sys.executable, "-I", "-S", str(DYING_RUNNER), str(starting.PACKAGE / "runner.py"))
    argv = (*program, str(evidence), plan.runner)
    parts: dict[str, Any] = {
        "runners": runners.DetachedRunners(argv),
    }
    if plan.walk.timed:
        parts["clock"] = scenario.TurnedClock(evidence / "clock")
    kind = {"workspace": {"kind": "clone"}} if plan.walk.clones else {}
    place = Settings(scripted_home(home, **kind), plan.url)
    async with bootstrap.worker(place, **parts) as worker:
        try:
            task_id = await scenario.go(worker, repo, plan.walk)
        except scenario.Stuck as error:
            return Ending(violations=[str(error)])
        await _workflows_end()
        found = await invariants.found(worker, task_id, repo, evidence)
    faults = _judge(plan.walk)(found, plan.undisturbed)
    return Ending(violations=faults, told=invariants.told(found))


def _judge(walk: Walk) -> Callable[[invariants.Found, Sequence[str] | None], list[str]]:
    if walk.timed:
        return invariants.violations_of_timed
    if walk.beside:
        return invariants.violations_of_beside
    return invariants.violations_of_cancelled if walk.cancelled else invariants.violations


async def _workflows_end() -> None:
    """The last effect is done a moment before the workflow that did it; what was taken up after a
    death has nothing left to do but waits for its turn, which comes every second."""
    deadline = time.monotonic() + 10
    while await invariants.unfinished_workflows() and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
