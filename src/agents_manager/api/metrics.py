"""The figures at `/metrics`. Labels are words of ours, never what people or agents write."""

import os
import time
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

from agents_manager import meters
from agents_manager.api.stream import Feed
from agents_manager.flow import operation
from agents_manager.flow.operation import Counts
from agents_manager.flow.ports import Services
from agents_manager.meters import Family, Sample, Times

PREFIX = "agents_manager"
STARTED = time.time()


async def text(s: Services, feed: Feed, requests: Times) -> str:
    now = s.clock.now()
    found = await s.store.read(lambda tx: operation.counts(tx, now))
    return meters.text([*_of_data(found), *_of_process(s, feed, requests)])


def _of_data(found: Counts) -> Iterator[Family]:
    yield meters.gauges(f"{PREFIX}_tasks", "Tasks by category.", ["category"], _keyed(found.tasks))
    yield meters.gauges(
        f"{PREFIX}_runs", "Runs on record by status.", ["status"], _keyed(found.runs)
    )
    yield meters.gauge(
        f"{PREFIX}_runs_cost_usd", "What runs on record cost, as far as known.", found.cost_usd
    )
    yield meters.gauge(
        f"{PREFIX}_runs_of_unknown_cost",
        "Ended runs whose cost is not known.",
        found.runs_of_unknown_cost,
    )
    yield meters.gauges(
        f"{PREFIX}_effects",
        "Effects that are not done, by kind and status.",
        ["kind", "status"],
        found.effects,
    )
    yield meters.gauge(
        f"{PREFIX}_effects_overdue_seconds",
        "For how long the first effect of the queue could have begun.",
        found.overdue_s,
    )
    yield meters.gauges(
        f"{PREFIX}_prompts_open", "Open questions by type.", ["type"], _keyed(found.prompts)
    )
    yield meters.gauge(
        f"{PREFIX}_prompts_oldest_seconds", "Age of the oldest open question.", found.unanswered_s
    )
    yield meters.gauges(
        f"{PREFIX}_deliveries",
        "What is told by channels, by channel and state.",
        ["channel", "state"],
        found.deliveries,
    )
    yield Family(
        f"{PREFIX}_events_total", "counter", "Events of tasks.", [Sample(found.events, {})]
    )


def _of_process(s: Services, feed: Feed, requests: Times) -> Iterator[Family]:
    yield meters.gauges(
        f"{PREFIX}_info", "Which version runs.", ["version"], {(version("agents-manager"),): 1}
    )
    yield meters.gauge(
        f"{PREFIX}_engine_still_seconds",
        "For how long the engine has not looked for work.",
        operation.still_s(s),
    )
    yield meters.gauge(f"{PREFIX}_event_streams", "Clients that follow the events.", feed.clients)
    yield meters.histogram(
        f"{PREFIX}_http_request_duration_seconds",
        "Time until an answer begins, by method and kind of status.",
        ["method", "code"],
        requests,
    )
    yield meters.histogram(
        f"{PREFIX}_store_transaction_duration_seconds",
        "Transactions of the database, without the wait for their turn.",
        ["kind"],
        s.store.times,
    )
    yield meters.gauge("process_start_time_seconds", "Start of the process.", STARTED)
    yield meters.gauge("process_resident_memory_bytes", "Memory of the process.", _memory())


def _keyed(counts: Mapping[str, int]) -> dict[tuple[str, ...], int]:
    return {(key,): number for key, number in counts.items()}


def _memory() -> int | None:
    """Linux says it in a file."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
