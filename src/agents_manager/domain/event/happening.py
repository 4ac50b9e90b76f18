"""What every event is."""

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import ClassVar

from agents_manager.domain.names import visible
from agents_manager.domain.value import Value


class Level(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def counted_as(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


SENTENCE_LIMIT = 1_000


class Happening(Value, ABC):
    category: ClassVar[str] = "lifecycle"
    level: ClassVar[Level] = Level.INFO

    def sentence(self) -> str:
        """What happened, on one line, whatever agents and tools wrote into it; all of their words
        are in the fields."""
        return visible(self.says()[: 4 * SENTENCE_LIMIT], SENTENCE_LIMIT)

    @abstractmethod
    def says(self) -> str: ...
