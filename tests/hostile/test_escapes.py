"""Ways out of the sandbox, tried by a program that is in it: all are closed, and each measure is
what closes some of them."""

import os
import signal
import time
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from agents_manager.sandbox import landlock, supervision
from agents_manager.sandbox.bubblewrap import Bounds
from tests import debian, sandboxes
from tests.hostile.cells import Cell, cell, marked
from tests.runner_jobs import eventually

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
        sandboxes.installed_for_another()
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


QUICK = ("network", "hidden places", "system calls", "rules", "filter", "addresses")
"""The others are switched off by `make prove`."""


def each(measures: Iterable[str]) -> list[Any]:
    return [
        measure if measure in QUICK else pytest.param(measure, marks=pytest.mark.slow)
        for measure in measures
    ]


@pytest.mark.parametrize("measure", each(SWITCHES))
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


@pytest.mark.parametrize("off", ["", "lifetime"])
def test_the_command_dies_with_the_launcher(plain: Cell, off: str) -> None:
    marker = f"{plain.told['marker']}-life{off}"
    child = plain.started("python3", "-c", "import time; time.sleep(60)", marker, off=off)
    eventually(lambda: marked(marker))
    child.kill()
    child.wait()
    if off:
        time.sleep(0.5)  # What does not happen cannot be waited for.
        [left] = marked(marker)
        os.kill(left, signal.SIGKILL)
    eventually(lambda: marked(marker) == [])
    child.communicate()


OPENS = "files = [open('/dev/null') for _ in range(100)]"
THREADS = (
    "import threading\nover = threading.Event()\n"
    "try:\n for _ in range(100): threading.Thread(target=over.wait).start()\n"
    "finally: over.set()"
)
BOUNDS = {
    "file": (Bounds(file_mb=1), "open('large', 'wb').write(bytes(2 << 20))"),
    "open files": (Bounds(open_files=50), OPENS),
    "processes": (Bounds(processes=50), THREADS),
    "address": (Bounds(address_mb=300), "x = bytearray(400 << 20)"),
    "cpu": (Bounds(cpu_s=1), "import time\nwhile time.process_time() < 1.5: pass"),
}


@pytest.mark.slow
@pytest.mark.parametrize("bound", BOUNDS)
def test_each_bound_holds_alone(plain: Cell, bound: str) -> None:
    """Nothing is looked at meanwhile: the system itself refuses. Without the bound it does not."""
    bounds, code = BOUNDS[bound]
    for wanted in (bounds, Bounds()):
        child = plain.started("python3", "-c", code, bounds=wanted)
        child.communicate()
        assert (child.returncode != 0) is (wanted is bounds)


# ------------------------------------------------------------------------- without namespaces

UNKEPT = {"see a process of the machine"}
if landlock.version() < landlock.SCOPES:
    UNKEPT |= {"signal a process of the machine"}
"""What Landlock does not promise."""


@pytest.fixture(scope="module")
def alone(plain: Cell) -> Cell:
    """Where only Landlock can keep a command."""
    if landlock.version() < landlock.LEAST:
        debian.missing("Landlock that knows of TCP takes Linux 6.7.")
    return plain


def test_by_landlock_alone_processes_can_be_seen_and_nothing_else(alone: Cell) -> None:
    found = alone.kept(level="S2")
    assert (found.open, found.broken, found.survivors) == (UNKEPT, (), 0), found.stderr
    assert found.tried >= 81
    assert (alone.folder / "home/secret").read_text() == "secret"


LANDLOCK = {
    "rules": {
        *("read a file of the home", "list the home", "write what is shown to be read"),
        *("find a secret in the environment of a process", "take a port of the machine"),
    },
    "addresses": {
        "reach a port of the machine",
        "reach another address by the port of the proxy",
    },
    "filter": {
        *("speak to a socket in a hidden place", "send a datagram", "listen for others"),
        *("connect by sending", "connect by another protocol", "limit a process of the machine"),
        *("find the shared memory of the machine", "make a namespace of users"),
    },
    "limits": {"write a file without end", "start processes without end"},
    "names": {"pass the proxy to an address"},
}


