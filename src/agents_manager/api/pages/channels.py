"""Channels, as they are set up and as they stand."""

from datetime import datetime

from agents_manager.api import schemas
from agents_manager.domain.routing import Occasion


class ChannelPerson(schemas.Out):
    name: str
    role: str


class Stranger(schemas.Out):
    """Somebody who wrote there, is not known and got no answer."""

    person: str
    called: str
    times: int
    last_at: datetime


class Channel(schemas.Out):
    name: str
    enabled: bool
    trouble: str | None
    """Why it cannot be used."""
    events: list[Occasion]
    break_through: list[Occasion]
    """What is told in quiet hours, too."""
    people: dict[str, ChannelPerson]
    """By their ids there."""
    places: list[str]
    waiting: int
    sent: int
    failed: int
    error: str | None
    """What went wrong last."""
    strangers: list[Stranger]


class Channels(schemas.Out):
    items: list[Channel]


class ChannelTest(schemas.Out):
    speaks_as: str
    places: list[str]
    """Where a message was sent to."""
