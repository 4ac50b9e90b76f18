"""The lease of a machine, where several share a database. It tells the database every few seconds
that it lives. While it cannot, it ends by itself what others will take over: first of all its
agents, which their runners end too when this process is gone or frozen."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Protocol, TypeVar

import structlog

from agents_manager.domain.host import (
    BEAT_S,
    LEASE,
    Host,
    HostState,
    Joining,
    Term,
    is_label,
    is_name,
)
from agents_manager.engine.disk import free_mb
from agents_manager.environment import Place
from agents_manager.errors import AgentsManagerError, HostLocked, HostReplaced, InvalidInput
from agents_manager.flow import admission, takeover
from agents_manager.flow.ports import Hosts, Services, Tx

log = structlog.get_logger()
T = TypeVar("T")

FILE = "lease"
"""In the data directory: until when agents may work, on the clock that goes on while the machine
sleeps. Runners look at it."""
ASK_S = 0.5
PATIENCE_S = LEASE.total_seconds() / 2


class Beats(Protocol):
    async def call(self, fn: Callable[[Hosts], T]) -> T: ...


class Lease:
    def __init__(
        self,
        s: Services,
        beats: Beats,
        joining: Joining,
        let_go: Callable[[], Awaitable[None]],
        lost: Callable[[AgentsManagerError], None],
    ) -> None:
        """`let_go` ends what this process performs; `lost` is told why it must end."""
        self._s = s
        assert s.here is not None, "one machine alone needs no lease"
        self._here = s.here
        self._tenure = s.here.tenure
        self._beats = beats
        self._joining = joining
        self._let_go = let_go
        self._lost = lost
        self._started_at: datetime | None = None
        self._state = HostState.UP
        self._cut_off = False

    async def join(self) -> None:
        """Begins to work; HostLocked or HostNameTaken where that must not be."""
        await self._take_lock()
        at, joining = self._tenure.clock(), self._joining
        self._begun(at, await self._s.store.write(lambda tx: tx.hosts.join(joining)))

    async def run(self) -> None:
        """For ever, or until the process must end."""
        over = False
        while not over:
            await asyncio.sleep(BEAT_S)
            over = await self.beat()

    async def beat(self) -> bool:
        """One sign of life; True when there must be no other."""
        term = self._tenure.term
        assert term is not None, "who has not joined has nothing to tell"
        at = self._tenure.clock()
        try:
            capacity, free = admission.takes(self._s), free_mb(self._s.home)
            async with asyncio.timeout(max(BEAT_S, min(self._tenure.until - at, PATIENCE_S))):
                host = await self._beats.call(lambda hosts: hosts.beat(term, capacity, free))
        except Exception as error:  # noqa: BLE001 - whatever it is, the next may succeed
            log.warning("host.not_heard", error=str(error) or type(error).__name__)
            await self._if_over()
            return False
        try:
            return await self._heard(at, host)
        except AgentsManagerError as error:
            log.warning("host.cannot_go_on", error=error.message)
            return False

    async def _heard(self, at: float, host: Host | None) -> bool:
        if host is not None and host.state is HostState.LEFT:
            await self._interrupt("This machine was sent away.")
            self._lost(HostReplaced(f'This machine ("{host.name}") was sent away and has ended.'))
            return True
        if host is not None and not self._cut_off:
            self._renewed(at, host)
            return False
        if host is None:
            found = await self._beats.call(lambda hosts: hosts.find(self._here.host))
            await self._interrupt("Others have given this machine up.")
            if found.started_at != self._started_at:
                name = f'"{found.name}" ({found.id})'
                self._lost(
                    HostReplaced(
                        f"Another process works as this machine, {name}, since it was started there"
                        " while this one was not heard of. If the data directory was copied, delete"
                        " the file host-id in the copy."
                    )
                )
                return True
        await self._begin_anew()
        return False

    async def _begin_anew(self) -> None:
        """What it had is taken over as from a dead machine, unless others did so already."""
        joining, at, term = self._joining, self._tenure.clock(), self._tenure.term

        def write(tx: Tx) -> Host:
            if term is not None and tx.hosts.give_up(term):
                why = f'The machine "{joining.name}" was cut off from the database.'
                takeover.of(tx, self._s, term.host, why)
            return tx.hosts.join(joining, self._state)

        self._begun(at, await self._s.store.write(write))
        log.warning("host.joined_again", host=joining.name)

    async def _if_over(self) -> None:
        if not self._tenure.held:
            await self._interrupt("The database was not reached for too long.")

    async def _interrupt(self, why: str) -> None:
        if self._cut_off:
            return
        self._cut_off = True
        self._tenure.until = 0.0
        log.error("host.cut_off", reason=why)
        await self._let_go()
        ended = await takeover.interrupt(self._s)
        log.warning("host.agents_ended", runs=ended)

    async def _take_lock(self) -> None:
        """One that a process of this machine left behind is waited for; where another one lives,
        this one is refused."""
        loop = asyncio.get_running_loop()
        end = loop.time() + LEASE.total_seconds()
        seen = await self._seen_at()
        while True:
            try:
                return await self._beats.call(lambda hosts: None)
            except HostLocked:
                if await self._seen_at() != seen or loop.time() > end:
                    raise
                await asyncio.sleep(ASK_S)

    async def _seen_at(self) -> datetime | None:
        known = await self._s.store.read(lambda tx: tx.hosts.all())
        return next((host.seen_at for host in known if host.id == self._here.host), None)

    def _begun(self, at: float, host: Host) -> None:
        self._tenure.term = Term(host.id, host.epoch)
        self._tenure.since = at
        self._started_at = host.started_at
        self._cut_off = False
        self._renewed(at, host)

    def _renewed(self, at: float, host: Host) -> None:
        """From before it was told: what took long to tell was told long ago."""
        self._state = host.state
        self._tenure.until = at + LEASE.total_seconds()
        with suppress(OSError):  # On a full disk its agents end.
            put(self._s.home / FILE, self._tenure.until)


def described(s: Services, place: Place, name: str | None, labels: Sequence[str]) -> Joining:
    """What this machine tells of itself: what it was started as, else what is configured."""
    assert s.here is not None
    name = place.name or name or socket.gethostname().partition(".")[0]
    labels = sorted({*labels, *place.labels})
    wrong = [f'"{label}" is no label' for label in labels if not is_label(label)]
    if not is_name(name):
        wrong.append(f'"{name}" cannot be the name of a machine')
    if wrong:
        raise InvalidInput(
            f"{'; '.join(wrong)}: letters, digits, dots and dashes, at most 63; a label may be"
            " key=value."
        )
    mine = {"id": s.here.host, "version": metadata.version("agents-manager")}
    return Joining(**mine, name=name, labels=labels, capacity=admission.takes(s))


def put(path: Path, until: float) -> None:
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(f"{until:.3f}")
    fresh.replace(path)
