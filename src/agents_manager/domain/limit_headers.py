"""The time at which a provider's limit ends, read from the headers of the response that says so."""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

LIMITED = frozenset({429, 503, 529})
"""Statuses of responses that may say when to come back."""
MAX_S = 31 * 86_400

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400}


def resets_at(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """Return when every limit that the headers report as used up will have ended, or None if they
    do not say. The names of the headers are in lower case."""
    told = headers.get("retry-after")
    if told is not None and (at := _retry_after(told.strip(), now)):
        return at
    return max(_used_up(headers, now), default=None)


def _retry_after(told: str, now: datetime) -> datetime | None:
    if told.isascii() and re.fullmatch(r"\d{1,9}(\.\d{1,9})?", told):
        return _later(float(told), now)
    try:
        at = parsedate_to_datetime(told)
    except (ValueError, OverflowError):
        return None
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)


def _used_up(headers: Mapping[str, str], now: datetime) -> Iterator[datetime]:
    unified = headers.get("anthropic-ratelimit-unified-reset", "")
    if (at := _moment(unified)) and headers.get("anthropic-ratelimit-unified-status") != "allowed":
        yield at
    for name, told in headers.items():
        if (
            name.startswith("anthropic-ratelimit-")
            and name.endswith("-reset")
            and "unified" not in name
            and _is_empty(headers.get(f"{name.removesuffix('-reset')}-remaining"))
            and (at := _moment(told))
        ):
            yield at
        elif name.startswith("x-ratelimit-reset-") and _is_empty(
            headers.get(name.replace("-reset-", "-remaining-"))
        ):
            parts = _DURATION.findall(told[:100])
            seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
            if parts and (at := _later(seconds, now)):
                yield at
        elif (
            name.startswith("x-codex-")
            and name.endswith("-reset-at")
            and _is_full(headers.get(f"{name.removesuffix('-reset-at')}-used-percent"))
            and (at := _moment(told))
        ):
            yield at


def _is_empty(remaining: str | None) -> bool:
    """Return whether nothing of a limit remains, also where the response does not say."""
    return remaining is None or remaining.strip() == "0"


def _is_full(percent: str | None) -> bool:
    try:
        return percent is not None and float(percent) >= 100
    except ValueError:
        return False


def _later(seconds: float, now: datetime) -> datetime | None:
    return now + timedelta(seconds=seconds) if math.isfinite(seconds) and seconds <= MAX_S else None


def _moment(told: str) -> datetime | None:
    """Return the time that seconds since 1970 or a time with its zone stand for."""
    try:
        if told.isascii() and told.isdecimal():
            return datetime.fromtimestamp(int(told[:12]), UTC)
        at = datetime.fromisoformat(told)
    except (ValueError, OverflowError, OSError):
        return None
    return at.astimezone(UTC) if at.tzinfo else None
