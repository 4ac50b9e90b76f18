"""What is made to harm who reads it is read or refused in a moment, and nothing falls over."""

import threading
from pathlib import Path
from typing import Any

import pytest
import yaml

from agents_manager.cli import backup
from agents_manager.domain import permission, plain_yaml, strict_json
from agents_manager.flow.runs import permissions
from tests.hostile import parsers

ALL_REFUSED = ("paths", "files of agents", "handoffs")


@pytest.mark.parametrize("kind", parsers.KINDS)
def test_nothing_crashes_and_nothing_hangs(kind: str) -> None:
    told = parsers.tried(kind)
    assert (told.crashed, told.slow) == ([], [])
    if kind in ALL_REFUSED:
        assert told.refused == told.tried


def nothing(*_: Any) -> None:
    pass


def test_without_the_bound_on_depth_json_falls_over() -> None:
    with parsers.switched(strict_json, "_check_depth", nothing):
        assert parsers.tried("JSON", "deep lists").crashed


def test_without_the_bound_on_keys_a_million_are_read() -> None:
    assert parsers.tried("JSON", "a million keys").refused == 1
    with parsers.switched(strict_json, "MAX_KEYS", 10**9):
        assert parsers.tried("JSON", "a million keys").refused == 0


def test_without_the_bounds_of_the_reader_yaml_falls_over() -> None:
    loader: Any = plain_yaml._Loader  # pyright: ignore[reportPrivateUsage]
    with parsers.switched(loader, "compose_node", yaml.SafeLoader.compose_node):
        assert parsers.tried("YAML", "deep lists").crashed


def test_without_its_bounds_more_archives_are_unpacked() -> None:
    bombs = ("bomb", "bomb of a manifest", "many files")
    with (
        parsers.switched(backup, "_check_sizes", nothing),
        parsers.switched(backup, "_check_directory", nothing),
    ):
        assert parsers.tried("archives", *bombs).refused == 0
    assert parsers.tried("archives", *bombs).refused == 3


def test_without_the_bound_a_long_request_would_be_read() -> None:
    with parsers.switched(permission, "MAX_BYTES", 2 * permission.MAX_BYTES):
        assert parsers.tried("files of agents", "too long").refused == 0


def test_a_link_that_is_swapped_in_is_never_followed(tmp_path: Path) -> None:
    """What is looked at and what is read is one and the same open file."""
    place, other, canary = (tmp_path / name for name in ("request", "other", "canary"))
    canary.write_bytes(parsers.REQUEST.replace(b"ls", b"canary"))
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            other.symlink_to(canary)
            other.replace(place)
            other.write_bytes(parsers.REQUEST)
            other.replace(place)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        seen = [permissions._read(place) for _ in range(3_000)]  # pyright: ignore[reportPrivateUsage]
    finally:
        over.set()
        swapping.join()
    assert {one.action for one in seen if one} == {"ls"}
    assert None in seen
