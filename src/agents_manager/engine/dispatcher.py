"""Hands out work items: starts due effects as workflows, at once after a commit, and sweeps up
what a crash left. Admission (how many agents at a time) lives here."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

import structlog

from agents_manager.domain.ids import EffectId
from agents_manager.domain.task import EffectRow
from agents_manager.flow.ports import Clock, Store, Tx

log = structlog.get_logger()

SWEEP_S = 2.0
BATCH = 50


class Workflows(Protocol):
    async def start(self, effect_id: EffectId, attempt: int) -> None: ...
    async def is_over(self, effect_id: EffectId, attempt: int) -> bool | None: ...


class Dispatcher:
    def __init__(
        self,
        store: Store,
        workflows: Workflows,
        crashed: Callable[[EffectId, int, str], Awaitable[None]],
        clock: Clock,
        *,
        max_agents: int,
        shortage: Callable[[], str | None],
        host: str | None,
    ) -> None:
        self._store = store
        self._workflows = workflows
        self._crashed = crashed
        self._clock = clock
        self._max_agents = max_agents
        self._shortage = shortage
        self._host = host
        self._awake = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def wake(self) -> None:
        """May be called from any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._awake.set)

    async def run(self) -> None:
        """For ever: hand out what is due, sweep now and then, sleep until something happens."""
        last_sweep = float("-inf")
        while True:
            self._awake.clear()
            try:
                if self._loop.time() - last_sweep >= SWEEP_S:
                    await self.sweep()
                    last_sweep = self._loop.time()
                pause = await self.dispatch()
            except Exception:  # The supervisor tick: a hiccup must not end it.
                log.exception("dispatcher.failed")
                pause = SWEEP_S
            try:
                async with asyncio.timeout(pause):
                    await self._awake.wait()
            except TimeoutError:
                continue

    async def dispatch(self) -> float:
        """Hands out what is due; returns for how long nothing more will be."""
        due, pause = await self._store.read(self._look)
        if not due:
            return pause
        for row in await self._store.write(self._admit):
            await self._workflows.start(row.id, row.attempt)
        return (await self._store.read(self._look))[1]

    async def sweep(self) -> None:
        """A started effect whose workflow is unknown is started; one whose workflow is over
        without having finished it was cut short, and counts as a failed attempt."""
        started = await self._store.read(lambda tx: tx.effects.started())
        for row in (row for row in started if self._is_mine(row)):
            over = await self._workflows.is_over(row.id, row.attempt)
            if over is None:
                await self._workflows.start(row.id, row.attempt)
            elif over:
                await self._crashed(row.id, row.attempt, "The engine ended it before it was done.")

    def _admit(self, tx: Tx) -> list[EffectRow]:
        places = 0 if self._shortage() else self._max_agents
        started = [e for e in tx.effects.started() if self._is_mine(e)]
        running = sum(e.kind == "start_agent" for e in started)
        admitted: list[EffectRow] = []
        for row in tx.effects.due(self._clock.now(), BATCH):
            if row.kind == "start_agent":
                if running >= places:
                    continue
                running += 1
            tx.effects.update(row.id, status="started", host=self._host)
            admitted.append(row)
        return admitted

    def _is_mine(self, row: EffectRow) -> bool:
        """What another machine performs is its own business; what came of no machine is ours."""
        return row.host in (None, self._host) or self._host is None

    def _look(self, tx: Tx) -> tuple[bool, float]:
        """Whether something is due, and how long until the next. What has been due for a while
        waits for a place, which a commit or time gives."""
        now = self._clock.now()
        following = tx.effects.next_due()
        left = SWEEP_S if following is None else (following - now).total_seconds()
        pause = left if left > -SWEEP_S else SWEEP_S
        return bool(tx.effects.due(now, BATCH)), min(SWEEP_S, max(0.02, pause))
