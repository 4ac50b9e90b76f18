"""A worker whose lease is short, as a program of its own: `home url name [off]`. With `off`, what a
machine writes that was given up is not refused."""

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

from agents_manager.domain import host

host.BEAT_S, host.LEASE, host.DEAD_AFTER = 0.5, timedelta(seconds=6), timedelta(seconds=12)


async def main(home: str, url: str, name: str, off: str = "") -> None:
    from agents_manager import bootstrap, log, redaction
    from agents_manager.environment import Place, Settings
    from agents_manager.store import tx

    log.configure(json=False, level="warning", redactor=redaction.NOTHING)
    if off:
        tx._refuse_replaced = lambda _: None
    settings = Settings(Path(home), url, place=Place(name=name))
    async with bootstrap.worker(settings):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
