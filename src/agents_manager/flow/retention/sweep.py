"""One pass of retention, by hand or once a day by the server: the same function, and only what the
settings allow."""

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from agents_manager.domain.audit import Deed
from agents_manager.domain.task import SYSTEM, Actor
from agents_manager.errors import AgentsManagerError, RetentionBusy
from agents_manager.flow import audit
from agents_manager.flow.ports import Services
from agents_manager.flow.retention import finding, remains, room, usage
from agents_manager.flow.retention.found import KINDS, Found, Item

log = structlog.get_logger()

LOOK_S = 300.0
EVERY = timedelta(days=1)
LISTED = 1_000
"""How many things a report names; all are counted."""


@dataclass(slots=True)
class Total:
    count: int = 0
    bytes: int | None = None
    """None: unknown."""

    def add(self, item: Item) -> None:
        self.count += item.count
        if item.bytes is not None:
            self.bytes = (self.bytes or 0) + item.bytes


@dataclass(frozen=True, slots=True)
class Report:
    at: datetime
    dry_run: bool
    totals: dict[str, Total] = field(default_factory=lambda: {kind: Total() for kind in KINDS})
    items: list[Item] = field(default_factory=list[Item])
    left: list[str] = field(default_factory=list[str])
    """What could not be looked at or removed, and why."""
    last: str | None = None
    """When the pass before this one was."""
    used: dict[str, int] = field(default_factory=dict[str, int])
    """Bytes that are in use afterwards, by kind."""


async def sweep(s: Services, *, dry_run: bool, by: Actor = SYSTEM) -> Report:
    """Removes what is old enough, or only tells what that is."""
    rules = s.configs.retention()
    before = (room.last(s.home) or {}).get("at")
    report = Report(s.clock.now(), dry_run, last=before)
    with nullcontext() if dry_run else room.alone(s.home):
        if not dry_run:
            # What a pass that was cut short had put away.
            await asyncio.to_thread(room.empty, s.home)
        async for found in finding.everything(s, rules, report.left):
            item = found.item if dry_run else await _removed(found, report)
            if item is None:
                continue
            report.totals[item.kind].add(item)
            if len(report.items) < LISTED:
                report.items.append(item)
        if not dry_run:
            await _told(s, report, by)
    report.used.update(await usage.measure(s))
    return report


async def _told(s: Services, report: Report, by: Actor) -> None:
    counts = {kind: total.count for kind, total in report.totals.items()}
    room.note(s.home, report.at, counts)
    if by == SYSTEM and not report.items:
        return
    parts = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    summary = f"removed what was old enough: {parts or 'nothing'}"
    await s.store.write(
        lambda tx: audit.note(tx, report.at, by, Deed.RETENTION_APPLIED, summary, **counts)
    )


async def _removed(found: Found, report: Report) -> Item | None:
    """What went, if anything."""
    try:
        gone = await found.remove()
    except (AgentsManagerError, OSError) as error:
        report.left.append(f"{found.item.what} stays: {error}")
        return None
    return replace(found.item, count=gone) if gone else None


async def run(s: Services) -> None:
    """For ever: once a day. The first pass is a day after the first start, so that nobody loses
    anything before they could read how long it is kept."""
    while True:
        try:
            await remains.look(s)
            if room.last(s.home) is None:
                room.note(s.home, s.clock.now(), {})
            elif _is_due(s):
                report = await sweep(s, dry_run=False)
                counts = {kind: total.count for kind, total in report.totals.items()}
                if report.items or report.left:
                    log.warning("retention.removed", **counts, left=report.left)
        except RetentionBusy:
            pass  # Somebody does it by hand.
        except AgentsManagerError as error:
            log.warning("retention.refused", reason=error.message, details=error.details)
        except Exception:  # A hiccup of the database must not end it.
            log.exception("retention.failed")
        await asyncio.sleep(LOOK_S)


def _is_due(s: Services) -> bool:
    last = room.last(s.home) or {}
    try:
        return s.clock.now() >= datetime.fromisoformat(str(last.get("at"))) + EVERY
    except (TypeError, ValueError):
        return True
