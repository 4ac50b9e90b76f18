"""Where Slack sends requests to, for those who do not want a socket. Each is signed, not older than
five minutes, and taken once."""

import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import cache, partial
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from agents_manager import environment
from agents_manager.channels import hooks
from agents_manager.channels.slack import NAME, Slack, build
from agents_manager.errors import Conflict, InvalidInput, NotAllowed, StoreError, Unauthenticated
from agents_manager.flow.channels import taken
from agents_manager.flow.channels.desk import FrontDesk
from agents_manager.flow.ports import Clock, Desk, Services

OLDEST_S = 300
MOST_BYTES = 1_000_000
FIELDS = 100

Seen = Callable[[str], Awaitable[bool]]
"""Whether this was seen before; from now on it was. It must outlast a restart."""


def app(s: Services) -> ASGIApp:
    """For /hooks/slack."""

    @cache
    def slack() -> Slack:
        return build(lambda: s.configs.channels(None)[NAME])

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        secret = environment.slack_signing_secret()
        if secret is None:
            raise Unauthenticated("Requests of Slack are off; set AM_SLACK_SIGNING_SECRET.")
        if not s.configs.channels(None)[NAME].enabled:
            raise NotAllowed("Slack is switched off: notifications.slack.enabled.")
        seen = partial(taken.before, s, NAME)
        await SlackDoor(slack(), FrontDesk(s), secret, seen, s.clock)(scope, receive, send)

    return serve


class SlackDoor:
    """One address for events, for buttons and for the command."""

    def __init__(self, slack: Slack, desk: Desk, secret: str, seen: Seen, clock: Clock) -> None:
        self._slack = slack
        self._desk = desk
        self._secret = secret
        self._seen = seen
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            told = await self._read(Request(scope, receive))
        except ClientDisconnect:
            return
        answered = False

        async def answer(response: Response) -> None:
            nonlocal answered
            answered = True
            await response(scope, receive, send)

        async def ack(form: Mapping[str, Any] | None) -> None:
            await answer(JSONResponse(form) if form else Response())

        match told:
            case {"type": "url_verification", "challenge": str(challenge)}:
                await answer(PlainTextResponse(challenge))
            case _:
                await self._slack.take(self._desk, told, ack)
        if not answered:
            raise StoreError("This could not be taken; send it again later.")

    async def _read(self, request: Request) -> Any:
        body = await hooks.bounded(request, MOST_BYTES)
        signature = request.headers.get("x-slack-signature", "")
        at = request.headers.get("x-slack-request-timestamp", "")
        if not signed(body, self._secret, at, signature):
            raise Unauthenticated("The signature X-Slack-Signature does not fit.")
        if abs(self._clock.now().timestamp() - int(at)) > OLDEST_S:
            raise Unauthenticated(f"The request is more than {OLDEST_S} seconds off our time.")
        if await self._seen(signature):
            raise Conflict("This request was taken before.")
        return _told(request.headers.get("content-type", ""), body)


def signed(body: bytes, secret: str, at: str, signature: str) -> bool:
    """Whether the sender knows the secret and means this time."""
    if not (at.isascii() and at.isdecimal() and len(at) <= 12):
        return False
    digest = hmac.new(secret.encode(), b"v0:%s:%s" % (at.encode(), body), hashlib.sha256)
    return hmac.compare_digest(f"v0={digest.hexdigest()}".encode(), signature.encode())


def _told(content_type: str, body: bytes) -> Any:
    """What people did comes in a field of a form, commands as the form, and events as JSON."""
    try:
        text = body.decode()
        if content_type.split(";")[0].strip().lower() == "application/json":
            return json.loads(text)
        fields = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=FIELDS))
        return json.loads(fields["payload"]) if "payload" in fields else fields
    except (ValueError, RecursionError):
        raise InvalidInput("The request cannot be read.") from None
