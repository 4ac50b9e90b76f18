"""Telling programs that watch others what goes on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Something that took a while. It is the same one whoever tells it, by its keys."""

    trace: str
    """What it is a part of."""
    key: str
    parent: str | None
    """The key of what it belongs to."""
    name: str
    start: datetime
    end: datetime
    client: bool = False
    """Whether another machine was asked for it."""
    attributes: Mapping[str, str | int | float | bool] = field(
        default_factory=dict[str, str | int | float | bool]
    )
    error: str | None = None
    """The kind of what went wrong."""


class Traces(Protocol):
    @property
    def on(self) -> bool:
        """Whether anybody is told."""
        ...

    @property
    def content(self) -> bool:
        """Whether they are told what agents and models say, too."""
        ...

    def tell(self, span: Span) -> None:
        """Never waits and never fails: what cannot be told is lost."""
        ...

    def close(self) -> None: ...


class Untold:
    """Nobody is told anything."""

    on = False
    content = False

    def tell(self, span: Span) -> None:
        pass

    def close(self) -> None:
        pass


UNTOLD = Untold()
