"""The HTTP side: reads requests, finds scenario and API, and plays the reply."""

import gzip
import json
import select
import socket
import time
import traceback
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from agents_manager.testing.scripted_model import anthropic, chat, gemini, reply, responses
from agents_manager.testing.scripted_model.record import Record, Request
from agents_manager.testing.scripted_model.reply import Reply
from agents_manager.testing.scripted_model.scenario import Scenario
from agents_manager.testing.scripted_model.steps import Status
from agents_manager.testing.scripted_model.wire import Api, Call, Json, Refused

POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Address:
    scenario: str
    path: str
    """What the API sees."""
    query: Mapping[str, str]


def address(target: str) -> Address:
    parts = urlsplit(target)
    prefix, _, rest = parts.path.removeprefix("/s/").partition("/")
    scenario = prefix if parts.path.startswith("/s/") else ""
    return Address(scenario, f"/{rest}" if scenario else parts.path, dict(parse_qsl(parts.query)))


def api_of(path: str) -> Api | None:
    match path:
        case "/v1/messages":
            return anthropic.API
        case "/v1/responses":
            return responses.API
        case "/v1/chat/completions":
            return chat.API
        case _ if path.endswith((":generateContent", ":streamGenerateContent")):
            return gemini.API
        case _:
            return None


class Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, scenarios: Mapping[str, Scenario], record: Record) -> None:
        self.scenarios = scenarios
        self.record = record
        self._connections: set[socket.socket] = set()
        self._changed = Condition()
        super().__init__(("127.0.0.1", 0), Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, peer = super().get_request()
        with self._changed:
            self._connections.add(connection)
        return connection, peer

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        with self._changed:
            self._connections.discard(request)
            self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes is no error of ours; everything else is recorded where it happens."""

    def close(self) -> None:
        """Ends every connection, also those that hang or that clients keep for later."""
        self.shutdown()
        with self._changed:
            for connection in self._connections:
                _hang_up(connection)
            self._changed.wait_for(lambda: not self._connections, timeout=5)
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def listener(self) -> Listener:
        return cast("Listener", self.server)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are recorded, not printed."""

    def do_GET(self) -> None:
        self._serve()

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def _serve(self) -> None:
        place = address(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(
            scenario=place.scenario, method=self.command, path=self.path, headers=headers
        )
        api = api_of(place.path) if self.command == "POST" else None
        answer = self._answer(api or anthropic.API, place, request, known=api is not None)
        self.listener.record.add(request)
        try:
            self._play(answer, request)
        except (ConnectionError, _Gone):
            self.close_connection = True
            self.listener.record.mark(request, "gone")

    def _answer(self, api: Api, place: Address, request: Request, *, known: bool) -> Reply:
        try:
            return self._chosen(api, place, request, known=known)
        except Refused as refused:
            request.fault = f"refused with {refused.status}: {refused.message}"
            return reply.to_error(api, Status(refused.status, refused.message))
        except ConnectionError:
            raise
        except Exception:  # noqa: BLE001 - a broken condition must reach the test, not the thread
            request.fault = traceback.format_exc()
            return reply.to_error(api, Status(500, request.fault))

    def _chosen(self, api: Api, place: Address, request: Request, *, known: bool) -> Reply:
        content = self._content()
        scenario = self.listener.scenarios.get(place.scenario)
        if scenario is None:
            raise Refused(404, f'There is no scenario "{place.scenario}".')
        if not known:
            raise Refused(404, f'The scripted model does not serve "{place.path}".')
        request.body = body = _object(content)
        talk = api.read(Call(place.path, place.query, request.headers, body))
        chosen = scenario.choose(talk)
        if chosen.step is None:
            raise Refused(400, f'"{place.scenario}" has no step {chosen.number}.')
        request.step = chosen.number
        return reply.to_step(api, talk, chosen.step)

    def _content(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            raw = b"".join(self._chunks())
        else:
            size = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(size)
            if len(raw) < size:
                raise ConnectionAbortedError("The client went while it was asking.")
        encoding = self.headers.get("Content-Encoding", "identity").lower()
        try:
            match encoding:
                case "identity":
                    return raw
                case "gzip":
                    return gzip.decompress(raw)
                case "deflate":
                    return zlib.decompress(raw)
                case _:
                    raise Refused(415, f'The scripted model does not read "{encoding}".')
        except (OSError, EOFError, zlib.error) as error:
            raise Refused(400, f"The body is not valid {encoding}.") from error

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass

    def _play(self, answer: Reply, request: Request) -> None:
        mark = self.listener.record.mark
        pieces = [*answer.body, b""] if answer.streams else answer.body
        for i, piece in enumerate(pieces):
            if answer.event == "hang" and i == answer.event_at:
                mark(request, "hanging")
                self._hang(self.listener.scenarios[request.scenario])
                mark(request, "answering")
            if answer.event == "cut" and i == answer.event_at:
                mark(request, "cut")
                self.close_connection = True
                _hang_up(self.connection)
                return
            if i == 0:
                self._begin(answer)
            if i == len(pieces) - 1:
                # Before it is sent: a client that has heard all must find it so in the record.
                mark(request, "done")
            time.sleep(answer.pause)
            self._send(piece, chunked=answer.streams)

    def _begin(self, answer: Reply) -> None:
        self.send_response(answer.status)
        if answer.streams:
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(sum(map(len, answer.body))))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, piece: bytes, *, chunked: bool) -> None:
        if self.command == "HEAD":
            return
        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)

    def _hang(self, scenario: Scenario) -> None:
        while not scenario.released.wait(POLL_S):
            if _gone(self.connection):
                raise _Gone


class _Gone(Exception):
    """Nobody waits for the answer any more."""


def _object(content: bytes) -> Json:
    try:
        body = json.loads(content)
    except ValueError:
        raise Refused(400, "The request body is not valid JSON.") from None
    if not isinstance(body, dict):
        raise Refused(400, "The request body is not a JSON object.")
    return cast("Json", body)


def _gone(connection: socket.socket) -> bool:
    readable, _, _ = select.select([connection], [], [], 0)
    return bool(readable) and not connection.recv(1, socket.MSG_PEEK)


def _hang_up(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
