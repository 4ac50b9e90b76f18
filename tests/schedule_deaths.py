"""A program that has a period of a schedule and is killed while it does, at each statement in turn.
It is forked by a process that has imported everything and has one thread.

    python -m tests.schedule_deaths HOME REPOSITORY
"""

import asyncio
import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from agents_manager import bootstrap, log, redaction
from agents_manager.flow import firing, later, tasks
from agents_manager.flow.schedules import NewSchedule, add
from agents_manager.flow.tasks import NewTask
from agents_manager.settings import Settings
from agents_manager.store.statements import Session
from tests.asking import Clock
from tests.worlds import ANN


async def _prepare(home: Path, repo: Path) -> None:
    async with bootstrap.client(Settings(home, None), clock=Clock()) as program:
        s = program.services
        project = await tasks.add_project(s, repo, None, None)
        words = NewTask(title="Tidy {date}", pipeline="simple")
        rule = {"rule": "every day at 09:00", "zone": "UTC", "start": True}
        await add(s, project, NewSchedule(name="Tidy", task=words, **rule), ANN)


async def _fire(home: Path, die_at: int | None) -> dict[str, Any]:
    """What there is after the day has come, unless it is killed at a statement before."""
    clock = Clock()
    clock.turn(days=1)
    async with bootstrap.client(Settings(home, None), clock=clock) as program:
        s = program.services
        if die_at is not None:
            _die_at(die_at)
        await firing.fire(s)
        await later.fire(s)
        found = await s.store.read(
            lambda tx: tx.tasks.page(project=None, status=None, after=None, limit=9)
        )
        had = await s.store.read(lambda tx: tx.schedules.firings(tx.schedules.find("Tidy").id, 9))
        queued = [await s.store.read(lambda tx, t=t: len(tx.runs.of_task(t.id))) for t in found]
        return {"titles": [t.title for t in found], "runs": queued, "had": len(had)}


def _die_at(number: int) -> None:
    passed = 0

    def counted(plain: Any) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            nonlocal passed
            passed += 1
            if passed == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return plain(*args, **named)

        return call

    for name in ("run", "all", "one"):
        setattr(Session, name, counted(getattr(Session, name)))


def _forked(home: Path, die_at: int | None) -> dict[str, Any] | None:
    """None where it was killed."""
    said = home / "said.json"
    pid = os.fork()
    if pid == 0:
        said.write_text(json.dumps(asyncio.run(_fire(home, die_at))))
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return None
    assert os.WEXITSTATUS(status) == 0
    return json.loads(said.read_text())


def main(home: Path, repo: Path) -> None:
    log.configure(json=False, level="error", redactor=redaction.NOTHING)
    if os.fork() == 0:
        asyncio.run(_prepare(home, repo))
        os._exit(0)
    os.wait()
    results: list[Any] = []
    number, outlived = 0, False
    while not outlived:
        number += 1
        copy = home.parent / f"death-{number}"
        shutil.copytree(home, copy)
        outlived = _forked(copy, number) is not None
        results.append(_forked(copy, None))
        shutil.rmtree(copy)
    sys.stdout.write(json.dumps(results))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
