"""How long does a server take for the board with many tasks on it, and how much does it send? All
of them are unfinished: some wait, some have an agent, some are not started."""

import asyncio
import time

import psutil

from bench.crowd import Served, filled, served
from bench.rows import Row, quantile

TASKS = 10_000
TIMES = 20
WARM_UP = 2
GOAL_MS = 500
GOAL_KB = 250


def run() -> list[Row]:
    return asyncio.run(_run())


async def _run() -> list[Row]:
    async with filled(finished=1_000, waiting=TASKS - 1_000) as place, served(place) as where:
        own = psutil.Process(where.server.pid)
        busy: list[float] = []
        waited: list[float] = []
        packed = unpacked = 0
        for _ in range(TIMES + WARM_UP):
            before, begun = _processor_ms(own), time.perf_counter()
            packed, unpacked = await _asked(where)
            waited.append((time.perf_counter() - begun) * 1000)
            busy.append(_processor_ms(own) - before)
    took = quantile(busy[WARM_UP:], 0.95)
    return [
        Row(
            name=f"GET /board, {TASKS:,} tasks, processor time of the server",
            ours=f"p95 {took:.0f} ms",
            beside=f"p95 {quantile(waited[WARM_UP:], 0.95):.0f} ms until all was read",
            goal=f"<= {GOAL_MS} ms",
            met=took <= GOAL_MS,
        ),
        Row(
            name="what it sends, packed",
            ours=f"{packed / 1000:.0f} kB",
            beside=f"{unpacked / 1000:,.0f} kB unpacked",
            goal=f"<= {GOAL_KB} kB",
            met=packed / 1000 <= GOAL_KB,
            timed=False,
        ),
    ]


async def _asked(where: Served) -> tuple[int, int]:
    """The bytes that were received, and those of the answer when unpacked."""
    response = await where.api.get("/api/v1/board")
    assert response.status_code == 200, response.text
    assert response.headers["content-encoding"] == "gzip"
    return response.num_bytes_downloaded, len(response.content)


def _processor_ms(process: psutil.Process) -> float:
    times = process.cpu_times()
    return (times.user + times.system) * 1000