@pytest.mark.parametrize("measure", each(LANDLOCK))
def test_each_of_its_measures_closes_some_ways(alone: Cell, measure: str) -> None:
    assert LANDLOCK[measure] <= alone.kept(measure, level="S2").open


def test_what_detaches_itself_is_ended_by_looking_for_it(alone: Cell) -> None:
    assert alone.kept("end of all", level="S2").survivors == 1


def test_where_bubblewrap_is_missing_the_level_is_that_of_landlock(alone: Cell) -> None:
    level, why, way_out = alone.level()
    assert level == "S2"
    assert why.startswith("Landlock holds: six ways out were tried in vain.")
    assert "Not S3: The program bubblewrap is not installed." in why
    assert "apt install bubblewrap" in way_out


@pytest.mark.parametrize(
    ("measure", "way"),
    [
        ("rules", "files of the user can be read"),
        ("filter", "other programs can be asked by their sockets; datagrams can be sent"),
    ],
)
def test_landlock_that_does_not_hold_is_no_level(alone: Cell, measure: str, way: str) -> None:
    level, why, _ = alone.level(measure)
    assert level == "none"
    assert way in why


def test_a_file_within_the_workspace_cannot_be_kept_by_landlock(alone: Cell) -> None:
    """As a worktree needs it; so nothing is run."""
    (alone.work / "kept").touch()
    child = alone.started("true", level="S2", reads=[alone.work / "kept"])
    assert "agents work in clones" in child.communicate()[1]
    assert child.returncode == supervision.FAILED


def test_its_login_is_found_by_a_link_that_is_made_anew(alone: Cell) -> None:
    source, place = alone.folder / "home/secret", alone.work / ".agent/login"
    logins = {str(place): str(source)}
    script = "cat .agent/login && rm .agent/login && echo mine > .agent/login"
    for _ in range(2):
        child = alone.started("sh", "-c", script, level="S2", logins=logins)
        assert child.communicate() == ("secret", "")
    assert source.read_text() == "secret"


@pytest.mark.skipif(os.geteuid() != 0, reason="what only root can show")
def test_landlock_does_not_keep_root(mine: Cell) -> None:
    assert "does not keep root" in mine.level()[1]
    with pytest.raises(AssertionError, match="bubblewrap alone"):
        mine.kept(level="S2")


@pytest.mark.parametrize("how", ["asked to end", "its launcher is killed"])
def test_its_processes_end_with_the_launcher(alone: Cell, how: str) -> None:
    marker = f"{alone.told['marker']}-{len(how)}"
    waits = f"bash -c 'sleep 60; :' {marker}"
    script = f"trap 'exit 3' TERM; {waits} & setsid -f {waits}; while :; do sleep 0.05; done"
    child = alone.started("bash", "-c", script, level="S2")
    eventually(lambda: len(marked(marker)) == 2)
    if how == "asked to end":
        os.killpg(child.pid, signal.SIGTERM)
        assert child.wait() == 3
    else:
        child.kill()
    eventually(lambda: marked(marker) == [])
    child.communicate()


def test_around_the_sandbox_of_a_mac_all_is_as_with_landlock(alone: Cell) -> None:
    """But for the program itself, which is not here: the environment, the limits, the ending."""
    marker = f"{alone.told['marker']}-mac"
    script = f"ulimit -f; env | grep -c CANARY; setsid -f bash -c 'sleep 60; :' {marker}; exit 4"
    bounds = {"bounds": Bounds(file_mb=1), "level": "S1", "off": "sandbox-exec"}
    child = alone.started("bash", "-c", script, **bounds)
    assert child.communicate() == ("1024\n0\n", "")
    assert child.returncode == 4
    assert marked(marker) == []


@pytest.mark.parametrize(
    ("level", "why", "code"),
    [("S1", "sandbox-exec", 127), ("none", 'there is none of level "none"', supervision.FAILED)],
)
def test_what_cannot_be_kept_is_not_run(alone: Cell, level: str, why: str, code: int) -> None:
    child = alone.started("touch", "ran", level=level)
    assert why in child.communicate()[1]
    assert child.returncode == code
    assert not (alone.work / "ran").exists()
