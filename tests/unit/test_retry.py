"""When an agent that failed is tried again, and what is believed of a provider's reset time."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agents_manager.agents import codex_output, resets, stream
from agents_manager.domain import retry
from agents_manager.domain.retry import NEVER, RULES, Rule, Try
from agents_manager.domain.run import ErrorClass

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
CRASH, LIMIT = ErrorClass.CRASH, ErrorClass.RATE_LIMIT
RULE = Rule(tries=3, delay_s=30, factor=2)


def waits(rule: Rule, resets_at: datetime | None = None) -> list[float]:
    found = [retry.due(rule, done, resets_at, NOW) for done in range(rule.tries + 1)]
    assert found[-1] is None
    return [(at - NOW).total_seconds() for at in found if at]


def test_each_wait_grows_until_the_last_try() -> None:
    assert waits(RULE) == [30, 60, 120]
    assert waits(NEVER) == []
    assert waits(Rule(tries=2, delay_s=80_000, factor=10)) == [80_000, 86_400]
    assert waits(RULES[ErrorClass.OVERLOADED]) == [30, 60, 120, 240, 480]
    assert waits(Rule(tries=3, delay_s=400, factor=2, longest_s=600)) == [400, 600, 600]


def test_jitter_shortens_a_wait_by_at_most_its_part() -> None:
    rule = RULES[ErrorClass.OVERLOADED]
    found = [retry.due(rule, 0, None, NOW, spread) for spread in (0.0, 0.5, 1.0)]
    assert [at and (at - NOW).total_seconds() for at in found] == [30, 27, 24]


@pytest.mark.parametrize(
    ("resets_at", "wait"),
    [
        pytest.param(NOW + timedelta(hours=5), 5 * 3600 + 5, id="believed"),
        pytest.param(NOW + timedelta(days=7), 7 * 86_400 + 5, id="a week"),
        pytest.param(NOW + timedelta(days=7, seconds=1), 30, id="too far"),
        pytest.param(datetime(9999, 12, 31, tzinfo=UTC), 30, id="year 9999"),
        pytest.param(NOW - timedelta(seconds=1), 30, id="past"),
        pytest.param(NOW, 30, id="now"),
    ],
)
def test_a_reset_time_is_bounded(resets_at: datetime, wait: float) -> None:
    assert waits(RULE, resets_at)[0] == wait


def test_the_classes_that_pass_by_themselves() -> None:
    tried = {name for name, rule in RULES.items() if rule.tries}
    passing = {"crash", "timeout", "stalled", "interrupted", "rate_limit", "overloaded", "quota"}
    assert tried == {*passing, "context_too_long"}
    assert {*ErrorClass} - {*RULES} == {"cancelled", "budget", "limit"}


def test_tries_are_counted_for_each_class_since_somebody_started_it() -> None:
    first, crash, limit = Try(CRASH, False), Try(CRASH, True), Try(LIMIT, True)
    assert retry.done([first]) == 0
    assert retry.done([first, crash, crash]) == 2
    assert retry.done([first, crash, limit]) == 0
    assert retry.done([first, limit, limit, crash]) == 1
    assert retry.done([first, crash, crash, first]) == 0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Rate limit reached. Please try again in 11.054s. Visit …", 11.054),
        ("try again in 3 days 4 hours 5 minutes.", 3 * 86_400 + 4 * 3600 + 300),
        ("Retry after 500ms", 0.5),
        ("Try again in 1h, 5m and 2s", 3902),
        ("Claude AI usage limit reached|1794747600", 3600),
        ("try again in a while", None),
        ("limit reached|99999999999999999999", None),
        ("try again at 25:99 PM", None),
    ],
)
def test_a_reset_time_in_words(text: str, seconds: float | None) -> None:
    at = resets.said(text, NOW)
    assert (at and (at - NOW).total_seconds()) == seconds


def test_a_reset_time_by_the_clock_of_this_machine() -> None:
    local = NOW.astimezone()
    for wait in (timedelta(hours=2), timedelta(hours=23)):
        words = f"You've hit your usage limit. Try again at {local + wait:%I:%M %p}."
        assert resets.said(words, NOW) == NOW + wait
    day = local + timedelta(days=3)
    words = f"or try again at {day:%b} {day.day}th, {day:%Y} {day:%I:%M %p}."
    assert resets.said(words, NOW) == NOW + timedelta(days=3)


@pytest.mark.parametrize("value", [1e300, -1e300, float("nan"), True, "soon", [], "2026-01-01"])
def test_what_is_no_moment(value: object) -> None:
    assert resets.moment(value) is None


def test_the_stream_and_codex_hand_it_on(tmp_path: Path) -> None:
    output = tmp_path / "output"
    error = '"error": "Slow down.", "error_class": "rate_limit"'
    output.write_text(f'{{"type": "result", {error}, "resets_at": {int(NOW.timestamp())}}}\n')
    assert stream.read(output).resets_at == NOW
    output.write_text(f'{{"type": "result", {error}, "resets_at": "never"}}\n')
    assert stream.read(output).resets_at is None
    failed = '{"type": "turn.failed", "error": {"message": "usage limit; try again in 2 hours"}}\n'
    output.write_text(failed)
    said = codex_output.read(tmp_path)
    printed = datetime.fromtimestamp(output.stat().st_mtime, UTC)
    assert (said.error_class, said.resets_at) == ("quota", printed + timedelta(hours=2))
