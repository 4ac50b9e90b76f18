"""Processes that write to one database as fast as they can. Each puts down in a file of its own
what it was told is kept. They are forked by a process that has imported everything and has one
thread.

    python -m tests.faults.writer append ADDRESS FOLDER WRITERS SECONDS
    python -m tests.faults.writer answer ADDRESS FOLDER PEOPLE [off]
"""

import asyncio
import gc
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from agents_manager import log, redaction
from agents_manager.domain.event import Noted
from agents_manager.domain.ids import PromptId, TaskId
from agents_manager.domain.prompt import PromptStatus
from agents_manager.domain.task import SYSTEM
from agents_manager.store.database import Database, open_database

SHARED = TaskId("task-1")
LIVES_S = (0.1, 0.6)
"""How long it takes at least and at most until the next of the writers is killed."""

Work = Callable[[Database, TextIO], Coroutine[Any, Any, None]]


def _fork(address: str, file: Path, work: Work) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            with file.open("w", buffering=1) as said:
                store = open_database(address)
                asyncio.run(work(store, said))
                store.close()
            code = 0
        finally:
            os._exit(code)
    return pid


# ------------------------------------------------------------------------------------------ events


def append(address: str, folder: Path, writers: int, seconds: float) -> int:
    """How many writers were killed; another one took the place of each."""
    chance, number = random.Random(4), 0

    def another() -> int:
        nonlocal number
        number += 1
        return _fork(address, folder / str(number), _appending(f"writer-{number}"))

    alive = [another() for _ in range(writers)]
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(chance.uniform(*LIVES_S))
        _kill(alive.pop(chance.randrange(len(alive))))
        alive.append(another())
    for pid in alive:
        _kill(pid)
    return number


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _appending(name: str) -> Work:
    """Events of one task that all writers share: the number of each that is kept, and how many
    microseconds that took."""

    async def work(store: Database, said: TextIO) -> None:
        number = 0
        while True:
            number += 1
            note = Noted(text=f"{name} {number}")
            begun = time.monotonic()
            await store.write(
                lambda tx, n=note: tx.events.add(SHARED, n, SYSTEM, datetime.now(UTC))
            )
            said.write(f"{name} {number} {round((time.monotonic() - begun) * 1e6)}\n")

    return work


# ----------------------------------------------------------------------------------------- answers


def answer(address: str, folder: Path, people: int, careless: bool) -> int:
    """Every prompt is answered by all at once; how many of them failed."""
    begin, ready = folder / "begin", folder / "ready"
    ready.mkdir()
    started = [
        _fork(address, folder / f"{n}", _answering(str(n), begin, ready, careless))
        for n in range(people)
    ]
    while len(list(ready.iterdir())) < people:
        time.sleep(0.01)
    begin.touch()
    return sum(os.waitpid(pid, 0)[1] != 0 for pid in started)


def _answering(name: str, begin: Path, ready: Path, careless: bool) -> Work:
    """The prompts whose answer was taken."""

    async def work(store: Database, said: TextIO) -> None:
        prompts = [p.id for p in await store.read(lambda tx: tx.prompts.pending())]
        (ready / name).touch()
        while not begin.exists():  # noqa: ASYNC240 - nothing else is to be done meanwhile
            await asyncio.sleep(0.001)
        for prompt in prompts:
            if await (_unseen if careless else _taken)(store, prompt, name):
                said.write(f"{prompt}\n")

    return work


async def _taken(store: Database, prompt: PromptId, name: str) -> bool:
    fields = {"status": PromptStatus.RESPONDED, "responded_by": name}
    return await store.write(lambda tx: tx.prompts.close(prompt, **fields))


async def _unseen(store: Database, prompt: PromptId, name: str) -> bool:
    """Looks, and then answers whatever has happened since."""
    found = await store.read(lambda tx: tx.prompts.get(prompt))
    if found.status is not PromptStatus.PENDING:
        return False
    fields = {"status": PromptStatus.RESPONDED, "responded_by": name}
    await store.write(lambda tx: tx.prompts.update(prompt, **fields))
    return True


def main(what: str, address: str, folder: str, number: str, more: str = "") -> None:
    log.configure(json=False, level="error", redactor=redaction.NOTHING)
    # As a server does: one write in a hundred would wait for a look through all that is imported.
    gc.freeze()
    if what == "append":
        result = append(address, Path(folder), int(number), float(more))
    else:
        result = answer(address, Path(folder), int(number), bool(more))
    sys.stdout.write(f"{result}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
