"""When rules fire, also where the clocks are changed."""

from datetime import UTC, date, datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_manager.domain.recurrence import SHORTEST, fires, instant, latest, parse, zone_of
from agents_manager.errors import InvalidInput

BEGUN = date(2026, 3, 2)
"""A Monday."""
NEW_YORK = "America/New_York"
ZONES = ["UTC", "Europe/Berlin", NEW_YORK, "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"]


def next_of(
    rule: str, zone: str = "UTC", after: str = "2026-03-02T00:00", count: int = 4
) -> list[str]:
    where = ZoneInfo(zone)
    begin = instant(datetime.fromisoformat(after), where)
    found = islice(fires(parse(rule), where, BEGUN, begin), count)
    return [f"{at.astimezone(where):%m-%d %H:%M%z}" for at in found]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("every day at 09:00", "03-02 09:00+0000 03-03 09:00+0000"),
        ("daily at 6:30, 18:30", "03-02 06:30+0000 03-02 18:30+0000"),
        ("Every  Weekday at 09:00", "03-02 09:00+0000 03-03 09:00+0000"),
        ("weekdays", "03-02 09:00+0000 03-03 09:00+0000"),
        ("every 3 days at 10:00", "03-02 10:00+0000 03-05 10:00+0000"),
        ("every 2 weeks", "03-02 09:00+0000 03-16 09:00+0000"),
        ("every 2 weeks on wed and friday at 08:00", "03-04 08:00+0000 03-06 08:00+0000"),
        ("weekly on sunday", "03-08 09:00+0000 03-15 09:00+0000"),
        ("mondays, thu at 12:15", "03-02 12:15+0000 03-05 12:15+0000"),
        ("0 9 * * 1-5", "03-02 09:00+0000 03-03 09:00+0000"),
        ("30 18 * * sun", "03-08 18:30+0000 03-15 18:30+0000"),
        ("0 0 1 */3 *", "04-01 00:00+0000 07-01 00:00+0000"),
        ("0 12 29 feb *", "02-29 12:00+0000 02-29 12:00+0000"),
        ("0 0 13 * 5", "03-06 00:00+0000 03-13 00:00+0000"),
        ("*/20 8-9 2 3 *", "03-02 08:00+0000 03-02 08:20+0000"),
        ("0 0 * * 7", "03-08 00:00+0000 03-15 00:00+0000"),
    ],
)
def test_when_a_rule_fires(rule: str, said: str) -> None:
    assert " ".join(next_of(rule, count=2)) == said


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("* * * * *", "more often than every 15 minutes"),
        ("0,10 * * * *", "more often than every 15 minutes"),
        ("daily at 00:05, 23:55", "more often than every 15 minutes"),
        ("0 9 31 2 *", "a day that never comes"),
        ("0 9 30 feb *", "a day that never comes"),
        ("61 * * * *", '"61" is no minute'),
        ("0 25 * * *", '"25" is no hour'),
        ("0 9 5-2 * *", '"5-2" is no day of the month'),
        ("0 9 * * */0", "no day of the week"),
        ("0 9 * moon *", '"moon" is no month'),
        ("0 9 *-3 * *", "no day of the month"),
        ("every day at 9", "no time of day"),
        ("every day at 24:00", "no time of day"),
        ("every blue moon", "is not understood"),
        ("every 2 mondays", "is not understood"),
        ("every 2 days on monday", "is not understood"),
        ("", "is not understood"),
        ("x" * 201, "at most 200 characters"),
    ],
)
def test_a_rule_that_is_none_says_why(rule: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why.replace("*", r"\*")):
        parse(rule)


def test_a_zone_that_is_not_known_is_named() -> None:
    assert zone_of("Europe/Berlin").key == "Europe/Berlin"
    with pytest.raises(InvalidInput, match=r'no time zone "Europe/Berln"; .*Europe/Berlin'):
        zone_of("Europe/Berln")
    with pytest.raises(InvalidInput, match="There is no time zone"):
        zone_of("../../etc/passwd")


# ------------------------------------------------------------------------------ clocks are changed


