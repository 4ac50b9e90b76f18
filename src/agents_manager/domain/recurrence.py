"""When something recurs: five fields as cron has them or a few plain words, by the clock on the
wall of a time zone. A time that does not exist there is the next one that does; one that comes
twice counts once."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import pairwise, takewhile
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from agents_manager.domain.names import visible
from agents_manager.errors import InvalidInput, closest

SHORTEST = timedelta(minutes=15)
DEFAULT_TIME = time(9)
HORIZON_DAYS = 3000
"""Leap days can be eight years apart; what has no day within this has none."""
LONGEST = 200
SHOWN = 60

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_BY_CRON = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
EXAMPLES = 'such as "0 9 * * 1-5", "every day at 09:00", "weekdays at 18:30" or "every 2 weeks"'
ALL_DAYS = frozenset(range(1, 32))
ALL_MONTHS = frozenset(range(1, 13))
WHOLE_WEEK = frozenset(range(7))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    times: tuple[time, ...]
    """Of a day, in order."""
    days: Collection[int] = ALL_DAYS
    months: Collection[int] = ALL_MONTHS
    weekdays: Collection[int] = WHOLE_WEEK
    """Monday is 0; none: the weekday on which it began."""
    either: bool = False
    """Whether a day of the month or of the week is enough, as cron has it where both are given."""
    every_days: int = 1
    every_weeks: int = 1

    def on(self, day: date, begun: date) -> bool:
        """Whether it is a day of the rule; every so many days or weeks are counted from the day on
        which it began."""
        if day.month not in self.months:
            return False
        of_month = day.day in self.days
        of_week = day.weekday() in (self.weekdays or (begun.weekday(),))
        fits = (of_month or of_week) if self.either else (of_month and of_week)
        weeks = (_monday(day) - _monday(begun)).days // 7
        return fits and (day - begun).days % self.every_days == 0 and weeks % self.every_weeks == 0


def parse(text: str) -> Rule:
    """A rule that fires now and then; InvalidInput says what is wrong with any other."""
    words = " ".join(text.lower().split())
    if len(words) > LONGEST:
        raise InvalidInput(f"A rule has at most {LONGEST} characters.")
    rule = _cron(words) if len(words.split()) == 5 and words[:1] in "*0123456789" else _said(words)
    shown = visible(text, SHOWN)
    if _closest_together(rule) < SHORTEST:
        minutes = SHORTEST // timedelta(minutes=1)
        raise InvalidInput(
            f'The rule "{shown}" fires more often than every {minutes} minutes, and each time makes'
            " a task; give it fewer times."
        )
    begun = date(2000, 1, 3)
    if next(fires(rule, UTC, begun, datetime(2000, 1, 3, tzinfo=UTC)), None) is None:
        raise InvalidInput(f'The rule "{shown}" names a day that never comes.')
    return rule


def fires(rule: Rule, zone: tzinfo, begun: date, after: datetime) -> Iterator[datetime]:
    """Every time it fires after an instant, in order and each once, in UTC."""
    day, last, quiet = after.astimezone(zone).date(), after, 0
    while quiet < HORIZON_DAYS and day.year < 9999:
        quiet += 1
        for at in rule.times if rule.on(day, begun) else ():
            moment = instant(datetime.combine(day, at), zone)
            if moment > last:
                last, quiet = moment, 0
                yield moment
        day += timedelta(days=1)


def latest(
    rule: Rule, zone: tzinfo, begun: date, since: datetime, now: datetime
) -> datetime | None:
    """The last time it fired from one instant to another, both included; None if it did not."""
    for days in (2, 40, 400, HORIZON_DAYS):
        start = max(since, now - timedelta(days=days))
        later = fires(rule, zone, begun, start - timedelta(microseconds=1))
        found = list(takewhile(lambda at: at <= now, later))
        if found or start == since:
            return found[-1] if found else None
    return None


def instant(local: datetime, zone: tzinfo) -> datetime:
    """When the clock on the wall shows a time, in UTC: the first of two, the next where there is
    none."""
    while True:
        found = local.replace(tzinfo=zone).astimezone(UTC)
        if found.astimezone(zone).replace(tzinfo=None) == local:
            return found
        local = local.replace(second=0, microsecond=0) + timedelta(minutes=1)


def to_come(at: datetime | None, now: datetime) -> datetime | None:
    """A time that somebody set; InvalidInput when it is over."""
    if at is None:
        return None
    found = at.astimezone(UTC)
    if found <= now:
        raise InvalidInput(f"{found:%Y-%m-%d %H:%M} UTC is over: it is {now:%Y-%m-%d %H:%M} UTC.")
    return found


def zone_of(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        hint = closest(name, sorted(available_timezones()))
        raise InvalidInput(
            f'There is no time zone "{visible(name, SHOWN)}"; give one such as Europe/Berlin.{hint}'
        ) from None


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _closest_together(rule: Rule) -> timedelta:
    """The shortest time between two of its times, also over midnight."""
    begin = datetime(2000, 1, 1)  # noqa: DTZ001 - only differences count
    at = [datetime.combine(begin, one) for one in rule.times]
    at.append(at[0] + timedelta(days=1))
    return min(later - earlier for earlier, later in pairwise(at))


# ------------------------------------------------------------------------------------------- cron


def _cron(text: str) -> Rule:
    minute, hour, day, month, weekday = text.split()
    minutes, hours = _field(minute, 0, 59, "minute"), _field(hour, 0, 23, "hour")
    by_cron = _field(weekday, 0, 7, "day of the week", _BY_CRON)
    return Rule(
        times=tuple(time(h, m) for h in sorted(hours) for m in sorted(minutes)),
        days=_field(day, 1, 31, "day of the month"),
        months=_field(month, 1, 12, "month", ("", *MONTHS)),
        weekdays=frozenset((one - 1) % 7 for one in by_cron),
        either=day[0] != "*" and weekday[0] != "*",
    )


def _field(
    text: str, low: int, high: int, what: str, names: tuple[str, ...] = ()
) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        said = re.fullmatch(r"(\*|[a-z0-9]+)(?:-([a-z0-9]+))?(?:/([0-9]{1,2}))?", part)
        if said is None or (said[1] == "*" and said[2]):
            raise _no_field(part, what)
        step = int(said[3] or 1)
        first = low if said[1] == "*" else _number(said[1], what, names)
        only = first if said[3] is None and said[1] != "*" else high
        last = _number(said[2], what, names) if said[2] else only
        if step < 1 or not low <= first <= last <= high:
            raise _no_field(part, what)
        found.update(range(first, last + 1, step))
    return frozenset(found)


def _number(text: str, what: str, names: tuple[str, ...]) -> int:
    if text in names:
        return names.index(text)
    if not text.isdecimal() or len(text) > 2:
        raise _no_field(text, what)
    return int(text)


def _no_field(part: str, what: str) -> InvalidInput:
    return InvalidInput(f'"{visible(part, SHOWN)}" is no {what} of a rule; write one {EXAMPLES}.')


# ------------------------------------------------------------------------------------------ words

_WORDS = re.compile(
    r"(?:every )?(?:(?P<number>[1-9][0-9]{0,2}) )?(?P<unit>[a-z, ]+?)"
    r"(?: on (?P<on>[a-z, ]+?))?(?: at (?P<at>[0-9:, ]+))?"
)


def _said(text: str) -> Rule:
    said = _WORDS.fullmatch(text)
    if said is None:
        raise _not_understood(text)
    times, number, unit = _times(said["at"]), int(said["number"] or 1), said["unit"]
    on = _weekdays(said["on"]) if said["on"] else frozenset[int]()
    if unit in ("week", "weeks", "weekly"):
        return Rule(times=times, weekdays=on, every_weeks=number)
    if on:
        raise _not_understood(text)
    if unit in ("day", "days", "daily"):
        return Rule(times=times, every_days=number)
    if said["number"]:
        raise _not_understood(text)
    if unit in ("weekday", "weekdays"):
        return Rule(times=times, weekdays=frozenset(range(5)))
    return Rule(times=times, weekdays=_weekdays(unit))


def _times(text: str | None) -> tuple[time, ...]:
    if text is None:
        return (DEFAULT_TIME,)
    found = [
        re.fullmatch(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", one) for one in re.split(", ?", text)
    ]
    if not all(found):
        raise InvalidInput(f'"{visible(text, SHOWN)}" is no time of day, such as 09:00 or 18:30.')
    return tuple(sorted({time(int(one[1]), int(one[2])) for one in found if one}))


def _weekdays(text: str) -> frozenset[int]:
    found: set[int] = set()
    for name in re.split(r",? and |, ?", text):
        known = [n for n, day in enumerate(DAYS) if name.rstrip("s") in (day, day[:3])]
        if not known:
            raise _not_understood(text)
        found.add(known[0])
    return frozenset(found)


def _not_understood(text: str) -> InvalidInput:
    return InvalidInput(
        f'The rule "{visible(text, SHOWN)}" is not understood; write one {EXAMPLES}.'
    )
