"""How fast requests may come. A page that is stuck in a loop, or a flood of webhooks, is told to
wait before it keeps the server from others."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from agents_manager.errors import TooManyRequests

A_SECOND = 100
AT_ONCE = 1_000
MOST_CALLERS = 10_000


@dataclass(slots=True)
class _Allowance:
    left: float
    at: float


class Pace:
    """By caller: as many as `at_once`, and then as many as come back each second."""

    def __init__(
        self,
        a_second: float = A_SECOND,
        at_once: float = AT_ONCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._a_second = a_second
        self._at_once = at_once
        self._clock = clock
        self._callers: dict[str, _Allowance] = {}

    def take(self, caller: str) -> None:
        now = self._clock()
        known = self._callers.get(caller)
        if known is None:
            if len(self._callers) >= MOST_CALLERS:
                self._callers.clear()
            known = self._callers[caller] = _Allowance(self._at_once, now)
        known.left = min(self._at_once, known.left + (now - known.at) * self._a_second)
        known.at = now
        if known.left < 1:
            raise TooManyRequests(
                f"More than {self._a_second:g} requests a second come from you; wait a second."
            )
        known.left -= 1
