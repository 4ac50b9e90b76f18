"""A worker whose lease is short, as a program of its own: `home url name [deaf] [off]`. One that is
`deaf` does not notice that it was given up; with `off`, what it writes is not even refused then."""

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

from agents_manager.domain import host

host.BEAT_S, host.LEASE, host.DEAD_AFTER = 0.5, timedelta(seconds=6), timedelta(seconds=12)


async def main(home: str, url: str, name: str, *ways: str) -> None:
    from agents_manager import bootstrap, log, redaction
    from agents_manager.engine.lease import Lease
    from agents_manager.environment import Place, Settings
    from agents_manager.store import tx

    log.configure(json=False, level="warning", redactor=redaction.NOTHING)
    if "deaf" in ways:
        Lease.run = _nothing  # pyright: ignore[reportAttributeAccessIssue]
    if "off" in ways:
        tx._refuse_replaced = lambda _: None
    settings = Settings(Path(home), url, place=Place(name=name))
    async with bootstrap.worker(settings):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


async def _nothing(_: object) -> None:
    pass


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
