"""The only way out to the network: a proxy that lets through what goes to a list of names. It
resolves a name once and dials an address that it has looked at, so that no answer of a name server
leads to this machine or its neighbours."""

import asyncio
import json
import re
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from agents_manager.addresses import is_global, is_number

HEAD_BYTES = 16 * 1024
HELLO_BYTES = 32 * 1024
HEAD_S = 30.0
DIAL_S = 20.0
CONNECTIONS = 256
UP_BYTES = 2 * 1024**3
"""What one run may send; a slip that sends a disk away ends here."""
DOWN_BYTES = 50 * 1024**3
LOG_BYTES = 10 * 1024 * 1024
CHUNK = 64 * 1024
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


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    host: str
    port: int
    path: str
    headers: Sequence[str]

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


@dataclass(slots=True)
class Proxy:
    hosts: Sequence[str]
    private: Sequence[str] = ()
    log: Path | None = None
    up: int = 0
    down: int = 0
    open: int = 0
    _logged: int = field(default=0)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place = "?"
        self.open += 1
        before = self.up, self.down
        said = "let through"
        try:
            if self.open > CONNECTIONS:
                raise Refused("there are too many connections", "429 Too Many Requests")
            async with asyncio.timeout(HEAD_S):
                asked = request(await reader.readuntil(b"\r\n\r\n"))
            place = asked.place
            await self._pass_on(asked, reader, writer)
        except Refused as refusal:
            said = str(refusal)
            with suppress(OSError):
                writer.write(_answer(refusal.status, f"{place}: {said}.\n"))
                await writer.drain()
        except (OSError, TimeoutError, EOFError, asyncio.LimitOverrunError) as error:
            said = f"broke: {type(error).__name__}"
        except asyncio.CancelledError:
            said = "cut: the command ended"  # Nobody awaits this, so that nobody is to be told.
        finally:
            self.open -= 1
            self._note(place, said, self.up - before[0], self.down - before[1])
            writer.close()

    async def _pass_on(
        self, asked: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        named = check(asked, self.hosts, self.private)
        address = await _address(asked, named=named)
        async with asyncio.timeout(DIAL_S):
            try:
                far_reader, far_writer = await asyncio.open_connection(address, asked.port)
            except OSError as error:
                raise Refused(
                    f"it cannot be reached: {error.strerror}", "502 Bad Gateway"
                ) from None
        try:
            if asked.tunnel:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                first = b"" if named else await _hello(reader, asked.host)
            else:
                first = _origin_form(asked)
            self._count(len(first), up=True)
            far_writer.write(first)
            async with asyncio.TaskGroup() as both:
                both.create_task(self._copy(reader, far_writer, up=True))
                both.create_task(self._copy(far_reader, writer, up=False))
        except* Refused as refusals:
            raise refusals.exceptions[0] from None
        finally:
            far_writer.close()

    async def _copy(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, up: bool
    ) -> None:
        with suppress(OSError):
            while data := await source.read(CHUNK):
                self._count(len(data), up=up)
                sink.write(data)
                await sink.drain()
            if sink.can_write_eof():
                sink.write_eof()

    def _count(self, size: int, *, up: bool) -> None:
        self.up += size * up
        self.down += size * (not up)
        if self.up > UP_BYTES or self.down > DOWN_BYTES:
            raise Refused("the run sent or received too much")

    def _note(self, place: str, said: str, up: int, down: int) -> None:
        if self.log is None or self._logged > LOG_BYTES:
            return
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        entry = {"time": at, "place": place, "said": said, "up": up, "down": down}
        line = json.dumps(entry) + "\n"
        self._logged += len(line)
        with suppress(OSError), self.log.open("a", encoding="utf-8") as file:
            file.write(line)


def _answer(status: str, text: str) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\n"
    return f"{head}Connection: close\r\n\r\n{text}".encode("ascii", "replace")


def _origin_form(asked: Request) -> bytes:
    kept = [line for line in asked.headers if line.partition(":")[0].lower() not in HOPS]
    lines = [f"{asked.method} {asked.path} HTTP/1.1", f"Host: {asked.host}", *kept]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("ascii")


async def _address(asked: Request, *, named: bool) -> str:
    """Resolved once. Where one of the addresses is not of the open network, none is dialled."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(asked.host, asked.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Refused("the name has no address", "502 Bad Gateway") from None
    addresses = [str(entry[4][0]) for entry in found]
    if not named and not all(is_global(address) for address in addresses):
        raise Refused("the name leads to an address that is not of the open network")
    return addresses[0]


async def _hello(reader: asyncio.StreamReader, host: str) -> bytes:
    """The first message of TLS, which must be for the host that was asked for."""
    hello = b""
    async with asyncio.timeout(HEAD_S):
        while (name := server_name(hello)) is None and len(hello) < HELLO_BYTES:
            data = await reader.read(CHUNK)
            if not data:
                break
            hello += data
    if name != host:
        raise Refused(f'TLS was begun for "{name or ""}"')
    return hello
