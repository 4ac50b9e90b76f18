"""The side door to an agent's model. The agent has a key for its turn alone, which is good nowhere
else; the real one stays with us. Its budgets are looked at before each request, and what the
answers tell is counted."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import structlog

from agents_manager.domain.ids import RunId
from agents_manager.domain.run import Run
from agents_manager.errors import (
    AgentsManagerError,
    BudgetUsedUp,
    InvalidInput,
    RunNotFound,
    Unauthenticated,
)
from agents_manager.flow import agents, budgets
from agents_manager.flow.ports import Agent, Endpoint, Provider, Services
from agents_manager.flow.runs import counts, keys, spending, traces
from agents_manager.flow.runs.counts import Counted
from agents_manager.flow.runs.places import TURNS, job_dir
from agents_manager.flow.runs.prepare import of
from agents_manager.flow.runs.verdict import Verdict

KEYS = "gateway.sha256"
RUNS = "/model/run/"
START_LOOKS = 100
"""How often it is looked, in 5 s, for a server that works already and is about to listen."""
CLOSED = "This key opens nothing here: it is that of another run or turn, or its run is over."
NOBODY = (
    'Agent "{agent}" asks its model through the gateway, which does not answer here: start'
    " `am serve` or `am worker`, or set agents.{agent}.gateway to false."
)
log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """An agent that has shown the key of its turn."""

    run_id: RunId
    directory: Path
    provider: Provider


async def endpoint(
    s: Services, run: Run, agent: Agent, directory: Path, past: Sequence[Verdict]
) -> Endpoint | None:
    """Where the agent asks its model; None: at the provider itself."""
    if agent.provider() is None:
        return None
    url = await _listening(s)
    if url is None:
        raise InvalidInput(NOBODY.format(agent=run.agent))
    key = await asyncio.to_thread(keys.new, directory, KEYS)
    await asyncio.to_thread(counts.begin, directory, list(past))
    return Endpoint(url=f"{url}{RUNS}{run.id}", token=key)


async def _listening(s: Services) -> str | None:
    for _ in range(START_LOOKS):
        if s.reachable.url is not None:
            break
        await asyncio.sleep(0.05)
    return s.reachable.url


async def enter(s: Services, run_id: str, key: str) -> Caller:
    """Says the same of a run that is over as of one that never was."""
    try:
        run, _, project = await s.store.read(lambda tx: of(tx, RunId(run_id)))
    except RunNotFound:
        raise Unauthenticated(CLOSED) from None
    directory = await asyncio.to_thread(_opened, s, run.id, key)
    if directory is None or run.agent is None or not run.status.live:
        log.warning("gateway.key_refused", run=run.id)
        raise Unauthenticated(CLOSED)
    # What was changed meanwhile could lead the real key elsewhere.
    provider = agents.trusted_agent(s, run.agent, project, run.overrides.together).provider()
    if provider is None:
        raise Unauthenticated(CLOSED)
    return Caller(run_id=run.id, directory=directory, provider=provider)


def _opened(s: Services, run_id: RunId, key: str) -> Path | None:
    """The directory of the last turn, if it is the key of that one."""
    folders = [job_dir(s, run_id, turn) for turn in reversed(TURNS)]
    last = next((folder for folder in folders if (folder / KEYS).exists()), None)
    return last if last and keys.opens(last, KEYS, key) else None


async def admit(s: Services, caller: Caller) -> None:
    """Stops the run where a budget is used up, as it is stopped for it in any case."""
    over = await s.store.read(lambda tx: budgets.over(tx, s, caller.run_id))
    if over is not None:
        await s.runners.stop(caller.directory, "budget")
        raise BudgetUsedUp(over)


async def told(s: Services, caller: Caller, begun: datetime, heard: Counted, status: int) -> None:
    """Tells whoever watches that the model was asked."""
    with suppress(AgentsManagerError):  # Nobody's answer waits for it.
        run = await s.store.read(lambda tx: tx.runs.get(caller.run_id))
        traces.model_asked(s, run, begun, heard, status)


async def count(s: Services, caller: Caller, told: Counted) -> None:
    await asyncio.to_thread(counts.add, caller.directory, told)
    await spending.counted(s, caller.run_id, caller.directory)


async def limited(caller: Caller, until: datetime) -> None:
    """Records when the provider's limit ends: agents do not always pass it on."""
    await asyncio.to_thread(counts.limited, caller.directory, until)
