"""A worker whose lease is short, as a program of its own: `home url name [deaf] [unfenced]`. One
that is `deaf` does not notice that it was given up; with `unfenced` what it writes is not refused
either."""

import asyncio
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from agents_manager.domain import host

host.BEAT_S, host.LEASE, host.DEAD_AFTER = 0.5, timedelta(seconds=6), timedelta(seconds=12)


async def main(home: str, url: str, name: str, *ways: str) -> None:
    from agents_manager import bootstrap, log, redaction
    from agents_manager.engine.lease import Lease
    from agents_manager.environment import Place, Settings
    from agents_manager.store import tx

    log.configure(json=False, level="warning", redactor=redaction.NOTHING)
    if "deaf" in ways:
        Lease._heard = _believe
    if "unfenced" in ways:
        tx._refuse_replaced = lambda _: None
    settings = Settings(Path(home), url, place=Place(name=name))
    async with bootstrap.worker(settings):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


async def _believe(self: Any, at: float, host: Any) -> bool:
    """Goes on, whatever it is told."""
    if host is not None:
        self._renewed(at, host)
    return False


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
