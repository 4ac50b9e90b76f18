"""Where platforms and programs send what people did: each address has a lock of its own, as whoever
comes there has no token of ours."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import Field, ValidationError, model_validator
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from agents_manager import environment
from agents_manager.channels import signing, webhook
from agents_manager.domain import strict_json
from agents_manager.domain.card import Reply
from agents_manager.domain.pipeline import faults
from agents_manager.domain.value import Value
from agents_manager.errors import (
    Conflict,
    InvalidInput,
    NotAllowed,
    NotFound,
    TooLarge,
    Unauthenticated,
)
from agents_manager.flow.channels import taken
from agents_manager.flow.channels.desk import FrontDesk
from agents_manager.flow.ports import Act, Services

FOLDER = "/hooks"
ANSWERS = f"{FOLDER}/answers"
MOST_BYTES = 64 * 1024


class Answer(Value):
    """What somebody did, told by a program that they did it in."""

    person: str = Field(min_length=1, max_length=100)
    """Their id, one of `notifications.webhook.people`."""
    message: str | None = Field(default=None, max_length=100)
    button: str | None = Field(default=None, max_length=64)
    """The id of one of the message's buttons."""
    words: str | None = Field(default=None, max_length=20_000)
    """Those that the button asks for, or that answer the message without one."""
    command: str | None = Field(default=None, max_length=40)

    @model_validator(mode="after")
    def _something(self) -> "Answer":
        if self.command is None and self.button is None and not (self.message and self.words):
            raise ValueError("say a button, a command, or a message and words")
        return self


def app(s: Services, pace: Callable[[str], None], others: Mapping[str, ASGIApp]) -> ASGIApp:
    """`others` are the doors of platforms, by the last part of their addresses."""
    doors: dict[str, ASGIApp] = {f"{FOLDER}/{name}": door for name, door in others.items()}
    doors[ANSWERS] = _answers(s)

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        door = doors.get(scope["path"])
        if door is None or scope["method"] != "POST":
            raise NotFound(f"There is no {scope['path'][:100]} to send to; see {ANSWERS}.")
        pace(scope["path"])
        await door(scope, receive, send)

    return serve


def _answers(s: Services) -> ASGIApp:
    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            reply = await _take(s, Request(scope, receive))
        except ClientDisconnect:
            return
        shown = reply.model_dump(mode="json")
        await JSONResponse(shown)(scope, receive, send)

    return serve


async def _take(s: Services, request: Request) -> Reply:
    secret = environment.webhook_secret()
    if secret is None:
        raise Unauthenticated("Answers by webhook are off; set AM_WEBHOOK_SECRET.")
    body = await bounded(request, MOST_BYTES)
    given = request.headers.get("x-am-signature", "")
    timestamp = request.headers.get("x-am-timestamp", "")
    signing.check(secret, timestamp, body, given, s.clock.now())
    answer = _read(body)
    if await taken.before(s, webhook.NAME, given):
        raise Conflict("This request was taken before.")
    rules = s.configs.channels(None)[webhook.NAME]
    if not rules.enabled:
        raise NotAllowed("The webhook is switched off: notifications.webhook.enabled.")
    reply = await _hand_over(FrontDesk(s), answer, key=given)
    if reply is None:
        raise NotAllowed(
            f'Nobody is known as "{answer.person}" here: am channel allow webhook ID NAME.'
        )
    return reply


async def _hand_over(desk: FrontDesk, answer: Answer, key: str) -> Reply | None:
    act = Act(key=key, person=answer.person, called=answer.person, place=webhook.NAME)
    if answer.command is not None:
        return await desk.ordered(webhook.NAME, act, answer.command, answer.words or "")
    if answer.button is not None:
        told = (answer.message or "", answer.button, answer.words)
        return await desk.pressed(webhook.NAME, act, *told)
    return await desk.wrote(webhook.NAME, act, answer.message, answer.words or "")


def _read(body: bytes) -> Answer:
    try:
        said: Any = strict_json.loads(body.decode(), max_bytes=MOST_BYTES, max_depth=8)
        return Answer.model_validate(said)
    except ValidationError as error:
        raise InvalidInput("The answer does not have the right shape.", faults(error)) from None
    except ValueError as error:
        raise InvalidInput(f"The answer is not JSON: {error}.") from None


async def bounded(request: Request, most: int) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise TooLarge(f"More than {most} bytes are not taken here.")
    return bytes(body)
