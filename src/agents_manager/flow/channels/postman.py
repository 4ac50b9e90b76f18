"""One for each channel, so that one that is down holds up no other. A row is marked before it is
handed to the platform: what a crash leaves marked may have been told, and is told again as such."""

import asyncio
import random
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import structlog

from agents_manager.domain import routing
from agents_manager.domain.card import Card
from agents_manager.domain.delivery import Delivery, DeliveryState
from agents_manager.domain.reminder import QuietHours
from agents_manager.errors import ChannelDown, ChannelRefused, InvalidConfig, NotFound
from agents_manager.flow.channels import cards, router
from agents_manager.flow.ports import Channel, ChannelRules, Services, Tx

log = structlog.get_logger()

LOOKED_AT = 20
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 300.0
PATIENCE_S = 60.0
"""For how long a platform may take for one message."""


@dataclass(slots=True)
class Postman:
    s: Services
    channel: Channel
    host: str | None
    """The name of this machine, where several share a database."""
    rests_until: datetime | None = None
    failures: int = 0
    _random: random.Random = field(default_factory=random.SystemRandom)

    async def recover(self) -> None:
        """What was being sent when this program, or another machine, ended."""
        await self.s.store.write(self._recover)

    async def step(self) -> bool:
        """One message, or one taken back; False when there is nothing to do now."""
        if self.rests_until is not None and self.s.clock.now() < self.rests_until:
            return False
        claimed = None
        if await self.s.store.read(self._is_due):
            claimed = await self.s.store.write(self._claim)
        if claimed is not None:
            await self._send(*claimed)
            return True
        spent = await self.s.store.read(self._spent)
        if spent is not None:
            await self._take_back(*spent)
        return spent is not None

    def _recover(self, tx: Tx) -> None:
        now = self.s.clock.now()
        alive = tx.hosts.alive()
        for row in tx.deliveries.sending(self.channel.name):
            if row.host != self.host and row.host in alive:
                continue
            again = {"state": DeliveryState.PENDING, "repeat": True, "host": None, "due_at": now}
            tx.deliveries.update(row.id, **again)

    def _is_due(self, tx: Tx) -> bool:
        return bool(tx.deliveries.due(self.channel.name, self.s.clock.now(), 1))

    def _claim(self, tx: Tx) -> tuple[Delivery, Card] | None:
        now, places = self.s.clock.now(), self.channel.places()
        for row in tx.deliveries.due(self.channel.name, now, LOOKED_AT):
            if row.place not in places:
                gone = f'"{row.place}" is no place of {self.channel.name} any more.'
                tx.deliveries.update(row.id, state=DeliveryState.VOID, error=gone)
                continue
            shown = cards.of(tx, self.s, row)
            if shown is None:
                why = "Nobody had to answer it any more."
                tx.deliveries.update(row.id, state=DeliveryState.VOID, error=why)
                continue
            rules, quiet = self._rules(tx, row)
            through = row.occasion in rules.break_through
            held = routing.held_until(now, quiet, through=through)
            if held is not None:
                tx.deliveries.update(row.id, due_at=held)
                continue
            card, actions = shown
            claim = {"host": self.host, "attempts": row.attempts + 1, "actions": tuple(actions)}
            tx.deliveries.update(row.id, state=DeliveryState.SENDING, **claim)
            return tx.deliveries.find(row.id) or row, card
        return None

    def _rules(self, tx: Tx, row: Delivery) -> tuple[ChannelRules, QuietHours | None]:
        """As they hold for the project that it is about."""
        project = None
        if row.task_id is not None:
            with suppress(NotFound):
                project = tx.projects.get(tx.tasks.get(row.task_id).project_id)
        rules = router.rules_of(self.s, project)[self.channel.name]
        try:
            quiet = self.s.configs.of(project).reminders.quiet if project else None
        except InvalidConfig:
            quiet = None
        return rules, quiet or self.s.configs.quiet()

    async def _send(self, row: Delivery, card: Card) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                message = await self.channel.send(row.place, card)
        except ChannelRefused as error:
            await self._write(row, state=DeliveryState.FAILED, error=error.message)
            log.warning("channel.refused", channel=self.channel.name, error=error.message)
        except (ChannelDown, TimeoutError) as error:
            await self._later(row, error, state=DeliveryState.PENDING)
        except Exception as error:  # A fault of the channel must not hold up what comes after.
            log.exception("channel.failed", channel=self.channel.name)
            await self._later(row, error, state=DeliveryState.PENDING)
        else:
            self.failures, now = 0, self.s.clock.now()
            closed = None if row.prompt_id else now
            sent = {"state": DeliveryState.SENT, "message": message, "error": None}
            await self._write(row, **sent, sent_at=now, closed_at=closed, host=None)

    def _spent(self, tx: Tx) -> tuple[Delivery, Card] | None:
        now = self.s.clock.now()
        for row in tx.deliveries.spent(self.channel.name, now, 1):
            return row, cards.closed(tx, self.s, row)
        return None

    async def _take_back(self, row: Delivery, card: Card) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self.channel.update(row.place, row.message or "", card)
        except ChannelRefused as error:
            await self._write(row, closed_at=self.s.clock.now(), error=error.message)
        except (ChannelDown, TimeoutError) as error:
            await self._later(row, error)
        except Exception as error:
            log.exception("channel.failed", channel=self.channel.name)
            await self._later(row, error)
        else:
            self.failures = 0
            await self._write(row, closed_at=self.s.clock.now(), error=None)

    async def _later(self, row: Delivery, error: Exception, **fields: Any) -> None:
        """A platform that is down is tried again, however long that takes."""
        self.failures += 1
        wait_s = error.wait_s if isinstance(error, ChannelDown) else None
        if isinstance(error, TimeoutError) or (isinstance(error, ChannelDown) and error.unsure):
            fields["repeat"] = True  # It may have got there.
        pause = wait_s or self._pause_s()
        self.rests_until = self.s.clock.now() + timedelta(seconds=pause)
        said = str(error) or "It did not answer in time."
        await self._write(row, due_at=self.rests_until, error=said, host=None, **fields)

    def _pause_s(self) -> float:
        whole = min(FIRST_PAUSE_S * 2 ** min(self.failures - 1, 20), LONGEST_PAUSE_S)
        return whole * self._random.uniform(0.5, 1.0)

    async def _write(self, row: Delivery, **fields: Any) -> None:
        await self.s.store.write(lambda tx: tx.deliveries.update(row.id, **fields))
