"""A server on loopback that takes what a webhook sends, and answers as it is told to."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECRET = "a secret of the webhook, long and random: 5f3a9c"


@dataclass(frozen=True, slots=True)
class Sent:
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def told(self) -> dict[str, Any]:
        return json.loads(self.body)


@dataclass
class Listener:
    url: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    sent: list[Sent] = field(default_factory=list[Sent])
    silent: bool = False
    """Hangs up instead of answering."""


@contextmanager
def listening() -> Iterator[Listener]:
    found: list[Listener] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            [listener] = found
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            names = {name.lower(): value for name, value in self.headers.items()}
            listener.sent.append(Sent(self.path, names, body))
            if listener.silent:
                self.close_connection = True
                return
            self.send_response(listener.status)
            for name, value in {**listener.headers, "Content-Length": "0"}.items():
                self.send_header(name, value)
            self.end_headers()

        do_GET = do_POST

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    found.append(Listener(f"http://127.0.0.1:{server.server_port}/told"))
    try:
        yield found[0]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
