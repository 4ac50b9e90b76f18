"""Runs in the sandbox before the command does: becomes an unprivileged user where it is root, leads
the ports that are open to the sockets behind them, sets the limits, and becomes the command."""

import json
import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn

CHUNK = 64 * 1024
BACKLOG = 64


def main(descriptor: int) -> NoReturn:
    with os.fdopen(descriptor, "rb") as file:
        told: dict[str, Any] = json.loads(file.read())
    become(told, _in_namespaces)


def become(told: Mapping[str, Any], first: Callable[[Mapping[str, Any]], None]) -> NoReturn:
    """Becomes the command, after what is to be done before it."""
    try:
        first(told)
        _limit(told["limits"])
        os.chdir(told["cwd"])
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(name, signal.SIG_DFL)
        os.umask(told["umask"])
        argv: list[str] = told["argv"]
        os.execvpe(argv[0], argv, told["env"])  # noqa: S606 - no shell is the point
    except FileNotFoundError as error:
        os.write(2, f"The command could not be started in the sandbox: {error}\n".encode())
        os._exit(127)
    except (OSError, ValueError) as error:
        os.write(2, f"The command could not be started in the sandbox: {error}\n".encode())
        os._exit(126)


def _in_namespaces(told: Mapping[str, Any]) -> None:
    _become(told["user"])
    _forward({int(port): path for port, path in told["ways"].items()})


def _become(user: int | None) -> None:
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    if 0 in os.getresuid():
        raise PermissionError("it would have the rights of root")


def _limit(limits: Mapping[str, int]) -> None:
    for name, value in limits.items():
        number: int = getattr(resource, name)
        _, most = resource.getrlimit(number)
        kept = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(number, (kept, kept))


# ------------------------------------------------------------------------------- the ways out


def _forward(ways: Mapping[int, str]) -> None:
    """Each port of the sandbox's own loopback address leads to a socket. They are open before the
    command begins; the process that serves them is no child of the command's."""
    if not ways:
        return
    doors = [(_listening(port), path) for port, path in ways.items()]
    if os.fork():
        os.wait()
    elif os.fork():
        os._exit(0)
    else:
        os.setsid()
        for number in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
        for door, path in doors:
            threading.Thread(target=_serve, args=(door, path)).start()
        threading.Event().wait()
    for door, _ in doors:
        door.close()


def _listening(port: int) -> socket.socket:
    door = socket.socket()
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    door.bind(("127.0.0.1", port))
    door.listen(BACKLOG)
    return door


def _serve(door: socket.socket, path: str) -> None:
    while True:
        near, _ = door.accept()
        far = socket.socket(socket.AF_UNIX)
        try:
            far.connect(path)
        except OSError:
            near.close()
            far.close()
            continue
        for one, other in ((near, far), (far, near)):
            threading.Thread(target=_copy, args=(one, other), daemon=True).start()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(CHUNK):
            sink.sendall(data)
    # The sockets go with the last of the two threads that hold them.
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    main(int(sys.argv[1]))
