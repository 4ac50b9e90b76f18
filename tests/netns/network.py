"""Machines in a network of their own, made of namespaces: each with its own processes, addresses,
name and files, plugged into one bridge. Nothing of it is on the real network, and all of it ends
with this process, however it ends.

Root may do so everywhere; others where the kernel lets them have user namespaces."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.debian import have

ADDRESS = "10.77.0.1"
"""Of the bridge, behind which are the database and the remote."""
BRIDGE = "bridge"
FIXED = "02:00:00:00:00:01"
"""The hardware address of the bridge, which else changes with those that are plugged in: machines
would not find it until they ask again."""
ENDS_WITH_US = "exec cat"
"""The first process of a namespace: its input is a pipe from here. As it ignores its children, the
kernel buries the dead."""
PATIENCE_S = 20.0
WHERE = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
"""Where `ip` is for those who are not root, too."""


class NotHere(Exception):
    """This machine lets nobody make networks."""


class Place:
    """A set of namespaces, held by one process."""

    def __init__(self, command: Sequence[str | Path], script: str) -> None:
        lines = ("set -e", "ip link set lo up", script, "trap '' CHLD", "echo up", ENDS_WITH_US)
        self._holder = subprocess.Popen(
            [*command, "sh", "-c", "\n".join(lines)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PATH": WHERE},
            text=True,
        )
        assert self._holder.stdout
        if self._holder.stdout.readline() != "up\n":
            _, why = self._holder.communicate()
            raise NotHere(why.strip())
        children = psutil.Process(self._holder.pid).children()
        # `unshare` stays in front of a new namespace of processes.
        self.first = children[0].pid if children else self._holder.pid

    def entered(self, *kinds: str) -> list[str | Path]:
        """What a command begins with that is to be run there."""
        own_user = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")
        return ["nsenter", f"--target={self.first}", *own_user, *(f"--{kind}" for kind in kinds)]

    def run(self, *command: str) -> str:
        done = subprocess.run(
            [*self.entered("net"), *command],
            capture_output=True,
            env={**os.environ, "PATH": WHERE},
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def end(self) -> None:
        """Kills what has its processes there, all at once."""
        if self._holder.poll() is None:
            os.kill(self.first, signal.SIGKILL)
        self._close_doors()
        self._holder.wait(PATIENCE_S)
        for stream in (self._holder.stdin, self._holder.stdout, self._holder.stderr):
            assert stream
            stream.close()

    def _close_doors(self) -> None:
        """A namespace ends when those outside have buried what they started in it."""


class Machine(Place):
    """A machine of the network. It sees its own folder, and none of those that are hidden."""

    def __init__(self, network: "Network", name: str, folder: Path, hidden: Sequence[Path]) -> None:
        self.name = name
        self.folder = folder
        self._network = network
        aside = network.folder / "aside"
        for path in (folder, aside, *hidden):
            path.mkdir(parents=True, exist_ok=True)
        script = [f"hostname {name}", f"mount --bind '{folder}' '{aside}'"]
        script += [f"mount -t tmpfs hidden '{path}'" for path in hidden]
        script += [f"mkdir -p '{folder}'", f"mount --bind '{aside}' '{folder}'"]
        kinds = ("--net", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc")
        super().__init__([*network.entered("net"), "unshare", *kinds], "\n".join(script))
        network.plug(self)
        self._started: list[subprocess.Popen[str]] = []

    def start(
        self, command: Sequence[str | Path], env: Mapping[str, str], log: Path
    ) -> "subprocess.Popen[str]":
        """The process is the door to the one that was started there."""
        enter = [*self.entered("net", "uts", "pid", "mount"), f"--wd={self.folder}"]
        with log.open("ab") as errors:
            started = subprocess.Popen(
                [*enter, "--", *command], stdout=subprocess.PIPE, stderr=errors, env=env, text=True
            )
        self._started.append(started)
        return started

    def processes(self) -> dict[int, str]:
        """The commands of what lives there, but of its first process. The dead whom nobody has
        buried yet have none."""
        own = _namespace(self.first)
        there = [pid for pid in psutil.pids() if pid != self.first and _namespace(pid) == own]
        return {pid: command for pid in there if (command := _command(pid))}

    def cut(self) -> None:
        """Pulls the cable: nobody is told, packets are lost."""
        self._network.run("ip", "link", "set", self.name, "down")

    def heal(self) -> None:
        self._network.run("ip", "link", "set", self.name, "up")

    def die(self) -> None:
        """As a machine does that loses its power: it says goodbye to nobody, either."""
        self.cut()
        self.end()

    def freeze(self) -> None:
        """Until nothing is left that goes on: a process may be about to start another."""
        frozen: set[int] = set()
        while new := self.processes().keys() - frozen:
            self._signal(new, signal.SIGSTOP)
            frozen |= new

    def thaw(self) -> None:
        self._signal(self.processes(), signal.SIGCONT)
        # They have stopped with what they led to.
        self._signal([door.pid for door in self._started], signal.SIGCONT)

    def _signal(self, pids: Iterable[int], number: signal.Signals) -> None:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def _close_doors(self) -> None:
        for door in self._started:
            door.kill()
            door.communicate()
        self._started.clear()


class Network(Place):
    """The bridge, and what is on its side of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._machines = 0
        script = (
            f"ip link add {BRIDGE} address {FIXED} type bridge\n"
            f"ip addr add {ADDRESS}/24 dev {BRIDGE}\nip link set {BRIDGE} up"
        )
        own_user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
        super().__init__(["unshare", "--net", *own_user], script)

    def plug(self, machine: Machine) -> None:
        self._machines += 1
        name, address = machine.name, f"10.77.0.{self._machines + 1}"
        there = ("netns", str(machine.first))
        self.run(*("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", *there))
        self.run("ip", "link", "set", name, "master", BRIDGE, "up")
        machine.run("ip", "addr", "add", f"{address}/24", "dev", "eth0")
        machine.run("ip", "link", "set", "eth0", "up")


@contextmanager
def network(folder: Path) -> Iterator[Network]:
    """Raises NotHere where none can be made."""
    for program, package in (("ip", "iproute2"), ("unshare", "util-linux")):
        have(package, lambda program=program: shutil.which(program, path=WHERE))
    made = Network(folder)
    try:
        Machine(made, "first", folder / "first-machine", []).end()
        yield made
    finally:
        made.end()


def _namespace(pid: int) -> str | None:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return None


def _command(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    return words.replace(b"\0", b" ").decode(errors="replace")
