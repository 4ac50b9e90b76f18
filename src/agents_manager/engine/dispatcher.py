"""Hands out work items: starts due effects as workflows, at once after a commit, and sweeps up
what a crash left."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from enum import Enum, auto
from typing import Protocol

import structlog

from agents_manager.domain.ids import EffectId, RunId
from agents_manager.domain.task import EffectRow
from agents_manager.flow import admission, patience
from agents_manager.flow.ports import Services, Tx, acting

log = structlog.get_logger()

SWEEP_S = 2.0


class Progress(Enum):
    UNDER_WAY = auto()
    OVER = auto()
    FORGOTTEN = auto()
    """It counts as under way here while nobody performs it: the engine could not keep how it ended,
    as on a full disk."""


class Workflows(Protocol):
    async def start(self, effect_id: EffectId, attempt: int) -> None: ...
    async def look(self, work: Sequence[tuple[EffectId, int]]) -> Mapping[EffectId, Progress]: ...
    async def resume(self, effect_id: EffectId, attempt: int) -> None: ...


class Dispatcher:
    def __init__(
        self,
        services: Services,
        workflows: Workflows,
        crashed: Callable[[EffectId, int, str], Awaitable[None]],
    ) -> None:
        self._services = services
        self._store = services.store
        self._workflows = workflows
        self._crashed = crashed
        self._clock = services.clock
        self._here = services.here
        self._host = services.here and services.here.host
        self._forgotten = frozenset[tuple[EffectId, int]]()
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
                with acting(self._here):
                    if self._loop.time() - last_sweep >= SWEEP_S:
                        await self.sweep()
                        last_sweep = self._loop.time()
                    pause = await self.dispatch()
                self._services.heartbeat.at = self._loop.time()
            except Exception as error:  # noqa: BLE001 - a hiccup must not end it
                patience.tell("dispatcher.failed", error)
                pause = SWEEP_S
            try:
                async with asyncio.timeout(pause):
                    await self._awake.wait()
            except TimeoutError:
                continue

    async def dispatch(self) -> float:
        """Hands out what is due and may begin; returns for how long nothing more will be. What is
        handed out is a commit, after which this is called again."""
        if self._here is not None and not self._here.tenure.held:
            return SWEEP_S
        now = self._clock.now()
        due, pause = await self._store.read(lambda tx: self._look(tx, now))
        if due:
            for row in await self._store.write(lambda tx: self._admit(tx, now)):
                await self._workflows.start(row.id, row.attempt)
        return pause

    async def sweep(self) -> None:
        """A started effect whose workflow is unknown is started; one whose workflow is over
        without having finished it was cut short, and counts as a failed attempt; one that nobody
        performs, at two looks, is taken up again."""
        started = await self._store.read(lambda tx: tx.effects.started())
        forgotten: set[tuple[EffectId, int]] = set()
        mine = [row for row in started if self._is_mine(row)]
        found = await self._workflows.look([(row.id, row.attempt) for row in mine])
        for row in mine:
            match found.get(row.id):
                case None:
                    await self._workflows.start(row.id, row.attempt)
                case Progress.OVER:
                    told = "The engine ended it before it was done."
                    await self._crashed(row.id, row.attempt, told)
                case Progress.FORGOTTEN:
                    forgotten.add((row.id, row.attempt))
                    if (row.id, row.attempt) in self._forgotten:
                        log.warning("dispatcher.taken_up_again", effect=row.id, attempt=row.attempt)
                        await self._workflows.resume(row.id, row.attempt)
                case Progress.UNDER_WAY:
                    pass
        self._forgotten = frozenset(forgotten)

    def _admit(self, tx: Tx, now: datetime) -> list[EffectRow]:
        decided = admission.decide(tx, self._services, now)
        for effect_id, why in decided.waiting.items():
            tx.effects.update(effect_id, result={admission.WAITS: why})
        for row in decided.admitted:
            if self._host is not None and row.kind == "start_agent":
                tx.runs.update(RunId(row.payload["run_id"]), host=self._host)
            tx.effects.update(row.id, status="started", host=self._host, result=None)
        return decided.admitted

    def _is_mine(self, row: EffectRow) -> bool:
        """What another machine performs is its own business; what came of no machine is ours."""
        return row.host in (None, self._host) or self._host is None

    def _look(self, tx: Tx, now: datetime) -> tuple[bool, float]:
        """Whether something is to be handed out, and how long until the next. What is due and has
        to wait is woken by a commit, or found by a sweep."""
        following = tx.effects.next_due(now)
        pause = SWEEP_S if following is None else (following - now).total_seconds()
        due = bool(tx.effects.due(now, 1))
        if due and self._host is not None:
            # Only one of those that share the database can write at a time.
            decided = admission.decide(tx, self._services, now)
            due = bool(decided.admitted or decided.waiting)
        return due, min(SWEEP_S, max(0.02, pause))
