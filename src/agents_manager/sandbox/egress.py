"""The only way out to the network: a proxy that lets through what goes to a list of names. It
resolves a name once and dials an address that it has looked at, so that no answer of a name server
leads to this machine or its neighbours."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from contextlib import suppress

from agents_manager.addresses import is_global, is_number
from agents_manager.sandbox import bridge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

HEAD_BYTES = 16 * 1024
HELLO_BYTES = 32 * 1024
HEAD_S = 30.0
CONNECTIONS = 256
UP_BYTES = 2 * 1024**3
"""What one run may send; a slip that sends a disk away ends here."""
DOWN_BYTES = 50 * 1024**3
LOG_BYTES = 10 * 1024 * 1024
HTTP, HTTPS = 80, 443

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
TARGET = re.compile(r"(?:http://)?([^/:@?#\[\]]+)(?::(\d{1,5}))?(/[^\s#]*)?")
METHOD = re.compile(r"[A-Z]{1,20}")
HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*")
HOPS = ("connection", "proxy-connection", "proxy-authorization", "keep-alive", "host")


class Refused(Exception):
    """What is asked for may not go out; says why."""

    def __init__(self, why: str, status: str = "403 Forbidden") -> None:
        super().__init__(why)
        self.status = status


class Request:
    def __init__(
        self, method: str, host: str, port: int, path: str, headers: Sequence[str]
    ) -> None:
        self.method = method
        self.host = host
        self.port = port
        self.path = path
        self.headers = headers

    @property
    def place(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def tunnel(self) -> bool:
        return self.method == "CONNECT"


# ----------------------------------------------------------------------------------- the rules


def request(head: bytes) -> Request:
    """The beginning of a request, if it is one of the two kinds that a proxy is asked."""
    try:
        text = head.decode("ascii")
    except UnicodeDecodeError:
        raise Refused("it is not ASCII", "400 Bad Request") from None
    if "\0" in text or "\r" in text.replace("\r\n", ""):
        raise Refused("it holds a NUL or a lone CR", "400 Bad Request")
    first, *headers = text.removesuffix("\r\n\r\n").split("\r\n")
    method, _, rest = first.partition(" ")
    target, _, version = rest.rpartition(" ")
    found = TARGET.fullmatch(target)
    odd = not METHOD.fullmatch(method) or version not in ("HTTP/1.0", "HTTP/1.1")
    if odd or found is None or not all(HEADER.fullmatch(line) for line in headers):
        raise Refused("it is no request to a proxy", "400 Bad Request")
    tunnel = method == "CONNECT"
    if tunnel == target.startswith("http://") or (tunnel and found[3]):
        raise Refused("it is no request to a proxy", "400 Bad Request")
    port = int(found[2] or (HTTPS if tunnel else HTTP))
    return Request(method, found[1].lower(), port, found[3] or "/", headers)


def check(asked: Request, hosts: Sequence[str], private: Sequence[str]) -> bool:
    """Whether it goes to a private place that was named; Refused where it may go nowhere."""
    if asked.place in private:
        return True
    if is_number(asked.host):
        raise Refused("addresses are not let through, only names")
    if len(asked.host) > 253 or not NAME.fullmatch(asked.host):
        raise Refused("it is no name of a host", "400 Bad Request")
    if asked.port != (HTTPS if asked.tunnel else HTTP):
        raise Refused(f"port {asked.port} is not let through")
    if not any(fits(asked.host, rule) for rule in hosts):
        raise Refused("the name is not on the list")
    return False


def fits(host: str, rule: str) -> bool:
    if rule.startswith("*."):
        return host.endswith(rule[1:]) and len(host) >= len(rule)
    return host == rule


def server_name(hello: bytes) -> str | None:
    """The name in the first message of TLS; None while there is more to come, and "" where it has
    none or is no such message."""
    if hello[:1] not in (b"", b"\x16"):
        return ""
    message, rest = b"", hello
    while len(rest) >= 5 and not _whole(message):
        size = int.from_bytes(rest[3:5], "big")
        if rest[0] != 0x16 or not size:
            return ""
        message += rest[5 : 5 + size]
        if len(rest) < 5 + size:
            break
        rest = rest[5 + size :]
    if message[:1] not in (b"", b"\x01"):
        return ""
    if not _whole(message):
        return None
    try:
        return _name_in(message[4 : 4 + int.from_bytes(message[1:4], "big")])
    except (IndexError, UnicodeDecodeError):
        return ""


def _whole(message: bytes) -> bool:
    return len(message) >= 4 and len(message) >= 4 + int.from_bytes(message[1:4], "big")


def _name_in(hello: bytes) -> str:
    at = 34
    at += 1 + hello[at]
    at += 2 + int.from_bytes(hello[at : at + 2], "big")
    at += 1 + hello[at]
    names: list[str] = []
    at += 2
    while at + 4 <= len(hello):
        kind, size = (int.from_bytes(hello[at + n : at + n + 2], "big") for n in (0, 2))
        if kind == 0:
            names.append(hello[at + 9 : at + 4 + size].decode("ascii").lower())
        at += 4 + size
    return names[0] if len(names) == 1 else ""


# ----------------------------------------------------------------------------------- the proxy


class Proxy:
    """Serves the connections of one command, each in a thread of its own."""

    def __init__(
        self, hosts: Sequence[str], private: Sequence[str] = (), log: str | None = None
    ) -> None:
        self.up = 0
        self.down = 0
        self._hosts = hosts
        self._private = private
        self._log = log
        self._open = set[_Connection]()
        self._logged = 0
        self._lock = threading.Lock()

    def serve(self, near: socket.socket) -> None:
        connection = _Connection(self, near)
        with self._lock:
            self._open.add(connection)
            crowded = len(self._open) > CONNECTIONS
        outcome = "let through"
        try:
            if crowded:
                raise Refused("there are too many connections", "429 Too Many Requests")
            asked = request(connection.head())
            connection.place = asked.place
            connection.pass_on(asked, named=check(asked, self._hosts, self._private))
        except Refused as refusal:
            outcome = str(refusal)
            _send_refusal(near, refusal.status, f"{connection.place}: {outcome}.\n")
        except (OSError, EOFError) as error:
            outcome = f"broke: {type(error).__name__}"
        finally:
            self._note(connection, outcome)

    def close(self) -> None:
        """Logs the connections that are still open when the command ends."""
        for connection in tuple(self._open):
            self._note(connection, "cut: the command ended")

    def count(self, size: int, up: bool) -> None:
        with self._lock:
            self.up += size * up
            self.down += size * (not up)
            too_much = self.up > UP_BYTES or self.down > DOWN_BYTES
        if too_much:
            raise Refused("the run sent or received too much")

    def _note(self, connection: _Connection, outcome: str) -> None:
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        entry = {"time": at, "place": connection.place, "said": outcome}
        line = json.dumps({**entry, "up": connection.up, "down": connection.down}) + "\n"
        with self._lock:
            if connection not in self._open:
                return
            self._open.remove(connection)
            if self._log is None or self._logged > LOG_BYTES:
                return
            self._logged += len(line)
            with suppress(OSError), open(self._log, "a", encoding="utf-8") as file:  # noqa: PTH123
                file.write(line)


class _Connection:
    def __init__(self, proxy: Proxy, near: socket.socket) -> None:
        self.place = "?"
        self.up = 0
        self.down = 0
        self._proxy = proxy
        self._near = near
        self._read = b""
        """What came and was not passed on yet."""

    def head(self) -> bytes:
        """Reads up to the blank line that ends the head of the request."""
        deadline = time.monotonic() + HEAD_S
        while (end := self._read.find(b"\r\n\r\n")) < 0:
            if len(self._read) > HEAD_BYTES:
                raise Refused("its head is too long", "431 Request Header Fields Too Large")
            self._more(deadline)
        head, self._read = self._read[: end + 4], self._read[end + 4 :]
        return head

    def pass_on(self, asked: Request, *, named: bool) -> None:
        try:
            far = bridge.dial((_address(asked, named=named), asked.port))
        except OSError as error:
            raise Refused(f"it cannot be reached: {error.strerror}", "502 Bad Gateway") from None
        with far:
            if asked.tunnel:
                self._near.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                if not named:
                    self._expect_tls(asked.host)
                first = self._read
            else:
                first = _origin_form(asked) + self._read
            self._count(len(first), up=True)
            far.sendall(first)
            bridge.relay(self._near, far, lambda size, up: self._count(size, up=up))

    def _expect_tls(self, host: str) -> None:
        """Reads the first message of TLS, which must be for the host that was asked for."""
        deadline = time.monotonic() + HEAD_S
        while (name := server_name(self._read)) is None and len(self._read) < HELLO_BYTES:
            try:
                self._more(deadline)
            except EOFError:
                break
        if name != host:
            raise Refused(f'TLS was begun for "{name or ""}"')

    def _more(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._near.settimeout(left)
        data = self._near.recv(bridge.CHUNK)
        if not data:
            raise EOFError
        self._read += data

    def _count(self, size: int, *, up: bool) -> None:
        self.up += size * up
        self.down += size * (not up)
        self._proxy.count(size, up)


def _send_refusal(near: socket.socket, status: str, text: str) -> None:
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\n"
    with suppress(OSError):
        near.settimeout(HEAD_S)
        near.sendall(f"{head}Connection: close\r\n\r\n{text}".encode("ascii", "replace"))


def _origin_form(asked: Request) -> bytes:
    kept = [line for line in asked.headers if line.partition(":")[0].lower() not in HOPS]
    lines = [f"{asked.method} {asked.path} HTTP/1.1", f"Host: {asked.host}", *kept]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("ascii")


def _address(asked: Request, *, named: bool) -> str:
    """Resolves the host once. If one of its addresses is not of the open network, none is used."""
    try:
        found = socket.getaddrinfo(asked.host, asked.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Refused("the name has no address", "502 Bad Gateway") from None
    addresses = [str(entry[4][0]) for entry in found]
    if not named and not all(is_global(address) for address in addresses):
        raise Refused("the name leads to an address that is not of the open network")
    return addresses[0]
