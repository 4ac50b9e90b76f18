"""How long does `am --help` take? Beside the same interpreter doing nothing."""

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

from bench.programs import AM
from bench.rows import Row

TIMES = 15
GOAL_S = 0.15


def run() -> list[Row]:
    ours: list[float] = []
    nothing: list[float] = []
    for _ in range(TIMES + 1):
        ours.append(_seconds([AM, "--help"]))
        nothing.append(_seconds([sys.executable, "-c", "pass"]))
    # The first of each finds its files cold, and may have to compile them.
    median, bare = statistics.median(ours[1:]), statistics.median(nothing[1:])
    return [
        Row(
            name=f"am --help, its files in the page cache, median of {TIMES}",
            ours=f"{median * 1000:.0f} ms",
            beside=f"{bare * 1000:.0f} ms (python -c pass)",
            ratio=median / bare,
            goal=f"<= {GOAL_S * 1000:.0f} ms",
            met=median <= GOAL_S,
        )
    ]


def _seconds(command: Sequence[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begun
