"""What the proxy of the sandbox lets out."""

import json
import socket
import ssl
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agents_manager import addresses
from agents_manager.sandbox import bridge, egress
from agents_manager.sandbox.egress import Proxy, Refused
from tests.runner_jobs import eventually

HOSTS = ("example.com", "*.example.org")


def connect(target: str) -> bytes:
    return f"CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode("latin-1")


def get(target: str) -> bytes:
    return f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode("latin-1")


@pytest.mark.parametrize(
    "head",
    [
        connect("example.com:443"),
        connect("EXAMPLE.com:443"),
        connect("a.example.org:443"),
        connect("a.b.example.org:443"),
        get("http://example.com/x?y=1"),
        get("http://example.com"),
    ],
)
def test_what_is_listed_is_let_out(head: bytes) -> None:
    assert egress.check(egress.request(head), HOSTS, ()) is False


@pytest.mark.parametrize(
    ("head", "why"),
    [
        (connect("evil.com:443"), "not on the list"),
        (connect("example.com.evil.com:443"), "not on the list"),
        (connect("evilexample.com:443"), "not on the list"),
        (connect("evilexample.org:443"), "not on the list"),
        (connect("example.org:443"), "not on the list"),
        (connect("example.com.:443"), "no name"),
        (connect("-a.example.org:443"), "no name"),
        (connect("a..example.org:443"), "no name"),
        (connect(f"{'a' * 64}.example.org:443"), "no name"),
        (connect("example.com:22"), "port 22"),
        (connect("example.com:80"), "port 80"),
        (get("http://example.com:443/"), "port 443"),
        (get("http://example.com:8080/"), "port 8080"),
        (get("https://example.com/"), "no request to a proxy"),
        (get("/etc/passwd"), "no request to a proxy"),
        (connect("93.184.216.34:443"), "only names"),
        (connect("2130706433:443"), "only names"),
        (connect("0x7f000001:443"), "only names"),
        (connect("0177.0.0.1:443"), "only names"),
        (connect("127.1:443"), "only names"),
        (connect("[::1]:443"), "no request to a proxy"),
        (connect("user@example.com:443"), "no request to a proxy"),
        (get("http://user:word@example.com/"), "no request to a proxy"),
        (connect("evil.com\0.example.org:443"), "NUL"),
        (connect("evil.com\r.example.org:443"), "lone CR"),
        (connect("evil.com%00.example.org:443"), "no name"),
        (connect("ex\xe4mple.com:443"), "not ASCII"),
        (b"CONNECT example.com:443\r\n\r\n", "no request to a proxy"),
        (b"CONNECT example.com:443 HTTP/1.1\r\n bad\r\n\r\n", "no request to a proxy"),
        (b"CONNECT example.com:443 HTTP/1.1 HTTP/1.1\r\n\r\n", "no request to a proxy"),
        (b"GET http://example.com/ HTTP/2\r\n\r\n", "no request to a proxy"),
    ],
)
def test_what_is_not_is_refused(head: bytes, why: str) -> None:
    with pytest.raises(Refused, match=why):
        egress.check(egress.request(head), HOSTS, ())


def test_private_places_are_let_out_that_are_named() -> None:
    for place in ("10.0.0.5:8080", "models.lan:443"):
        asked = egress.request(connect(place))
        assert egress.check(asked, (), (place,)) is True
        with pytest.raises(Refused):
            egress.check(asked, (), ("10.0.0.5:8081",))


