"""Ways out of the sandbox, tried by a program that is in it: all are closed, and each measure is
what closes some of them."""

import os
import shutil
from collections.abc import Iterator

import pytest

from tests import debian, sandboxes
from tests.hostile.cells import Cell, cell

NOBODY = 65534
CONTROL = 10
"""So many ways must at least be open without a sandbox, or the suite says nothing."""


@pytest.fixture(scope="module")
def mine() -> Iterator[Cell]:
    """Of the user of these tests; of root, who becomes another, where that is root."""
    sandboxes.installed()
    with cell() as made:
        yield made


@pytest.fixture(scope="module")
def plain() -> Iterator[Cell]:
    """Of a user without any rights."""
    sandboxes.installed()
    if os.geteuid() == 0:
        debian.have("util-linux", lambda: shutil.which("setpriv"))
        debian.have("python3", lambda: shutil.which("python3", path="/usr/bin"))
    with cell(NOBODY if os.geteuid() == 0 else None) as made:
        yield made


def test_no_way_out_is_open(mine: Cell) -> None:
    found = mine.kept()
    assert (found.open, found.broken, found.survivors) == (frozenset(), (), 0), found.stderr
    assert found.tried >= 47
    assert (mine.folder / "home/secret").read_text() == "secret"


def test_no_way_out_is_open_to_a_plain_user(plain: Cell) -> None:
    found = plain.kept()
    assert (found.open, found.broken, found.survivors) == (frozenset(), (), 0), found.stderr


def test_without_a_sandbox_they_are_open(plain: Cell) -> None:
    found = plain.loose()
    assert len(found.open) >= CONTROL
    assert found.survivors == 1


SWITCHES = {
    "processes": {"see a process of the machine", "signal a process of the machine"},
    "network": {"reach a port of the machine", "speak to a socket without a place"},
    "read-only root": set[str](),
    "hidden places": {
        *("read a file of the home", "list the home", "read the main checkout"),
        *("read the token of the data directory", "speak to a socket in a hidden place"),
    },
    "shown read-only": {"write what is shown to be read"},
    "system calls": {
        *("make a namespace of users", "follow another program", "use io_uring"),
        *("use the keys of the kernel", "make a socket of the virtual machine"),
        "make a program that runs as its owner, by its mode",
    },
    "environment": {"find a secret in the environment of a process"},
    "limits": {"write a file without end", "start processes without end"},
    "names": {"pass the proxy to an address"},
}
"""What is open where a measure is off. To a plain user a root folder that can be written is no more
open than it is outside."""


QUICK = ("network", "hidden places", "system calls")
"""The others are switched off by `make prove`."""


@pytest.mark.parametrize(
    "measure",
    [
        measure if measure in QUICK else pytest.param(measure, marks=pytest.mark.slow)
        for measure in SWITCHES
    ],
)
def test_a_measure_that_is_off_leaves_its_ways_open(plain: Cell, measure: str) -> None:
    found = plain.kept(measure)
    assert SWITCHES[measure] <= found.open, found.stderr


ROOTS = {
    "read-only root": {"write /etc", "write /usr"},
    "kernel settings": {"change how the kernel handles crashes"},
    "capabilities": {"hold a capability"},
}


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="what only root can show")
@pytest.mark.parametrize("measure", ["other user", *ROOTS])
def test_what_root_would_do_that_stayed_root(mine: Cell, measure: str) -> None:
    """For each of the other measures, root must stay root to show what it is for."""
    found = mine.kept("other user", *({measure} - {"other user"}))
    assert ROOTS.get(measure, {"become root"}) <= found.open, found.stderr


def test_where_the_sandbox_cannot_be_made_nothing_is_run(mine: Cell) -> None:
    with pytest.raises(AssertionError, match="bwrap"):
        mine.kept("granted")
