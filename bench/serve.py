"""What does a server cost that has nothing to do? Time to its first answer on a home that was used
before, memory, and processor time over ten seconds."""

import time

import psutil

from bench import programs
from bench.places import place
from bench.rows import Row

IDLE_S = 10.0
SETTLE_S = 1.0
GOAL_READY_S = 2.0
GOAL_MEMORY_MB = 115
GOAL_CPU_PERCENT = 1.5


def run() -> list[Row]:
    with place() as (settings, _):
        with programs.serve(settings.home) as server:
            first_s = server.ready_s
        with programs.serve(settings.home) as server:
            return [
                _ready(server.ready_s, first_s),
                _memory(server.pid),
                _idle(server.pid),
            ]


def _ready(seconds: float, first_s: float) -> Row:
    return Row(
        name="am serve ready",
        ours=f"{seconds:.2f} s",
        beside=f"{first_s:.2f} s (the first time)",
        goal=f"<= {GOAL_READY_S:g} s",
        met=seconds <= GOAL_READY_S,
    )


def _memory(pid: int) -> Row:
    used = sum(one.memory_info().rss for one in _family(pid)) / 1024**2
    return Row(
        name="am serve, memory when ready",
        ours=f"{used:.0f} MB",
        goal=f"<= {GOAL_MEMORY_MB} MB",
        met=used <= GOAL_MEMORY_MB,
    )


def idle_percent(pid: int, seconds: float) -> float:
    """Of a core, with all its children."""
    begun, before = time.monotonic(), _processor_s(pid)
    time.sleep(seconds)
    return 100 * (_processor_s(pid) - before) / (time.monotonic() - begun)


def _idle(pid: int) -> Row:
    time.sleep(SETTLE_S)
    percent = idle_percent(pid, IDLE_S)
    return Row(
        name=f"am serve idle, {IDLE_S:.0f} s",
        ours=f"{percent:.1f} % of a core",
        goal=f"<= {GOAL_CPU_PERCENT} %",
        met=percent <= GOAL_CPU_PERCENT,
    )


def _processor_s(pid: int) -> float:
    times = [one.cpu_times() for one in _family(pid)]
    return sum(t.user + t.system for t in times)


def _family(pid: int) -> list[psutil.Process]:
    own = psutil.Process(pid)
    return [own, *own.children(recursive=True)]
