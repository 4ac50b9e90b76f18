"""What one machine sees to for all that share a database."""

from datetime import timedelta

from agents_manager.flow.ports import Services

TERM = timedelta(minutes=5)
"""Within it whoever has a duty comes back to it; after that another may have it."""


async def is_mine(s: Services, name: str) -> bool:
    """Whether a duty is this machine's, which it is for a while then."""
    if s.here is None:
        return True
    host, now = s.here.host, s.clock.now()
    return await s.store.write(lambda tx: tx.deliveries.lease(name, host, now, now + TERM))
