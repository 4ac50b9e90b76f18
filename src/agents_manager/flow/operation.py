"""How the program itself is doing, for those who look after it: whether it can do its work, and
figures of what there is."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from agents_manager.domain.pipeline import Category, PromptType
from agents_manager.domain.run import RunStatus
from agents_manager.errors import StoreError
from agents_manager.flow.ports import Services, Tx

PATIENCE_S = 5.0
"""For the database to answer; who asks whether we are ready does not wait for long."""
STILL_S = 30.0
"""The engine looks for work every two seconds."""


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    ok: bool
    says: str


async def database(s: Services) -> Part:
    try:
        async with asyncio.timeout(PATIENCE_S):
            last = await s.store.read(lambda tx: tx.events.last_id())
    except StoreError as error:
        return Part("database", ok=False, says=error.message)
    except TimeoutError:
        return Part("database", ok=False, says=f"It did not answer within {PATIENCE_S:g} s.")
    return Part("database", ok=True, says=f"It answers; the last event is {last}.")


def engine(s: Services) -> Part:
    still = still_s(s)
    if still is None:
        return Part("engine", ok=False, says="None has begun to work in this process.")
    if still > STILL_S:
        return Part("engine", ok=False, says=f"It last looked for work {still:.0f} s ago.")
    return Part("engine", ok=True, says="It looks for work.")


def still_s(s: Services) -> float | None:
    """For how long the engine has not looked for work."""
    at = s.heartbeat.at
    return None if at is None else max(0.0, asyncio.get_running_loop().time() - at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Of everything that is on record."""

    tasks: Mapping[str, int]
    """By category."""
    runs: Mapping[str, int]
    """By status."""
    runs_ended: int
    runs_of_unknown_cost: int
    cost_usd: float
    """Of the others."""
    effects: Mapping[tuple[str, str], int]
    """Not done, by kind and status."""
    overdue_s: float
    """For how long the first effect of the queue could have begun."""
    prompts: Mapping[str, int]
    """Open, by type."""
    unanswered_s: float
    """For how long the oldest of them is open."""
    deliveries: Mapping[tuple[str, str], int]
    """By channel and state."""
    events: int
    """That ever were."""


def counts(tx: Tx, now: datetime) -> Counts:
    standing = tx.standing
    ended, unknown, usd = standing.cost()
    runs = {status: n for (status,), n in standing.runs().items()}
    prompts = {kind: n for (kind,), n in standing.prompts().items()}
    return Counts(
        tasks=_by_category(tx),
        runs={status: runs.get(status, 0) for status in RunStatus},
        runs_ended=ended,
        runs_of_unknown_cost=unknown,
        cost_usd=usd,
        effects=standing.effects(),
        overdue_s=_age_s(standing.due_since(now), now),
        prompts={kind: prompts.get(kind, 0) for kind in PromptType},
        unanswered_s=_age_s(standing.asked_since(), now),
        deliveries=standing.deliveries(),
        events=tx.events.last_id(),
    )


def _by_category(tx: Tx) -> dict[str, int]:
    found: Counter[str] = Counter(dict.fromkeys(Category, 0))
    for (pipeline, version, status), number in tx.standing.tasks().items():
        found[tx.pipelines.get(pipeline, version).status(status).category] += number
    return dict(found)


def _age_s(since: datetime | None, now: datetime) -> float:
    return 0.0 if since is None else max(0.0, (now - since).total_seconds())
