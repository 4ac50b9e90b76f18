"""An agent that is stopped leaves no process behind, whatever it does to live on."""

import asyncio
import time
from pathlib import Path

import pytest

from agents_manager.engine.runners import DetachedRunners
from tests import figures
from tests.runner_jobs import DAEMON, eventually, processes_of, shell

GRACE_S, MORE_S = 5.0, 5.0
AT_ONCE = 10
SHAPES = {
    "ends when asked": "touch up; sleep 60",
    "leaves a daemon": f"{DAEMON}; touch up; sleep 60",
    "does not listen": "trap '' TERM INT HUP; touch up; while :; do sleep 1; done",
    "has many children": "for n in 1 2 3 4 5; do sleep 60 & done; touch up; wait",
    "closes its output": "exec >/dev/null 2>&1; touch up; sleep 60",
}


async def _stopped(folder: Path, script: str) -> tuple[float, list[int]]:
    """How long it took to stop it, and who is left."""
    runners, job = DetachedRunners(), shell(folder, script)
    await runners.start_or_adopt(job)
    await asyncio.to_thread(eventually, (folder / "up").exists)
    asked = time.monotonic()
    await runners.stop(job.dir)
    return time.monotonic() - asked, processes_of(job.run_id)


@pytest.mark.slow
@pytest.mark.timeout(0)
async def test_nobody_survives_a_cancel(tmp_path: Path) -> None:
    number = figures.size(40, 200)
    shapes = list(SHAPES.values())
    took: list[float] = []
    left: list[int] = []
    for n in range(number):
        (tmp_path / str(n)).mkdir()
    for first in range(0, number, AT_ONCE):
        jobs = [
            _stopped(tmp_path / str(n), shapes[n % len(shapes)])
            for n in range(first, min(number, first + AT_ONCE))
        ]
        for seconds, alive in await asyncio.gather(*jobs):
            took.append(seconds)
            left += alive
    figures.note("G-9", "cancels", number=number, survivors=len(left), longest_s=max(took))
    assert left == []
    assert max(took) < GRACE_S + MORE_S
