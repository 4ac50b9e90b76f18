"""When a provider's limit ends, as agents tell it: as a number, as a time, or in words. All of it
is untrusted; how far away it may be is for others to say."""

import re
from datetime import UTC, datetime, timedelta

MAX_TEXT = 4_000

_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1, "ms": 0.001}
_PART = r"(\d{1,6}(?:\.\d{1,6})?)\s?(ms|d|h|m|s)[a-z]{0,8}"
_IN = re.compile(
    rf"(?:try again|retry|resets?) (?:in|after) ((?:{_PART}[ ,]{{0,2}}(?:and )?)+)", re.I
)
_AT = re.compile(
    r"(?:try again|resets?) at (?:([A-Z][a-z]{2}) (\d{1,2})(?:st|nd|rd|th)?,? (\d{4}),? )?"
    r"(\d{1,2}):(\d{2}) ?([AP]M)",
    re.I,
)
_EPOCH = re.compile(r"limit reached\|(\d{9,11})\b", re.I)


def moment(value: object) -> datetime | None:
    """Seconds since 1970, or a time with its zone."""
    try:
        if isinstance(value, str):
            told = datetime.fromisoformat(value)
            return told.astimezone(UTC) if told.tzinfo else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def said(text: str, at: datetime) -> datetime | None:
    """What a message means that was said at that time: `try again in 1h 5m`, `try again at 3:45 PM`
    by the clock of this machine, `limit reached|1735689600`."""
    text = text[:MAX_TEXT]
    if found := _EPOCH.search(text):
        return moment(int(found[1]))
    if found := _IN.search(text):
        parts: list[tuple[str, str]] = re.findall(_PART, found[1], re.I)
        return at + timedelta(seconds=sum(float(n) * _UNITS[unit.lower()] for n, unit in parts))
    if found := _AT.search(text):
        return _by_the_clock(found, at)
    return None


def _by_the_clock(found: re.Match[str], at: datetime) -> datetime | None:
    month, day, year, hour, minute, half = found.groups()
    local = at.astimezone()
    date = f"{day} {month} {year}" if month else f"{local:%d %b %Y}"
    try:
        told = f"{date} {hour}:{minute} {half.upper()} {local:%z}"
        meant = datetime.strptime(told, "%d %b %Y %I:%M %p %z").astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return meant if month or meant > at else meant + timedelta(days=1)
