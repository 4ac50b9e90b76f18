"""When a benchmark may say that its goal is met."""

import pytest

from bench.rows import Row, verdict
from bench.world import World


def world(*levels: str, busy: float = 0.0) -> World:
    return World(sandbox=frozenset(levels), over_tcp=True, load=0.0, busy=busy)


def row(*, met: bool | None, **fields: object) -> Row:
    return Row(name="a run", ours="1 ms", goal="<= 2 ms", met=met, **fields)  # pyright: ignore[reportArgumentType]


def test_a_goal_is_met_only_in_the_sandbox() -> None:
    assert verdict(row(met=True), world("S3")) == "met"
    assert verdict(row(met=True), world()) == "met"
    assert verdict(row(met=True), world("none")) == "not comparable: no sandbox"
    assert verdict(row(met=True), world("S3", "none")) == "not comparable: no sandbox"


def test_a_row_with_its_own_level_is_judged_by_it() -> None:
    assert verdict(row(met=True, sandbox="S3"), world("S3", "none")) == "met"
    assert verdict(row(met=True, sandbox="none"), world("S3")) == "not comparable: no sandbox"


def test_a_row_that_was_measured_more_easily_is_not_comparable() -> None:
    easier = row(met=True, easier="20,000 events")
    assert verdict(easier, world("S3")) == "not comparable: 20,000 events"


@pytest.mark.parametrize(
    ("timed", "busy", "said"),
    [
        (True, 0.9, "not comparable: busy machine"),
        (True, 0.1, "NOT MET"),
        (False, 0.9, "NOT MET"),
    ],
)
def test_a_busy_machine_excuses_a_missed_time_but_no_size(
    timed: bool, busy: float, said: str
) -> None:
    assert verdict(row(met=False, timed=timed), world("S3", busy=busy)) == said
    assert verdict(row(met=True, timed=timed), world("S3", busy=busy)) == "met"


def test_a_row_without_a_goal_says_nothing() -> None:
    assert verdict(row(met=None), world("none")) == ""


def test_the_title_says_how_it_was_measured() -> None:
    title = str(World(sandbox=frozenset({"S3"}), over_tcp=False, load=1.25, busy=0.5))
    assert title.startswith("sandbox S3, CPython 3.")
    assert ", no HTTP, load 1.2, 50% of " in title
    assert "HTTP over TCP" in str(world("S3"))
