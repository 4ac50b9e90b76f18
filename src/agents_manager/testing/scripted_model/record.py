"""Every request that came in, for tests to look at."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

State: TypeAlias = Literal["answering", "hanging", "done", "cut", "gone"]


@dataclass(slots=True, kw_only=True)
class Request:
    scenario: str
    method: str
    path: str
    headers: Mapping[str, str]
    """With names in lower case."""
    body: Any = None
    """What the JSON says, or None."""
    step: int | None = None
    """The step that answered; None is a side request, or one that was not expected."""
    fault: str | None = None
    """Why the request was not expected, or refused."""
    state: State = "answering"
    """`gone` is a client that went before it had the whole answer."""


class Record:
    def __init__(self) -> None:
        self._requests: list[Request] = []
        self._changed = threading.Condition()

    def add(self, request: Request) -> None:
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()

    def mark(self, request: Request, state: State) -> None:
        with self._changed:
            request.state = state
            self._changed.notify_all()

    def of(self, scenario: str | None) -> list[Request]:
        with self._changed:
            return [r for r in self._requests if scenario in (None, r.scenario)]

    def wait_for(
        self, scenario: str, ready: Callable[[Sequence[Request]], bool], timeout: float
    ) -> list[Request]:
        end = time.monotonic() + timeout
        with self._changed:
            while not ready(seen := self.of(scenario)):
                left = end - time.monotonic()
                if left <= 0:
                    raise TimeoutError(_late(scenario, seen, timeout))
                self._changed.wait(left)
        return seen


def _late(scenario: str, seen: Sequence[Request], timeout: float) -> str:
    states = ", ".join(request.state for request in seen) or "none"
    return f'"{scenario}" was not ready within {timeout} s; states of its requests: {states}.'