@pytest.mark.parametrize(
    ("address", "open_network"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("100.64.0.1", False),
        ("169.254.169.254", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:127.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", False),
    ],
)
def test_addresses_of_the_open_network(address: str, open_network: bool) -> None:
    assert addresses.is_global(address) is open_network


def hello(name: str | None) -> bytes:
    """What TLS begins with."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.check_hostname = False
    begun = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        begun.do_handshake()
    return outgoing.read()


def in_pieces(message: bytes, size: int) -> bytes:
    """The same message in records that are smaller."""
    content = message[5:]
    pieces = [content[at : at + size] for at in range(0, len(content), size)]
    return b"".join(b"\x16\x03\x01" + len(p).to_bytes(2, "big") + p for p in pieces)


def test_the_name_that_tls_is_begun_for() -> None:
    begun = hello("example.com")
    assert egress.server_name(begun) == "example.com"
    assert egress.server_name(in_pieces(begun, 40)) == "example.com"
    assert egress.server_name(hello(None)) == ""
    assert egress.server_name(b"SSH-2.0-x\r\n") == ""
    assert egress.server_name(b"") is None
    for cut in range(1, len(begun)):
        assert egress.server_name(begun[:cut]) is None
    for at in range(len(begun)):
        broken = begun[:at] + bytes([begun[at] ^ 0xFF]) + begun[at + 1 :]
        assert egress.server_name(broken) != "evil.com"


class Wire:
    """The proxy on a socket, and a server that it may be asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, log: Path) -> None:
        self.proxy = Proxy(HOSTS, (), str(log))
        self.looked_up: list[str] = []
        self._pieces: list[bytes] = []
        self._patch = monkeypatch
        self._server, self._door = (socket.create_server(("127.0.0.1", 0)) for _ in range(2))
        self.port: int = self._server.getsockname()[1]
        monkeypatch.setattr(egress, "HTTPS", self.port)
        bridge.in_thread(bridge.listen, self._server, self._hear)
        bridge.in_thread(bridge.listen, self._door, self.proxy.serve)

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()
        self._door.close()

    def _hear(self, connection: socket.socket) -> None:
        self._pieces.append(connection.recv(10_000))

    @property
    def heard(self) -> bytes:
        return b"".join(self._pieces)

    def leads_to(self, *addresses: str) -> None:
        """Every name leads there, one address at a time."""
        real = socket.getaddrinfo
        ahead = list(addresses)

        def found(host: str, port: int, *rest: Any, **more: Any) -> Any:
            if host.startswith("127."):
                return real(host, port, *rest, **more)
            self.looked_up.append(host)
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ahead.pop(0), port))]

        self._patch.setattr(socket, "getaddrinfo", found)

    def ask(self, head: bytes, then: bytes = b"") -> bytes:
        with socket.create_connection(("127.0.0.1", self._door.getsockname()[1]), 20) as client:
            client.sendall(head)
            answer = client.recv(10_000) if head.startswith(b"CONNECT") else b""
            with suppress(OSError):
                client.sendall(then)
                client.shutdown(socket.SHUT_WR)
            with suppress(OSError):
                while data := client.recv(10_000):
                    answer += data
        return answer

    def logged(self, log: Path, count: int) -> list[str]:
        eventually(lambda: log.exists() and len(log.read_text().splitlines()) == count)
        return [json.loads(line)["said"] for line in log.read_text().splitlines()]


def test_a_name_that_leads_to_this_machine_is_not_dialled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with Wire(monkeypatch, log) as wire:
        wire.leads_to("127.0.0.1")
        asked = connect(f"example.com:{wire.port}")
        assert b"403" in wire.ask(asked, hello("example.com"))
        # Off, it would be.
        monkeypatch.setattr(egress, "is_global", lambda text: True)
        wire.leads_to("127.0.0.1", "10.0.0.1")
        assert b"200" in wire.ask(asked, hello("example.com"))
        assert wire.heard.startswith(b"\x16\x03")
        assert wire.looked_up == ["example.com", "example.com"]
        said = wire.logged(log, 2)
    assert said == [
        "the name leads to an address that is not of the open network",
        "let through",
    ]


@pytest.mark.parametrize("first", [hello("evil.com"), hello(None), b"GET / HTTP/1.1\r\n\r\n", b""])
def test_tls_must_be_begun_for_the_name_that_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, first: bytes
) -> None:
    monkeypatch.setattr(egress, "is_global", lambda text: True)
    with Wire(monkeypatch, tmp_path / "log") as wire:
        wire.leads_to("127.0.0.1", "127.0.0.1")
        asked = connect(f"example.com:{wire.port}")
        assert b"TLS was begun for" in wire.ask(asked, first)
        assert wire.heard == b""
        monkeypatch.setattr(egress, "server_name", lambda hello: "example.com")
        wire.ask(asked, first)
        assert wire.heard == first


def test_no_more_goes_out_than_is_allowed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(egress, "is_global", lambda text: True)
    with Wire(monkeypatch, tmp_path / "log") as wire:
        wire.leads_to("127.0.0.1", "127.0.0.1")
        asked, begun = connect(f"example.com:{wire.port}"), hello("example.com")
        monkeypatch.setattr(egress, "UP_BYTES", len(begun) + 10)
        wire.ask(asked, begun + b"x" * 11)
        assert wire.proxy.up > egress.UP_BYTES
        assert b"x" not in wire.heard.removeprefix(begun)
        wire.proxy.up = 0
        wire.ask(asked, begun + b"x" * 10)
        assert wire.heard.endswith(b"x" * 10)


def test_plain_requests_are_for_the_host_that_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(egress, "is_global", lambda text: True)
    with Wire(monkeypatch, tmp_path / "log") as wire:
        monkeypatch.setattr(egress, "HTTP", wire.port)
        wire.leads_to("127.0.0.1")
        head = f"GET http://example.com:{wire.port}/a HTTP/1.1\r\nHost: evil.com\r\nA: b\r\n\r\n"
        wire.ask(head.encode())
        assert (
            wire.heard
            == b"GET /a HTTP/1.1\r\nHost: example.com\r\nA: b\r\nConnection: close\r\n\r\n"
        )
