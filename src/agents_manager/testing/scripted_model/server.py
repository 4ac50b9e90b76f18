"""The scripted model: a real HTTP server on loopback that answers from scripts."""

import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Self

from agents_manager.testing.scripted_model.listener import Listener
from agents_manager.testing.scripted_model.record import Record, Request
from agents_manager.testing.scripted_model.scenario import Scenario
from agents_manager.testing.scripted_model.steps import Say, Step, When

NAME = re.compile(r"[A-Za-z0-9._-]+")
SIDE = Say("OK.")
POLL_S = 0.01
"""Closing waits for as long."""


class ModelServer:
    """Serves many tests at once: each has a scenario of its own, which is part of the address."""

    def __init__(self) -> None:
        self._scenarios: dict[str, Scenario] = {}
        self._record = Record()
        self._listener = Listener(self._scenarios, self._record)
        threading.Thread(
            target=self._listener.serve_forever, args=(POLL_S,), name="scripted-model", daemon=True
        ).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._listener.close()

    def script(
        self, scenario: str, steps: Sequence[Step | When], *, side: Say | None = SIDE
    ) -> str:
        """Defines a scenario and returns its address. A request that offers no tools is a side
        request and gets `side`; with None it is part of the script."""
        if not NAME.fullmatch(scenario):
            raise ValueError(f'"{scenario}" is no name for a scenario: it is part of an address.')
        if scenario in self._scenarios:
            raise ValueError(f'The scenario "{scenario}" exists already.')
        self._scenarios[scenario] = Scenario(steps, side)
        return self.url(scenario)

    def url(self, scenario: str) -> str:
        """The base of every API's address, without its version."""
        return f"http://127.0.0.1:{self._listener.server_port}/s/{scenario}"

    def requests(self, scenario: str) -> list[Request]:
        return self._record.of(scenario)

    def wait_for(
        self, scenario: str, ready: Callable[[Sequence[Request]], bool], timeout: float = 30
    ) -> list[Request]:
        """Waits until the requests so far are as `ready` wants them."""
        return self._record.wait_for(scenario, ready, timeout)

    def release(self, scenario: str) -> None:
        """Lets go what hangs in the scenario, now and later."""
        self._scenarios[scenario].released.set()

    def check(self, scenario: str | None = None) -> None:
        """Fails when a request was refused or not expected: in one scenario, or anywhere."""
        faults = Counter(
            f"{r.method} {r.path}: {r.fault}" for r in self._record.of(scenario) if r.fault
        )
        lines = [f"{fault} ({times} times)" for fault, times in faults.items()]
        if lines:
            raise AssertionError("\n".join(["The scripted model was asked wrongly:", *lines]))
