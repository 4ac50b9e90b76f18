"""What the interface needs of the program that serves it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

from agents_manager.flow.ports import Services


class Place(Protocol):
    @property
    def home(self) -> Path: ...


class Watched(Protocol):
    def watch(self) -> AsyncIterator[None]:
        """Yields whenever another connection, of any process, has committed."""
        ...


class Program(Protocol):
    @property
    def settings(self) -> Place: ...
    @property
    def services(self) -> Services: ...
    @property
    def database(self) -> Watched: ...
