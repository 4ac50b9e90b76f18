"""How long does a server take for the board with many tasks on it, and how much does it send? All
of them unfinished: those that wait, those with an agent, and those that nobody has begun."""

import asyncio
import gzip
import time

from bench.crowd import Place, filled
from bench.rows import Row, quantile

TASKS = 10_000
TIMES = 20
GOAL_MS = 500
GOAL_KB = 250


def run() -> list[Row]:
    return asyncio.run(_run())


async def _run() -> list[Row]:
    async with filled(finished=1_000, waiting=TASKS - 1_000) as where:
        spent: list[float] = []
        body = b""
        for _ in range(TIMES + 2):
            begun = time.process_time()
            body = await _asked(where)
            spent.append((time.process_time() - begun) * 1000)
        packed = len(gzip.compress(body, 6)) / 1000
    took = quantile(spent[2:], 0.95)
    return [
        Row(
            name=f"GET /board, {TASKS:,} tasks, processor time",
            ours=f"p95 {took:.0f} ms",
            goal=f"<= {GOAL_MS} ms",
            met=took <= GOAL_MS,
        ),
        Row(
            name="what it sends, packed",
            ours=f"{packed:.0f} kB",
            beside=f"{len(body) / 1000:,.0f} kB unpacked",
            goal=f"<= {GOAL_KB} kB",
            met=packed <= GOAL_KB,
        ),
    ]


async def _asked(where: Place) -> bytes:
    response = await where.api.get("/api/v1/board")
    assert response.status_code == 200, response.text
    return response.content
