"""When people are reminded, by the clock on their wall."""

from datetime import UTC, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_manager.domain.reminder import QuietHours, Reminders

BERLIN = ZoneInfo("Europe/Berlin")
DAY = timedelta(days=1)


def quiet(start: str, end: str, zone: ZoneInfo | None = BERLIN) -> QuietHours:
    return QuietHours(start=time.fromisoformat(start), end=time.fromisoformat(end), zone=zone)


@pytest.mark.parametrize(
    ("utc", "quiet_at"),
    [
        ("2026-01-10T20:59:59", False),
        ("2026-01-10T21:00:00", True),  # 22:00 in Berlin
        ("2026-01-11T05:59:59", True),
        ("2026-01-11T06:00:00", False),
        ("2026-07-10T20:00:00", True),  # 22:00 in Berlin, in summer
        ("2026-07-11T05:00:00", False),
    ],
)
def test_the_night_of_a_zone(utc: str, quiet_at: bool) -> None:
    now = datetime.fromisoformat(utc).replace(tzinfo=UTC)
    night = quiet("22:00", "07:00")
    assert night.hold(now) is quiet_at
    assert night.hold(now.astimezone(timezone(timedelta(hours=-9)))) is quiet_at


def test_an_hour_that_the_clock_leaves_out_or_shows_twice() -> None:
    hour = quiet("02:00", "03:00")
    spring = [datetime(2026, 3, 29, 0, 30, tzinfo=UTC) + timedelta(hours=n) for n in range(3)]
    assert [hour.hold(now) for now in spring] == [False, False, False]
    autumn = [datetime(2026, 10, 24, 23, 30, tzinfo=UTC) + timedelta(hours=n) for n in range(4)]
    assert [hour.hold(now) for now in autumn] == [False, True, True, False]


def test_the_zone_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    import time as clock

    noon = datetime(2026, 1, 10, 12, tzinfo=UTC)
    for zone, held in (("Asia/Tokyo", True), ("America/Lima", False)):
        monkeypatch.setenv("TZ", zone)
        clock.tzset()
        assert quiet("20:00", "23:00", None).hold(noon) is held
    monkeypatch.undo()
    clock.tzset()


def test_whom_nobody_is_to_remind() -> None:
    now = datetime(2026, 1, 10, 12, tzinfo=UTC)
    assert Reminders(every_s=None, quiet=None).silent_since(now) is None
    assert Reminders(every_s=DAY.total_seconds(), quiet=None).silent_since(now) == now - DAY
    assert (
        Reminders(every_s=DAY.total_seconds(), quiet=quiet("12:00", "14:00")).silent_since(now)
        is None
    )


minutes = st.integers(0, 24 * 60 - 1).map(lambda m: time(m // 60, m % 60))


@settings(deadline=None)
@given(minutes, minutes, st.datetimes(timezones=st.just(BERLIN)))
def test_turned_round_it_is_the_rest_of_the_day(start: time, end: time, now: datetime) -> None:
    if start != end:
        inside = QuietHours(start=start, end=end, zone=BERLIN)
        outside = QuietHours(start=end, end=start, zone=BERLIN)
        assert inside.hold(now) is not outside.hold(now)
