"""Deaths of git: a call is killed right after its start, or at one of its own system calls that
change files, so that the locks and halves a killed git leaves are met as well."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_manager.scm import git as scm_git
from tests.faults.points import git_called

READS = {
    *("rev-parse", "rev-list", "merge-base", "log", "ls-files", "ls-tree", "for-each-ref"),
    *("diff-tree", "diff-files", "diff-index", "status", "config", "var", "symbolic-ref"),
    "ls-remote",
}
"""Commands of git that change no file."""
TRACER = Path(__file__).with_name("tracer.py")


@dataclass(frozen=True, kw_only=True)
class Death:
    call: str
    """Which of the life's gits, such as `update-ref 2`: what happens side by side does not change
    its name. Empty only counts what each does to files."""
    at: int
    """Before which of its file-changing system calls; 0 at once."""
    with_server: bool = False
    """The machine's death: nobody knows afterwards that a git was killed."""


def command(call: str) -> str:
    return call.partition(" ")[0]


def lay(death: Death | None, log: Path, die: Callable[[str], None]) -> Sequence[str]:
    """Returns the list of the names of all gits, which grows as they are called. What a traced
    one counted stands in a file beside the log."""
    gits: list[str] = []
    doomed: list[int] = []
    spawn, collect = asyncio.create_subprocess_exec, scm_git._collect

    async def mortal(program: str, *args: Any, **fields: Any) -> Any:
        called = git_called(program, args)
        if called is None:
            return await spawn(program, *args, **fields)
        call = f"{called} {1 + sum(command(git) == called for git in gits)}"
        gits.append(call)
        counts = death is not None and not death.call and called not in READS
        dies = death is not None and death.call == call
        if death is None or not (counts or dies):
            return await spawn(program, *args, **fields)
        tracer = (sys.executable, "-I", "-S", str(TRACER), str(death.at), f"{log}-{call}")
        traced = tracer if death.at or counts else ()
        process = await spawn(*traced, program, *args, **fields)
        if not traced:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        if death.with_server:
            doomed.append(process.pid)
        return process

    async def collect_or_die(process: Any, *args: Any) -> Any:
        output = await collect(process, *args)
        if process.pid in doomed:
            die(f"with git {death and death.call}")
        return output

    asyncio.create_subprocess_exec, scm_git._collect = mortal, collect_or_die
    return gits
