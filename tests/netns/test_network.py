"""The ground that the shows stand on: machines are apart from each other, and go when they are told
to, or when we go."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.e2e.am_program import until
from tests.netns.network import ADDRESS, Machine, Network, NotHere, network

pytestmark = pytest.mark.slow
CONNECT = f"""
import socket, sys
with socket.socket() as there:
    there.settimeout(float(sys.argv[1]))
    try:
        there.connect(("{ADDRESS}", 9))
    except ConnectionRefusedError:
        sys.exit(0)
    except OSError:
        sys.exit(1)
"""
"""Whoever says no is there."""
SLEEP = ("sh", "-c", "echo up; exec sleep 60")


@pytest.fixture
def net(tmp_path: Path) -> Iterator[Network]:
    try:
        with network(tmp_path) as made:
            yield made
    except NotHere as reason:
        pytest.xfail(f"Not proven here: no network namespaces ({reason}).")


def machine(net: Network, name: str) -> Machine:
    machines = net.folder / "machines"
    return Machine(net, name, machines / name, [machines])


def said(place: Machine, *command: str) -> tuple[int, str]:
    door = place.start(command, {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}, place.folder / "log")
    out, _ = door.communicate(timeout=20)
    return door.returncode, out.strip()


def reaches(place: Machine, within_s: float = 20) -> bool:
    return said(place, sys.executable, "-c", CONNECT, str(within_s))[0] == 0


def test_machines_are_apart(net: Network) -> None:
    first, second = machine(net, "one"), machine(net, "two")
    try:
        (first.folder / "mine").touch()
        assert said(first, "hostname") == (0, "one")
        assert said(first, "ls", str(first.folder)) == (0, "log\nmine")
        assert said(second, "ls", str(second.folder.parent)) == (0, "two")
        sleeper = first.start(SLEEP, {"PATH": "/usr/bin:/bin"}, first.folder / "log")
        assert sleeper.stdout
        assert sleeper.stdout.readline() == "up\n"
        [pid] = first.processes()
        asleep = psutil.Process(pid)
        assert second.processes() == {}

        assert reaches(first)
        first.cut()
        assert not reaches(first, 1)
        assert reaches(second)
        first.heal()
        assert reaches(first)

        first.freeze()
        until(lambda: asleep.status() == psutil.STATUS_STOPPED)
        first.thaw()
        until(lambda: asleep.status() == psutil.STATUS_SLEEPING)

        first.die()
        assert sleeper.returncode is not None
        assert not asleep.is_running()
        assert reaches(second)
    finally:
        first.end()
        second.end()


LEFT = """
import os, signal, sys
from pathlib import Path
from tests.e2e.am_program import until
from tests.netns.network import Machine, Network
folder = Path(sys.argv[1])
net = Network(folder)
machine = Machine(net, "one", folder / "one", [])
machine.start(["sleep", "60"], {"PATH": "/usr/bin:/bin"}, folder / "log")
while not machine.processes():
    pass
print(net.first, machine.first, *machine.processes(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_nothing_is_left_of_them_when_we_are_killed(net: Network, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEFT, tmp_path],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    left = [int(pid) for pid in done.stdout.split()]
    assert len(left) == 3
    _, alive = psutil.wait_procs([psutil.Process(p) for p in left if psutil.pid_exists(p)], 20)
    assert alive == []
