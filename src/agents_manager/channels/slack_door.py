"""Where Slack sends requests to, for those who do not want a socket. Each is signed, not older than
five minutes, and taken once."""

import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from agents_manager.channels.slack import Slack
from agents_manager.flow.ports import Clock
from agents_manager.flow.ports.channels import Desk

OLDEST_S = 300
MAX_BYTES = 1_000_000
FIELDS = 100

Seen = Callable[[str], Awaitable[bool]]
"""Whether this was seen before; from now on it was. It must outlast a restart."""


class SlackDoor:
    """An ASGI app, for one address: that of events, of buttons and of the command."""

    def __init__(self, slack: Slack, desk: Desk, secret: str, seen: Seen, clock: Clock) -> None:
        self._slack = slack
        self._desk = desk
        self._secret = secret
        self._seen = seen
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        refused, told = await self._read(request)
        if refused is not None:
            await refused(scope, receive, send)
            return
        answered = False

        async def ack(form: Mapping[str, Any] | None) -> None:
            nonlocal answered
            answered = True
            await (JSONResponse(form) if form else Response())(scope, receive, send)

        await self._slack.take(self._desk, told, ack)
        if not answered:
            await _refusal(503, "This cannot be taken now.")(scope, receive, send)

    async def _read(self, request: Request) -> tuple[Response | None, Any]:
        if request.method != "POST":
            return _refusal(405, "Slack sends POST."), None
        body = await _body(request)
        if body is None:
            return _refusal(413, f"More than {MAX_BYTES} bytes are not taken."), None
        signature = request.headers.get("x-slack-signature", "")
        at = request.headers.get("x-slack-request-timestamp", "")
        if not signed(body, self._secret, at, signature):
            return _refusal(401, "The signature X-Slack-Signature does not fit."), None
        if abs(self._clock.now().timestamp() - int(at)) > OLDEST_S:
            return _refusal(401, f"The request is more than {OLDEST_S} seconds off our time."), None
        if await self._seen(signature):
            return _refusal(409, "This request was taken before."), None
        told = _told(request.headers.get("content-type", ""), body)
        match told:
            case None:
                return _refusal(400, "The request cannot be read."), None
            case {"type": "url_verification", "challenge": str(challenge)}:
                return PlainTextResponse(challenge), None
            case _:
                return None, told


def signed(body: bytes, secret: str, at: str, signature: str) -> bool:
    """Whether the sender knows the secret and means this time."""
    if not (at.isascii() and at.isdecimal() and len(at) <= 12):
        return False
    digest = hmac.new(secret.encode(), b"v0:%s:%s" % (at.encode(), body), hashlib.sha256)
    return hmac.compare_digest(f"v0={digest.hexdigest()}".encode(), signature.encode())


async def _body(request: Request) -> bytes | None:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            return None
    return bytes(body)


def _told(content_type: str, body: bytes) -> Any:
    """What people did comes in a field of a form, commands as the form, and events as JSON."""
    try:
        text = body.decode()
        if content_type.split(";")[0].strip().lower() == "application/json":
            return json.loads(text)
        fields = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=FIELDS))
        return json.loads(fields["payload"]) if "payload" in fields else fields
    except (ValueError, RecursionError):
        return None


def _refusal(status: int, why: str) -> Response:
    return PlainTextResponse(f"{why}\n", status)
