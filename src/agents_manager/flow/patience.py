"""What is gone for a while comes back: work that meets it waits, and goes on by itself."""

import asyncio
import errno
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from agents_manager.errors import StoreUnavailable

T = TypeVar("T")
log = structlog.get_logger()

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 5.0
"""However long it lasts, this is how much later it is noticed that it is over."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


async def through(do: Callable[[], Awaitable[T]]) -> T:
    """Does it as often as the database is away or the disk full. For what looks before it leaps: a
    commit whose answer was lost may have happened."""
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            return await do()
        except StoreUnavailable as error:
            why = error.message
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            why = str(error)
        log.warning("work.waits", reason=why, again_in_s=pause_s)
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, LONGEST_PAUSE_S)


def tell(what: str, error: Exception, **about: str) -> None:
    """Of a hiccup that must not end what goes on for ever: a line where it is known to pass, the
    whole story where it is not. Called where the error is caught."""
    if isinstance(error, StoreUnavailable):
        log.warning(what, reason=error.message, **about)
    else:
        log.exception(what, **about)
