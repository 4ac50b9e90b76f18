"""Wrong tokens at the login. They are long and random, so what is bounded here is the work and the
noise of trying; a right one is never held up by the wrong ones of others."""

import asyncio

from agents_manager.errors import TooManyAttempts

PAUSE_S = 0.5
MOST_WAITING = 20


class Failures:
    def __init__(self) -> None:
        self._waiting = 0

    async def hold(self) -> None:
        """Before a wrong token is answered."""
        if self._waiting >= MOST_WAITING:
            raise TooManyAttempts("Too many wrong tokens are tried at once; wait a moment.")
        self._waiting += 1
        try:
            await asyncio.sleep(PAUSE_S)
        finally:
            self._waiting -= 1
