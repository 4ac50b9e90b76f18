"""Finds cached files of set-up commands that are beyond the limits of the cache."""

import asyncio
from datetime import UTC, datetime

from agents_manager.domain.retention import Retention
from agents_manager.flow.ports import CachedSetup, Services
from agents_manager.flow.retention.found import Found, Item


def find(s: Services, rules: Retention, now: datetime) -> list[Found]:
    """Returns the entries that were not used for long or take too much together."""
    return [_found(s, rules, entry, now) for entry in s.setup.excess()]


def _found(s: Services, rules: Retention, entry: CachedSetup, now: datetime) -> Found:
    days = (now - datetime.fromtimestamp(entry.used, UTC)).days
    old = rules.setup_days is not None and days >= rules.setup_days
    why = f"not used for {days} days (setupDays)" if old else "the cache is full (setupMb)"

    async def remove() -> int:
        return int(await asyncio.to_thread(s.setup.forget, entry.key))

    item = Item(kind="setup", what=f"installed by {entry.what}", why=why, bytes=entry.bytes)
    return Found(item, remove)
