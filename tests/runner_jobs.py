"""Jobs for the tests of the detached runner, and a look at the process table."""

import os
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agents_manager.domain.ids import RunId
from agents_manager.domain.run import Limits
from agents_manager.flow.ports import Job

DAEMON = "(setsid sh -c 'trap \"\" TERM; sleep 60' &)"
"""Leaves a process in a session of its own that holds the agent's output open."""


def shell(folder: Path, script: str, **limits: Any) -> Job:
    return job(folder, ["sh", "-c", script], **limits)


def job(folder: Path, argv: Sequence[str], **limits: Any) -> Job:
    return Job(
        dir=folder / "job",
        run_id=RunId(uuid.uuid4().hex),
        argv=argv,
        cwd=folder,
        env={"PATH": os.environ["PATH"]},
        stdin="",
        files={},
        limits=Limits(**{"timeout_s": 30.0, **limits}),
    )


def processes_of(run_id: str) -> list[int]:
    """The living processes that carry the run's mark."""
    mark = f"AM_RUN_ID={run_id}".encode()
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def eventually(condition: Callable[[], object], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)
