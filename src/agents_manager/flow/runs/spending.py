"""What a run has used and what that cost, while it goes on and at its end. A run that uses up a
budget is stopped as soon as it has told so, which is within one request to its model."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import structlog

from agents_manager.domain import cost
from agents_manager.domain.ids import RunId
from agents_manager.domain.run import LIMITS, Cost, Run, Usage
from agents_manager.domain.task import Project
from agents_manager.errors import AgentsManagerError, InvalidInput
from agents_manager.flow import budgets
from agents_manager.flow.ports import Agent, Meter, Said, Services, Tx
from agents_manager.flow.runs import counts
from agents_manager.flow.runs.places import FRESH, OUTPUT, TURNS, job_dir
from agents_manager.flow.runs.prepare import of
from agents_manager.flow.runs.verdict import Verdict
from agents_manager.flow.runs.watch import Position, pieces

POLL_S = 0.1
LOOK_S = 1.0
"""How often it is looked whether others used up a budget that a run shares with them."""
log = structlog.get_logger()


async def kept(run: Run, project: Project, directory: Path, s: Services) -> Verdict:
    """What counts of the output of a turn that was cut short: what it used, and its session. Best
    effort, since the turn is over whatever can be read."""
    if run.agent is None:
        return Verdict()
    try:
        agent = s.agents.get(run.agent, project)
        said = await asyncio.to_thread(heard, agent, directory)
        return of_turn(run, project, said, s)
    except (InvalidInput, OSError):
        return Verdict()


def heard(agent: Agent, directory: Path) -> Said:
    """What an agent printed need not be true: without a session there is none to lose, and what
    went through the gateway was used at least. The gateway also knows when a limit ends."""
    said = agent.read(directory)
    passed = counts.together(directory)
    limited = said.error_class in LIMITS and said.resets_at is None
    return replace(
        said,
        session_lost=said.session_lost and (directory / FRESH).exists(),
        usage=cost.larger(said.usage, passed.usage),
        model=said.model or passed.model,
        resets_at=counts.resets_at(directory) if limited else said.resets_at,
    )


def of_turn(run: Run, project: Project, said: Said, s: Services) -> Verdict:
    return Verdict(
        usage=said.usage.model_dump(mode="json") if said.usage else None,
        usage_refused=said.usage_refused,
        cost=_cost(run, project, said.usage, said.model, s),
        session=said.session,
        session_lost=said.session_lost,
    )


def _cost(
    run: Run, project: Project, usage: Usage | None, model: str | None, s: Services
) -> dict[str, Any] | None:
    prices = {**s.prices, **s.configs.of(project).prices}
    spent = cost.of_turn(usage, run.model or model, prices)
    return spent.model_dump(mode="json") if spent else None


def together(turns: Sequence[Verdict]) -> Verdict:
    """What all turns that were begun used and cost."""
    turns = [turn for turn in turns if turn.get("begun", True)]
    costs = [Cost.model_validate(c) if (c := turn.get("cost")) else None for turn in turns]
    spent = cost.together(costs)
    return Verdict(
        usage=_sum([turn.get("usage") for turn in turns]),
        usage_refused=next((why for t in turns if (why := t.get("usage_refused"))), None),
        cost=spent.model_dump(mode="json") if spent else None,
        session_lost=any(turn.get("session_lost") for turn in turns),
    )


def _sum(used: list[dict[str, Any] | None]) -> dict[str, Any] | None:
    """Of all turns; unknown where one of them did not say it."""
    known = [Usage.model_validate(usage) for usage in used if usage is not None]
    if not known or len(known) < len(used):
        return None
    return reduce(Usage.plus, known).model_dump(mode="json")


def keep(tx: Tx, run_id: RunId, used: Verdict) -> None:
    """Puts down what the run used and what that cost, as far as it is known."""
    usage = used.get("usage")
    spent = Cost.model_validate(told) if (told := used.get("cost")) else None
    tx.runs.update(
        run_id,
        usage=Usage.model_validate(usage) if usage else None,
        cost_usd=spent.usd if spent else None,
        cost_basis=spent.basis if spent else None,
    )


# ------------------------------------------------------------------------------ while it goes on


async def before(
    run: Run, project: Project, turn: int, s: Services
) -> tuple[list[Verdict], str | None]:
    """What the turns before this one used, and why it must not begin, unless it may or has."""
    past = [await kept(run, project, job_dir(s, run.id, n), s) for n in TURNS[: turn - 1]]

    def look(tx: Tx) -> str | None:
        if past:
            keep(tx, run.id, together(past))
        return budgets.over(tx, s, run.id)

    over = await (s.store.write(look) if past else s.store.read(look))
    begun = await asyncio.to_thread(job_dir(s, run.id, turn).exists)
    return past, None if begun else over


async def watch(
    s: Services, run_id: RunId, agent: Agent, turn: int, past: Sequence[Verdict]
) -> None:
    """Keeps what the agent tells of its usage with the run, and stops it once a budget is used up.
    Goes on until it is cancelled or has stopped the agent."""
    directory = job_dir(s, run_id, turn)
    # What goes through the gateway is counted there.
    meter = None if counts.begun(directory) else agent.meter()
    gauge = Gauge(meter, directory / OUTPUT, Position(turn))
    looked = time.monotonic()
    while True:
        await asyncio.sleep(POLL_S)
        try:
            if await asyncio.to_thread(gauge.moved):
                over = await _told(s, run_id, gauge, past)
            elif time.monotonic() < looked + LOOK_S:
                continue
            else:
                over = await s.store.read(lambda tx: budgets.over(tx, s, run_id))
            looked = time.monotonic()
            if over is not None:
                await s.runners.stop(directory, "budget")
                return
        except (AgentsManagerError, OSError) as error:
            log.warning("budget.not_watched", run=run_id, error=str(error))


class Gauge:
    """Reads on in the output of a turn."""

    def __init__(self, meter: Meter | None, output: Path, at: Position) -> None:
        self.meter = meter
        self._output = output
        self._at = at

    def moved(self) -> bool:
        """Whether more is known than at the last look. What is not believed any more was at least
        that much, until its run is over."""
        if self.meter is None:
            return False
        before = self.meter.usage
        while batch := pieces(self._output, self._at, over=False):
            for piece in batch:
                if piece.whole:
                    self.meter.take(piece.data.removesuffix(b"\n"))
            self._at = batch[-1].next
        return self.meter.usage not in (None, before)


async def _told(s: Services, run_id: RunId, gauge: Gauge, past: Sequence[Verdict]) -> str | None:
    assert gauge.meter is not None
    return await _note(s, run_id, gauge.meter.usage, gauge.meter.model, past)


async def counted(s: Services, run_id: RunId, directory: Path) -> None:
    """Keeps with the run what its requests through the gateway used."""
    past = await asyncio.to_thread(counts.past, directory)
    passed = await asyncio.to_thread(counts.together, directory)
    await _note(s, run_id, passed.usage, passed.model, past)


async def _note(
    s: Services,
    run_id: RunId,
    usage: Usage | None,
    model: str | None,
    past: Sequence[Verdict],
) -> str | None:
    def write(tx: Tx) -> str | None:
        run, _, project = of(tx, run_id)
        if not run.status.live:
            return None
        now = Verdict(
            usage=usage.model_dump(mode="json") if usage else None,
            cost=_cost(run, project, usage, model, s),
        )
        keep(tx, run_id, together([*past, now]))
        budgets.warn(tx, s, run_id)
        return budgets.over(tx, s, run_id)

    return await s.store.write(write)
