"""The process between the launcher and a command that is kept without namespaces: the command gets
a session of its own, is held to the rules, and all that it started ends with it, or with the
launcher, whichever ends first."""

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from agents_manager.sandbox import connecting, inside, landlock, seccomp, tree

Told = Mapping[str, Any]
Measure = Callable[[Told], None]


def _files_and_ports(told: Told) -> None:
    rules = told["rules"]
    landlock.hold(
        landlock.Rules(
            reads=[Path(path) for path in rules["reads"]],
            writes=[Path(path) for path in rules["writes"]],
            ports=rules["ports"],
        )
    )


def _system_calls(told: Told) -> None:
    landlock.no_new_privileges()
    listener = seccomp.load(seccomp.program(alone=True))
    with socket.socket(fileno=told["questions"]) as outside:
        socket.send_fds(outside, [b"x"], [listener])
    os.close(listener)


MEASURES: dict[str, Measure] = {
    "rules": _files_and_ports,
    "filter": _system_calls,
}
"""In the order in which they begin to hold."""


def main(descriptor: int, lifeline: int) -> NoReturn:
    with os.fdopen(descriptor, "rb") as file:
        told: dict[str, Any] = json.loads(file.read())
    os.setsid()
    tree.adoptive()
    here, there = socket.socketpair()
    command = os.fork()
    if command == 0:
        os.close(lifeline)
        here.close()
        os.setsid()
        inside.become({**told, "questions": there.detach()}, _held)
    there.close()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda number, _: _hand_on(command, number))
    threading.Thread(target=_with_the_launcher, args=(lifeline,), daemon=True).start()
    if told["rules"]:
        threading.Thread(target=_answer, args=(here, told["rules"]["ports"]), daemon=True).start()
    code = _ended(command)
    tree.end_below()
    # Not by way of Python's end: the other thread waits.
    os._exit(code)


def _held(told: Told) -> None:
    """On a Mac the command line itself begins with what holds the command."""
    if told["rules"]:
        for measure in MEASURES.values():
            measure(told)


def _hand_on(command: int, number: int) -> None:
    # The group may be gone by now.
    try:
        os.killpg(command, number)
    except ProcessLookupError:
        return


def _with_the_launcher(lifeline: int) -> None:
    """Nobody writes to it: what is read is its end."""
    os.read(lifeline, 1)
    tree.end_below()
    os._exit(1)


def _answer(here: socket.socket, ports: Sequence[int]) -> None:
    """The questions come by what the command hands over before it begins."""
    _, listeners, _, _ = socket.recv_fds(here, 1, 1)
    for listener in listeners:
        connecting.serve(listener, ports)


def _ended(command: int) -> int:
    """The exit code of the command, as a shell tells it. Other processes end meanwhile that nobody
    else waits for."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == command:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
