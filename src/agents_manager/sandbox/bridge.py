"""Relays the connections of a sandbox. A sandbox at S3 has a network of its own: the sockets on
which it listens are created inside it and passed out, and connections to them are accepted here.
Each connection is served by a thread. This module is part of every live run, so it imports
little."""

from __future__ import annotations

import errno
import select
import socket
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Serve = Callable[[socket.socket], None]
    Count = Callable[[int, bool], None]
    """Takes how many bytes passed, and whether they left the sandbox."""

CHUNK = 64 * 1024
DIAL_S = 20.0
PAUSE_S = 0.1
CONNECTIONS = 128
"""To all ports of this machine together."""
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
LOOPBACK = "127.0.0.1"


def receive(channel: socket.socket, most: int) -> list[socket.socket] | None:
    """Receives the listening sockets that the sandbox created. None if it ended before."""
    try:
        message, descriptors, _, _ = socket.recv_fds(channel, 1, most)
    except OSError:
        return None
    finally:
        channel.close()
    if not message:
        return None
    return [socket.socket(fileno=descriptor) for descriptor in descriptors]


def listen(listener: socket.socket, serve: Serve) -> None:
    """Accepts connections for as long as the process lives, each in a thread."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError as error:
            if error.errno not in EXHAUSTED and error.errno != errno.ECONNABORTED:
                return
            time.sleep(PAUSE_S)
            continue
        try:
            in_thread(_serve, serve, connection)
        except RuntimeError:  # The system has no thread left.
            connection.close()


def in_thread(target: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=target, args=arguments, daemon=True)
    thread.start()
    return thread


def _serve(serve: Serve, connection: socket.socket) -> None:
    with connection:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            serve(connection)
        except OSError:
            return


def to_port(port: int, slots: threading.Semaphore) -> Serve:
    """Serves connections by relaying them to a port of this machine, while there are slots: each
    takes descriptors of this process, which needs some itself."""

    def serve(near: socket.socket) -> None:
        if not slots.acquire(blocking=False):
            return
        try:
            with dial((LOOPBACK, port)) as far:
                relay(near, far)
        finally:
            slots.release()

    return serve


def dial(address: tuple[str, int]) -> socket.socket:
    far = socket.create_connection(address, DIAL_S)
    far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return far


# -------------------------------------------------------------------------------- both directions


def relay(near: socket.socket, far: socket.socket, count: Count | None = None) -> None:
    """Copies in both directions until both have ended."""
    directions = (_Direction(near, far, count, up=True), _Direction(far, near, count, up=False))
    near.setblocking(False)
    far.setblocking(False)
    while any(direction.open for direction in directions):
        wanted = {near.fileno(): 0, far.fileno(): 0}
        for direction in directions:
            wanted[direction.waits_for.fileno()] |= direction.event
        poll = select.poll()
        for descriptor, events in wanted.items():
            if events:  # Otherwise the end of one side would wake this loop without a pause.
                poll.register(descriptor, events)
        ready = dict(poll.poll())
        for direction in directions:
            happened = ready.get(direction.waits_for.fileno(), 0)
            if happened & (direction.event | select.POLLERR | select.POLLHUP):
                direction.move()


class _Direction:
    """What one side sends to the other. Nothing is read before the previous piece was passed on."""

    def __init__(
        self, source: socket.socket, sink: socket.socket, count: Count | None, *, up: bool
    ) -> None:
        self._source = source
        self._sink = sink
        self._count = count
        self._up = up
        self._pending = b""
        self.open = True

    @property
    def waits_for(self) -> socket.socket:
        return self._sink if self._pending else self._source

    @property
    def event(self) -> int:
        if not self.open:
            return 0
        return select.POLLOUT if self._pending else select.POLLIN

    def move(self) -> None:
        if not self.open:
            return
        try:
            if self._pending:
                self._pending = self._pending[self._sink.send(self._pending) :]
                return
            self._pending = self._source.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            self._pending = b""
        if self._pending and self._count is not None:
            self._count(len(self._pending), self._up)
        if not self._pending:
            self._end()

    def _end(self) -> None:
        self.open = False
        try:
            self._sink.shutdown(socket.SHUT_WR)
        except OSError:
            return
