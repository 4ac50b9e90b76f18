"""A process that writes events until SIGTERM and then prints how many milliseconds each took, which
is not to depend on what else the bench does.

    python -m bench.speaker HOME DATABASE_URL TASK...
"""

import asyncio
import json
import signal
import sys
import time
from pathlib import Path

from agents_manager import bootstrap, log, redaction
from agents_manager.domain import event
from agents_manager.domain.ids import TaskId
from agents_manager.settings import Settings
from bench.places import ANN

A_SECOND = 25


async def main(home: str, url: str, *tasks: str) -> None:
    over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    log.configure(json=False, level="error", redactor=redaction.NOTHING)
    taken: list[float] = []
    async with bootstrap.client(Settings(Path(home), url or None)) as program:
        s = program.services
        while not over.is_set():
            begun = time.monotonic()
            task = TaskId(tasks[len(taken) % len(tasks)])
            told = event.ChecksPassed(run=str(len(taken)), checks=("tests",))
            await s.store.write(lambda tx, t=task, e=told: tx.events.add(t, e, ANN, s.clock.now()))
            taken.append((time.monotonic() - begun) * 1000)
            await asyncio.sleep(max(0.0, 1 / A_SECOND - (time.monotonic() - begun)))
    sys.stdout.write(json.dumps(taken))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
