"""Machines that share a database: what they may be called, and when they count as alive."""

from datetime import UTC, datetime, timedelta

import pytest

from agents_manager.domain.host import BEAT_S, DEAD_AFTER, LEASE, Host, HostState, is_label, is_name

NOW = datetime(2026, 11, 16, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "name", "label"),
    [
        ("build-2", True, True),
        ("gpu", True, True),
        ("os=linux", False, True),
        ("team/area", False, True),
        ("", False, False),
        ("-x", False, False),
        ("a b", False, False),
        ("a\n", False, False),
        ("a" * 64, False, False),
        ("=x", False, False),
    ],
)
def test_names_and_labels(text: str, name: bool, label: bool) -> None:
    assert (is_name(text), is_label(text)) == (name, label)


def test_a_machine_ends_its_agents_before_others_take_over() -> None:
    """With time for several signs of life, and for an agent that does not want to end."""
    assert timedelta(seconds=3 * BEAT_S) < LEASE
    assert LEASE + timedelta(seconds=20) < DEAD_AFTER


def test_who_is_alive_and_suits() -> None:
    host = Host(id="a", name="a", version="", labels=["gpu", "os=linux"], seen_at=NOW)
    assert host.alive(NOW + DEAD_AFTER - timedelta(seconds=1))
    assert not host.alive(NOW + DEAD_AFTER)
    assert host.suits(["gpu"])
    assert host.suits([])
    assert not host.suits(["gpu", "fast"])
    left = Host(id="a", name="a", version="", seen_at=NOW, state=HostState.LEFT)
    assert not left.alive(NOW)
