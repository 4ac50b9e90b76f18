"""Keeps the channels going that are switched on: what happens becomes rows, a postman for each
channel brings them, and what people do there comes to the desk."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar

import structlog

from agents_manager.domain.task import Project
from agents_manager.errors import AgentsManagerError, ChannelDown, ChannelError, InvalidConfig
from agents_manager.flow import patience
from agents_manager.flow.channels import daily, router
from agents_manager.flow.channels.desk import FrontDesk
from agents_manager.flow.channels.postman import Postman
from agents_manager.flow.ports import Channel, Services, Tx

log = structlog.get_logger()
T = TypeVar("T")

EVERY_S = 1.0
IDLE_S = 30.0
"""How often the position in the log is brought up to date while nobody listens."""
LEASE = timedelta(seconds=60)
RENEW_S = 10.0
TRY_AGAIN_S = 15.0


class Office:
    def __init__(self, s: Services, host: str | None) -> None:
        self._s = s
        self._host = host
        self._loop = asyncio.get_running_loop()
        self._bell = asyncio.Event()
        self._bells: dict[str, asyncio.Event] = {}
        self._working: dict[str, asyncio.Task[None]] = {}

    def wake(self) -> None:
        """May be called from any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._bell.set)

    async def run(self) -> None:
        """For ever. Those that are switched on later begin then."""
        looked_at = passed_at = float("-inf")
        on = set[str]()
        try:
            while True:
                if self._loop.time() - looked_at >= EVERY_S:
                    looked_at = self._loop.time()
                    on = await _safely(self._switch, set[str]())
                if on:
                    await _safely(self._route, None)
                    await _pause(self._bell, EVERY_S)
                    continue
                if self._loop.time() - passed_at > IDLE_S:
                    passed_at = self._loop.time()
                    await _safely(self._pass_over, None)
                await asyncio.sleep(EVERY_S)
        finally:
            tasks = list(self._working.values())
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)

    async def _switch(self) -> set[str]:
        """Begins and ends what was switched on and off; those that are on."""
        on = await asyncio.to_thread(enabled, self._s, await _projects(self._s))
        on = await self._s.store.read(lambda tx: {n for n in on if router.heard(tx, self._s, n)})
        for name in on - self._working.keys():
            self._bells[name] = asyncio.Event()
            self._working[name] = self._loop.create_task(self._serve(name))
        for name in self._working.keys() - on:
            self._working.pop(name).cancel()
        return on

    async def _route(self) -> None:
        s = self._s
        while await s.store.read(router.is_new):
            await s.store.write(lambda tx: router.route(tx, s))
        if await s.store.read(lambda tx: daily.is_due(tx, s)):
            await s.store.write(lambda tx: daily.tell(tx, s))
        for bell in self._bells.values():
            bell.set()

    async def _pass_over(self) -> None:
        if await self._s.store.read(router.is_behind):
            await self._s.store.write(router.pass_over)

    async def _serve(self, name: str) -> None:
        """Where several machines share a database, on one of them at a time."""
        work: asyncio.Task[None] | None = None
        try:
            while True:
                held = await _safely(lambda: self._lease(name), default=False)
                if held and work is None:
                    work = self._loop.create_task(self._work(name))
                elif not held and work is not None:
                    work.cancel()
                    work = None
                await asyncio.sleep(RENEW_S)
        finally:
            if work is not None:
                work.cancel()
                with suppress(asyncio.CancelledError):
                    await work

    async def _lease(self, name: str) -> bool:
        if self._host is None:
            return True
        host = self._host

        def write(tx: Tx) -> bool:
            now = tx.hosts.now()
            return tx.deliveries.lease(f"channel {name}", host, now, now + LEASE)

        return await self._s.store.write(write)

    async def _work(self, name: str) -> None:
        channel = await self._built(name)
        listening = self._loop.create_task(self._listen(channel))
        try:
            await self._carry(Postman(self._s, channel, self._host))
        finally:
            listening.cancel()
            with suppress(asyncio.CancelledError):
                await listening

    async def _built(self, name: str) -> Channel:
        told = ""
        while True:
            try:
                return self._s.channels[name]()
            except AgentsManagerError as error:
                if error.message != told:
                    told = error.message
                    log.warning("channel.not_set_up", channel=name, reason=told)
                await asyncio.sleep(TRY_AGAIN_S)

    async def _carry(self, postman: Postman) -> None:
        await _safely(postman.recover, None)
        while True:
            if not await _safely(postman.step, default=False):
                await _pause(self._bells[postman.channel.name], EVERY_S)

    async def _listen(self, channel: Channel) -> None:
        desk = FrontDesk(self._s)
        while True:
            try:
                await channel.listen(desk)
            except ChannelError as error:
                log.warning("channel.deaf", channel=channel.name, reason=error.message)
                wait_s = error.wait_s if isinstance(error, ChannelDown) else None
                await asyncio.sleep(wait_s or TRY_AGAIN_S)
            except Exception as error:  # noqa: BLE001 - whatever it was, it is told
                patience.tell("channel.deaf", error, channel=channel.name)
                await asyncio.sleep(TRY_AGAIN_S)
            else:
                return  # People cannot answer there.


async def _pause(bell: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await bell.wait()
    bell.clear()


def enabled(s: Services, projects: list[Project]) -> set[str]:
    """The channels that the user or a project switched on."""
    found: set[str] = set()
    for project in (None, *projects):
        with suppress(InvalidConfig):
            rules = s.configs.channels(project)
            found |= {name for name, one in rules.items() if one.enabled and name in s.channels}
    return found


async def _projects(s: Services) -> list[Project]:
    return await s.store.read(lambda tx: tx.projects.all())


async def _safely(do: Callable[[], Awaitable[T]], default: T) -> T:
    """A hiccup must not end it."""
    try:
        return await do()
    except Exception as error:  # noqa: BLE001 - whatever it was, it is told
        patience.tell("channels.failed", error)
        return default
