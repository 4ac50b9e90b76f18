"""Processes that need not be our children: whether one lives, its end as something to await, and
how it is ended. Linux tells by /proc and pidfd; elsewhere `ps` is asked."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from agents_manager.errors import AgentProcessError

KILL_S = 5.0
POLL_S = 0.2


class Process(BaseModel):
    """Ids are used again after a while or a reboot; with start and boot they name one process."""

    model_config = ConfigDict(frozen=True)

    pid: int
    start_time: str | None
    boot_id: str | None


def is_alive(process: Process) -> bool:
    if process.pid <= 0 or process.boot_id != _boot_id():
        return False
    if sys.platform != "linux":
        return process.start_time is not None and _ps_start_time(process.pid) == process.start_time
    try:
        stat = Path(f"/proc/{process.pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    fields = stat.rpartition(")")[2].split()
    return fields[0] not in "ZX" and fields[19] == process.start_time


def last_arguments() -> list[str]:
    """What the command of each process ends with. `ps` puts spaces between arguments, so there it
    is what follows the last space before a slash, as a path would."""
    if sys.platform != "linux":
        command = ["/bin/ps", "-axww", "-o", "args="]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        return [f"/{line.rpartition(' /')[2]}" for line in found.stdout.splitlines()]
    arguments: list[str] = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command_line = (entry / "cmdline").read_bytes().rstrip(b"\0")
            arguments.append(os.fsdecode(command_line.rpartition(b"\0")[2]))
    return arguments


async def gone(process: Process) -> None:
    """Returns when the process has ended."""
    fd = _pidfd(process)
    if fd is None:
        while is_alive(process):  # noqa: ASYNC110 - without a pidfd nothing tells
            await asyncio.sleep(POLL_S)
        return
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(fd, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(fd)
        os.close(fd)


async def end(process: Process, grace_s: float) -> None:
    """Asks the process to end, kills it after the grace, and returns when it is gone."""
    for number, seconds in ((signal.SIGTERM, grace_s), (signal.SIGKILL, KILL_S)):
        _send(process, number)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await gone(process)
                return
    raise AgentProcessError(f"The process {process.pid} cannot be ended.")


def kill_marked(mark: str) -> None:
    """Kills every process of ours whose environment holds `mark`, and returns when none is left."""
    deadline = time.monotonic() + KILL_S
    # Again and again, because a process can fork between the look and the signal.
    while pids := _marked(mark.encode()):
        if time.monotonic() > deadline:
            raise AgentProcessError(f"Processes {pids} with {mark} cannot be ended.")
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def _marked(mark: bytes) -> list[int]:
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            ours = entry.stat().st_uid == os.getuid() and entry.name != str(os.getpid())
            if ours and mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


def _send(process: Process, number: signal.Signals) -> None:
    fd = _pidfd(process)
    if fd is None:
        if is_alive(process):
            os.kill(process.pid, number)
        return
    try:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(fd, number)
    finally:
        os.close(fd)


def _pidfd(process: Process) -> int | None:
    """A handle that keeps meaning this process; None when it is gone or there are no handles."""
    try:
        fd = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        return None
    if is_alive(process):
        return fd
    os.close(fd)
    return None


def _boot_id() -> str | None:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None


def _ps_start_time(pid: int) -> str | None:
    command = ["/bin/ps", "-o", "lstart=", "-p", str(pid)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() or None