def test_a_time_that_does_not_exist_is_the_next_that_does() -> None:
    """In New York, 02:00 is followed by 03:00 on 8 March 2026."""
    days = next_of("every day at 02:30", NEW_YORK, "2026-03-07T00:00", 3)
    assert days == ["03-07 02:30-0500", "03-08 03:00-0400", "03-09 02:30-0400"]
    assert next_of("*/15 2 * * *", NEW_YORK, "2026-03-08T00:00", 2) == [
        *("03-08 03:00-0400", "03-09 02:00-0400")
    ]
    hours = next_of("0 * * * *", NEW_YORK, "2026-03-08T00:30", 3)
    assert hours == ["03-08 01:00-0500", "03-08 03:00-0400", "03-08 04:00-0400"]


def test_a_time_that_comes_twice_counts_once() -> None:
    """In New York, 01:00 to 02:00 comes twice on 1 November 2026."""
    days = next_of("every day at 01:30", NEW_YORK, "2026-10-31T12:00", 2)
    assert days == ["11-01 01:30-0400", "11-02 01:30-0500"]
    hours = next_of("0 * * * *", NEW_YORK, "2026-11-01T00:30", 2)
    assert hours == ["11-01 01:00-0400", "11-01 02:00-0500"]
    again = datetime(2026, 11, 1, 6, 10, tzinfo=UTC)  # 01:10 for the second time.
    found = next(fires(parse("30 1 * * *"), ZoneInfo(NEW_YORK), BEGUN, again))
    assert found == datetime(2026, 11, 2, 6, 30, tzinfo=UTC)


def test_a_day_that_does_not_exist() -> None:
    """Apia went from 29 to 31 December 2011."""
    where = ZoneInfo("Pacific/Apia")
    after = datetime(2011, 12, 29, 12, tzinfo=where)
    found = islice(fires(parse("every day at 09:00"), where, date(2011, 12, 1), after), 2)
    assert [f"{at.astimezone(where):%m-%d %H:%M}" for at in found] == ["12-31 00:00", "12-31 09:00"]


FIRST, LAST = datetime(2011, 12, 1), datetime(2030, 1, 1)  # noqa: DTZ001 - of the wall
rules = st.sampled_from(
    [
        *("every day at 02:30", "0 * * * *", "*/30 1-3 * * *", "weekdays at 00:00"),
        *("every 2 weeks on sun at 01:59", "every 5 days at 03:00, 23:59", "0 2 29 2 *"),
    ]
)
instants = st.datetimes(
    min_value=FIRST,
    max_value=LAST,
    timezones=st.just(UTC),
)
some = settings(deadline=None, max_examples=30)


@some
@given(rule=rules, zone=st.sampled_from(ZONES), after=instants)
def test_periods_are_in_order_and_the_same_from_wherever_one_looks(
    rule: str, zone: str, after: datetime
) -> None:
    parsed, where = parse(rule), ZoneInfo(zone)
    found = list(islice(fires(parsed, where, BEGUN, after), 6))
    assert found == sorted(set(found))
    assert found[0] > after
    assert list(islice(fires(parsed, where, BEGUN, found[2]), 3)) == found[3:]
    just_before = found[3] - timedelta(microseconds=1)
    assert next(fires(parsed, where, BEGUN, just_before)) == found[3]
    assert latest(parsed, where, BEGUN, found[0], found[4]) == found[4]
    assert latest(parsed, where, BEGUN, found[1], just_before) == found[2]
    assert latest(parsed, where, BEGUN, after + timedelta(microseconds=1), after) is None


@some
@given(zone=st.sampled_from(ZONES), local=st.datetimes(FIRST, LAST))
def test_an_instant_shows_the_time_that_was_meant_or_the_next(zone: str, local: datetime) -> None:
    where = ZoneInfo(zone)
    shown = instant(local, where).astimezone(where).replace(tzinfo=None)
    assert shown == local or local < shown <= local + timedelta(days=1)


@some
@given(
    minutes=st.sets(st.integers(0, 59), min_size=1), hours=st.sets(st.integers(0, 23), min_size=1)
)
def test_no_rule_fires_more_often_than_is_allowed(minutes: set[int], hours: set[int]) -> None:
    text = f"{','.join(map(str, minutes))} {','.join(map(str, hours))} * * *"
    try:
        rule = parse(text)
    except InvalidInput:
        return
    found = list(islice(fires(rule, UTC, BEGUN, datetime(2026, 3, 2, tzinfo=UTC)), 60))
    assert all(b - a >= SHORTEST for a, b in pairwise(found))
