"""What does a server without work cost, and how quickly does it answer? Time until it is ready on a
data directory that was used before, memory, processor time over ten seconds, and small requests
over one kept connection beside a new connection for each."""

import http.client
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from bench import programs
from bench.places import place
from bench.rows import Row, quantile

IDLE_S = 10.0
SETTLE_S = 1.0
GOAL_READY_S = 2.0
GOAL_MEMORY_MB = 115
GOAL_CPU_PERCENT = 1.5
REQUESTS = 100
WARM_UP = 5
GOAL_KEPT = 1.2


def run() -> list[Row]:
    with place() as (settings, _):
        with programs.serve(settings.home) as server:
            first_s = server.ready_s
        with programs.serve(settings.home) as server:
            return [
                _ready(server.ready_s, first_s),
                _memory(server.pid),
                _idle(server.pid),
                _requests(server.address, settings.home),
            ]


def _ready(seconds: float, first_s: float) -> Row:
    return Row(
        name="am serve ready, second start",
        ours=f"{seconds:.2f} s",
        beside=f"{first_s:.2f} s (first start, makes the database)",
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
        timed=False,
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


def _requests(address: str, home: Path) -> Row:
    kept = http.client.HTTPConnection(address.removeprefix("http://"), timeout=10)
    headers = {"Authorization": f"Bearer {(home / 'token').read_text().strip()}"}
    over_kept: list[float] = []
    over_new: list[float] = []
    for _ in range(REQUESTS + WARM_UP):
        over_kept.append(_milliseconds(lambda: _get(kept, headers)))
        over_new.append(_milliseconds(lambda: _get_over_new_connection(address, headers)))
    kept.close()
    ratio = quantile(over_kept[WARM_UP:], 0.5) / quantile(over_new[WARM_UP:], 0.5)
    return Row(
        name=f"GET /tasks over one kept connection, {REQUESTS} times",
        ours=_both(over_kept[WARM_UP:]),
        beside=f"{_both(over_new[WARM_UP:])} (a new connection each)",
        ratio=ratio,
        goal=f"p50 <= {GOAL_KEPT:g} x",
        met=ratio <= GOAL_KEPT,
    )


def _get_over_new_connection(address: str, headers: dict[str, str]) -> None:
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=10)
    _get(connection, headers)
    connection.close()


def _get(connection: http.client.HTTPConnection, headers: dict[str, str]) -> None:
    connection.request("GET", "/api/v1/tasks?limit=10", headers=headers)
    response = connection.getresponse()
    assert response.status == 200, response.read()
    response.read()


def _milliseconds(work: Callable[[], None]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def _both(milliseconds: list[float]) -> str:
    p50, p95 = (quantile(milliseconds, share) for share in (0.5, 0.95))
    return f"p50 {p50:.1f}, p95 {p95:.1f} ms"


def _processor_s(pid: int) -> float:
    times = [one.cpu_times() for one in _family(pid)]
    return sum(t.user + t.system for t in times)


def _family(pid: int) -> list[psutil.Process]:
    own = psutil.Process(pid)
    return [own, *own.children(recursive=True)]
