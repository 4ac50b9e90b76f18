"""What goes on beside a command in a sandbox while it runs: its connections are relayed, and what
it uses is looked at. This module is part of every live run, so it imports little."""

from __future__ import annotations

import errno
import os
import socket
import sys
import threading
import time

from agents_manager.sandbox import bridge, cgroup, usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

EGRESS_LOG = "egress.log"
IN_NAMESPACES = "S3"
"""The level at which a sandbox has a network of its own, from which its sockets are passed out."""
FAILED = 125
"""The exit code where the sandbox itself could not be had, or ended the command."""
TROUBLE = "trouble"
"""In the folder of the log: why there was no sandbox."""
LIMIT = "limit"
"""In the folder of the log: why the command was ended, if a bound did it."""
NOT_MADE = (
    "The sandbox could not be made: bubblewrap ended before the command began. Its message is in"
    " the error output of the run."
)
RECEIVE_S = 1.0
"""How long the message is awaited that there is a sandbox, after its end."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
FULL_S = 1.0
"""How often a full disk is tried again."""


def is_needed(cage: Mapping[str, Any]) -> bool:
    """Returns whether a command has anything to supervise. `cage` is a `Cage` as JSON."""
    bounds = cage["bounds"]
    looked_at = bounds["memory_mb"] is not None or bounds["disk_mb"] is not None
    return bool(looked_at or cage["hosts"] or cage["private"] or cage["ports"])


class Supervision:
    """Is created before the command is started, follows it, and is closed when it has ended."""

    def __init__(
        self, cage: Mapping[str, Any], listeners: list[socket.socket] | None = None
    ) -> None:
        """`listeners` are the sockets to serve, of which the last is for the proxy. If it is None,
        they come from the sandbox, by `channel`."""
        self.channel: socket.socket | None = None
        self.group = _group(cage["bounds"])
        self._bounds: usage.Bounds = cage["bounds"]
        self._writes: list[str] = cage["writes"]
        self._log: str | None = cage["log"]
        self._listeners = listeners
        self._watch: usage.Watch | None = None
        self._serves: list[bridge.Serve] = []
        if listeners is None:
            slots = threading.Semaphore(bridge.CONNECTIONS)
            self._serves += [bridge.to_port(port, slots) for port in cage["ports"]]
        self._proxy = None
        self._receiver: threading.Thread | None = None
        self._is_made = False
        """Whether there is a sandbox, and the command is about to begin in it."""
        if cage["hosts"] or cage["private"]:
            # Without a network there is no need for what the proxy imports.
            from agents_manager.sandbox.egress import Proxy

            log = None if self._log is None else f"{self._log}/{EGRESS_LOG}"
            self._proxy = Proxy(cage["hosts"], cage["private"], log)
            self._serves.append(self._proxy.serve)
        if listeners is None:
            self._ours, self.channel = socket.socketpair()

    def follow(self, pid: int) -> None:
        """Begins when the command has been started as a process of ours."""
        self._receiver = bridge.in_thread(self._serve)
        memory = self.group is None and self._bounds["memory_mb"] is not None
        if memory or self._bounds["disk_mb"] is not None:
            self._watch = usage.Watch(pid, self._bounds, self._writes, memory=memory)
            bridge.in_thread(self._watch.follow)

    def _serve(self) -> None:
        listeners = self._listeners
        if self.channel is not None:
            self.channel.close()
            listeners = bridge.receive(self._ours, max(1, len(self._serves)))
        self._is_made = listeners is not None
        for listener, serve in zip(listeners or (), self._serves, strict=False):
            bridge.in_thread(bridge.listen, listener, serve)

    def close(self, *, unasked: bool = True) -> str | None:
        """Returns why the command was ended, if a bound did it, and writes it down. If it ended
        `unasked`, it is also written down that there was no sandbox."""
        why = None
        if self._watch is not None:
            self._watch.stop()
            why = self._watch.why
        if self._proxy is not None:
            self._proxy.close()
        if self.group is not None:
            if self.group.ran_out:
                why = usage.out_of_memory(self._bounds)
            self.group.close()
        if why is not None and self._log is not None:
            _write(f"{self._log}/{LIMIT}", why)
        if why is None and unasked:
            self._look_whether_it_was_made()
        return why

    def _look_whether_it_was_made(self) -> None:
        if self._receiver is not None:
            self._receiver.join(RECEIVE_S)
        trouble = f"{self._log}/{TROUBLE}"
        if not self._is_made and self._log is not None and not os.path.exists(trouble):  # noqa: PTH110
            _write(trouble, NOT_MADE)


def ended(pid: int, supervised: Supervision | None) -> int:
    """Returns the exit code of a command that was started as this process, after its end."""
    if supervised is not None:
        supervised.follow(pid)
    _, status = os.waitpid(pid, 0)
    why = None if supervised is None else supervised.close()
    if why is None:
        return os.waitstatus_to_exitcode(status)
    sys.stderr.write(f"{why}\n")
    return FAILED


def _group(bounds: usage.Bounds) -> cgroup.Group | None:
    """None where there is none to be had: then it is looked at what is used."""
    try:
        return cgroup.make(bounds)
    except (cgroup.Unavailable, OSError):
        return None


def _write(path: str, text: str) -> None:
    """On a full disk it waits for room: this is known nowhere else."""
    while True:
        descriptor = -1
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.write(descriptor, text.encode())
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            time.sleep(FULL_S)
        else:
            return
        finally:
            if descriptor >= 0:
                os.close(descriptor)
