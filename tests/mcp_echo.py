"""An MCP server on standard input with one tool, which tells what it was given. It needs only the
standard library, as agents start it in their sandbox."""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler

TOOL = {
    "name": "whoami",
    "description": "Tells the variables that the server was given.",
    "inputSchema": {"type": "object", "properties": {}},
}


def answer(method: str, params: dict[str, object]) -> object:
    if method == "initialize":
        version = params.get("protocolVersion", "2025-06-18")
        info = {"name": "echo", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        token = os.environ.get("ECHO_TOKEN", "")
        text = f"ECHO args={sys.argv[1:]} token-length={len(token)} token={token}"
        return {"content": [{"type": "text", "text": text}]}
    return {}


class Handler(BaseHTTPRequestHandler):
    """The same over HTTP, for whoever shows the token."""

    token = ""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        allowed = self.headers.get("authorization") == f"Bearer {self.token}"
        body = b""
        if allowed and "id" in asked:
            result = answer(asked["method"], asked.get("params") or {})
            body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode()
        self.send_response(401 if not allowed else 200 if body else 202)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_error(405)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            result = answer(asked["method"], asked.get("params") or {})
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
            sys.stdout.write("\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
