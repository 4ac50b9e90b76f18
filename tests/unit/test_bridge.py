"""The relay between a sandbox and what it may reach."""

import socket
import threading
from collections.abc import Iterator

import pytest

from agents_manager.sandbox import bridge
from tests.runner_jobs import eventually

LARGE = bytes(range(256)) * (8 * 4096)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def connected(listener: socket.socket, behind: socket.socket) -> socket.socket:
    """Connects to a socket whose connections are relayed to the port of the other."""
    serve = bridge.to_port(behind.getsockname()[1], threading.Semaphore(1))
    bridge.in_thread(bridge.listen, listener, serve)
    return socket.create_connection(listener.getsockname(), 20)


def read_all(source: socket.socket) -> bytes:
    read = b""
    while data := source.recv(1 << 16):
        read += data
    return read


def test_both_sides_send_much_before_either_reads(listener: socket.socket) -> None:
    with socket.create_server(("127.0.0.1", 0)) as behind, connected(listener, behind) as near:
        far, _ = behind.accept()
        with far:
            senders = [threading.Thread(target=each.sendall, args=(LARGE,)) for each in (near, far)]
            for sender in senders:
                sender.start()
            received = [b"", b""]
            while min(len(each) for each in received) < len(LARGE):
                received = [
                    got + each.recv(1 << 16) if len(got) < len(LARGE) else got
                    for got, each in zip(received, (near, far), strict=True)
                ]
            for sender in senders:
                sender.join()
    assert received == [LARGE, LARGE]


def test_the_end_of_one_side_leaves_the_other_open(listener: socket.socket) -> None:
    with socket.create_server(("127.0.0.1", 0)) as behind, connected(listener, behind) as near:
        far, _ = behind.accept()
        with far:
            near.sendall(b"question")
            near.shutdown(socket.SHUT_WR)
            assert read_all(far) == b"question"
            far.sendall(b"answer")
        assert read_all(near) == b"answer"


def test_a_port_where_nothing_listens_closes_the_connection(listener: socket.socket) -> None:
    with socket.create_server(("127.0.0.1", 0)) as behind:
        closed = behind.getsockname()[1]
    serve = bridge.to_port(closed, threading.Semaphore(1))
    bridge.in_thread(bridge.listen, listener, serve)
    with socket.create_connection(listener.getsockname(), 20) as near:
        assert read_all(near) == b""


def test_no_more_connections_are_relayed_at_once_than_there_are_slots(
    listener: socket.socket,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as behind, connected(listener, behind) as near:
        far, _ = behind.accept()
        with socket.create_connection(listener.getsockname(), 20) as refused:
            assert read_all(refused) == b""
        far.close()
        assert read_all(near) == b""
        near.close()
        eventually(lambda: answered(listener, behind))


def answered(listener: socket.socket, behind: socket.socket) -> bool:
    behind.settimeout(0.2)
    with socket.create_connection(listener.getsockname(), 20):
        try:
            behind.accept()[0].close()
        except TimeoutError:
            return False
    return True
