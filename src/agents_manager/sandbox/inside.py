"""Runs in the sandbox before the command does: becomes an unprivileged user where it is root, opens
the ports that are served from outside, sets the limits, and becomes the command."""

# Every sandboxed command waits for these imports. Json, socket and signal would take as long as
# Python itself takes to start.

from __future__ import annotations

import _socket
import marshal
import os
import resource
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn
else:
    import _signal as signal

BACKLOG = 64


def main(descriptor: int) -> NoReturn:
    with os.fdopen(descriptor, "rb") as file:
        # From the product alone: no command runs in this sandbox yet.
        told: dict[str, Any] = marshal.loads(file.read())  # noqa: S302
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
    _open(told["ports"], told["channel"])


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


# ------------------------------------------------------------------------------------ the ports


def _open(ports: Sequence[int], channel: int | None) -> None:
    """Passes the sockets that listen at these ports to the process that serves them, which is
    outside and learns by it that there is a sandbox. They are open before the command begins."""
    if channel is None:
        return
    outside = _socket.socket(fileno=channel)
    listeners = [_listening(port) for port in ports]
    descriptors = b"".join(one.fileno().to_bytes(4, sys.byteorder) for one in listeners)
    passed = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptors)
    outside.sendmsg([b"x"], [passed] if listeners else [])
    for opened in (outside, *listeners):
        opened.close()


def _listening(port: int) -> _socket.socket:
    listener = _socket.socket()
    listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(BACKLOG)
    return listener


if __name__ == "__main__":
    main(int(sys.argv[1]))
