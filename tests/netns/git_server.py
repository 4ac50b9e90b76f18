"""A remote as hosts have it: git over https, by git's own program for it. It is a program, started
with a folder of bare repositories, an address, and a certificate with its key."""

import os
import ssl
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

PORT = 443
PATIENCE_S = 30.0


class Handler(BaseHTTPRequestHandler):
    timeout = PATIENCE_S
    root: Path

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, body: bytes) -> None:
        asked = urlsplit(self.path)
        told = {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REQUEST_METHOD": self.command,
            "PATH_INFO": asked.path,
            "QUERY_STRING": asked.query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            # Whoever reaches it may push.
            "REMOTE_USER": self.client_address[0],
            "REMOTE_ADDR": self.client_address[0],
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env={**os.environ, **told}, capture_output=True
        )
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main(root: str, address: str, certificate: str, key: str) -> None:
    Handler.root = Path(root)
    server = Server((address, PORT), Handler)
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trust.load_cert_chain(certificate, key)
    # In the thread of its request: nobody waits for somebody who was cut off.
    server.socket = trust.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    sys.stdout.write("up\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
