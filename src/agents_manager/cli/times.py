"""Times as people write and read them: by the clock on the wall, in a time zone."""

import os
from datetime import datetime
from pathlib import Path
from typing import Any

import click

LOCALTIME = Path("/etc/localtime")
ZONES = "zoneinfo/"


class Moment(click.ParamType[Any]):
    """`2026-12-01T09:00`, or a day; with an offset, or in the zone of this machine."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from agents_manager.domain import recurrence

        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f'"{value}" is no time, such as 2026-12-01T09:00.', param, ctx)
        if at.tzinfo is not None:
            return at
        return recurrence.instant(at, recurrence.zone_of(here()))


class MomentOrNever(Moment):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value == "never" else super().convert(value, param, ctx)


def here() -> str:
    """The time zone of this machine, by its name; UTC where it has none."""
    from agents_manager.domain import recurrence
    from agents_manager.errors import InvalidInput

    name = os.environ.get("TZ", "").lstrip(":") or str(LOCALTIME.resolve()).rpartition(ZONES)[2]
    try:
        return recurrence.zone_of(name).key
    except InvalidInput:
        return "UTC"


def told(at: datetime, zone: str | None = None) -> str:
    """With the zone, which is that of this machine unless given."""
    from agents_manager.domain import recurrence

    name = zone or here()
    return f"{at.astimezone(recurrence.zone_of(name)):%a %Y-%m-%d %H:%M} {name}"
