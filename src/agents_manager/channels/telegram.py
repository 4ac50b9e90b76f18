"""Telegram: cards as messages of a bot, and what people do with them. It is asked for news (long
polling), or tells them by itself (a webhook)."""

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import structlog
from starlette.requests import Request
from starlette.responses import Response
from telegram import Update

from agents_manager import environment
from agents_manager.channels import telegram_api, telegram_replies, telegram_wire
from agents_manager.channels.telegram_api import Api
from agents_manager.channels.telegram_cards import page
from agents_manager.channels.telegram_updates import Did, Me, Order, Press, Words, read
from agents_manager.domain import strict_json
from agents_manager.domain.card import Card, Reply
from agents_manager.errors import AgentsManagerError, ChannelDown, ChannelError, InvalidConfig
from agents_manager.flow.ports.channels import ChannelRules, Desk

log = structlog.get_logger()

NAME = "telegram"
HOME = "https://api.telegram.org"
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
BETWEEN_S = 0.2
TRIES = 5
"""Of something that the desk fails at, and of telling people what came of it."""
PASSING = frozenset({429, 502, 503})
"""Of errors: what is over in a while."""
MAX_BODY, MAX_DEPTH = 1024 * 1024, 100
HEADER = "X-Telegram-Bot-Api-Secret-Token"
_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")

Pause = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Webhook:
    url: str
    """Where Telegram reaches this server, with TLS."""
    secret: str
    """Telegram sends it along."""

    def __post_init__(self) -> None:
        if not _SECRET.fullmatch(self.secret):
            raise InvalidConfig(
                "AM_TELEGRAM_WEBHOOK_SECRET must have 1 to 256 characters, of A-Z a-z 0-9 _ -"
            )


class Telegram:
    name = NAME

    def __init__(
        self,
        token: str,
        places: Callable[[], Sequence[str]],
        *,
        base_url: str = HOME,
        webhook: Webhook | None = None,
        pause: Pause = asyncio.sleep,
    ) -> None:
        self._places = places
        self._webhook = webhook
        self._pause = pause
        self._api = lambda: telegram_api.opened(token, base_url)
        self._offset: int | None = None
        self._hearing: tuple[Desk, Me] | None = None
        """Who takes what the webhook brings."""

    def places(self) -> Sequence[str]:
        return self._places()

    async def send(self, place: str, card: Card) -> str:
        async with self._api() as api:
            return await api.send(place, page(card))

    async def update(self, place: str, message: str, card: Card) -> None:
        async with self._api() as api:
            await api.edit(place, message, page(card))

    async def check(self) -> str:
        async with self._api() as api:
            return f"@{(await api.me()).username}"

    async def listen(self, desk: Desk) -> None:
        """An update counts as taken, there, once the desk took it: after a crash it is told again,
        under the same key."""
        trouble = _Trouble(self._pause)
        while True:
            try:
                async with self._api() as api:
                    me = await api.me()
                    if self._webhook is None:
                        await self._poll(api, me, desk, trouble)
                    else:
                        await self._wait_for_calls(api, me, desk, self._webhook, trouble)
            except ChannelError as error:
                await trouble.met(error)
            except Exception as error:  # noqa: BLE001 - people can still answer later
                # Not where it came from: values there hold the token.
                await trouble.met(ChannelDown(f"Reading Telegram failed: {error!r}"))

    async def webhook(self, request: Request) -> Response:
        """For a server to mount where the webhook's address leads."""
        given = request.headers.get(HEADER, "")
        if not self._webhook or not hmac.compare_digest(
            given.encode(), self._webhook.secret.encode()
        ):
            return Response(f"The header {HEADER} does not fit.", 401)
        body = await _bounded(request)
        if body is None:
            return Response(f"An update has at most {MAX_BODY} bytes.", 413)
        update = _update(body)
        if update is None:
            return Response("That is no update of Telegram.", 400)
        if self._hearing is None:
            # It is told again later.
            return Response("Nobody listens yet.", 503)
        desk, me = self._hearing
        did = read(update, me)
        if did is not None:
            try:
                reply = await _handed(desk, did)
            except Exception as error:  # noqa: BLE001 - it is told again, and may be taken then
                log.warning("telegram.not_taken", update=did.act.key, reason=repr(error))
                return Response("It could not be taken.", 503)
            async with self._api() as api:
                await self._tell(api, did, reply, tries=1)
        return Response()

    async def _poll(self, api: Api, me: Me, desk: Desk, trouble: "_Trouble") -> None:
        while True:
            updates = await api.updates(self._offset)
            trouble.over()
            if updates is None:
                log.warning("telegram.webhook_removed", why="one was set, and polling is wanted")
                await api.remove_webhook()
            for update in updates or ():
                await self._take(api, me, desk, update)
                self._offset = update.update_id + 1
            if not updates:
                # Telegram holds a question until there is news; servers in its place may not.
                await self._pause(BETWEEN_S)

    async def _wait_for_calls(
        self, api: Api, me: Me, desk: Desk, webhook: Webhook, trouble: "_Trouble"
    ) -> None:
        self._hearing = desk, me
        try:
            await api.set_webhook(webhook.url, webhook.secret)
            trouble.over()
            await asyncio.Event().wait()
        finally:
            self._hearing = None

    async def _take(self, api: Api, me: Me, desk: Desk, update: Update) -> None:
        did = read(update, me)
        if did is not None:
            reply = await self._taken(desk, did)
            await self._tell(api, did, reply, tries=TRIES)

    async def _taken(self, desk: Desk, did: Did) -> Reply | None:
        tries = 0
        while True:
            try:
                return await _handed(desk, did)
            except Exception as error:  # A hiccup of the database must not lose what they did.
                tries += 1
                if tries >= TRIES and not _passes(error):
                    log.exception("telegram.given_up", update=did.act.key)
                    return None
                log.warning("telegram.not_taken", update=did.act.key, reason=repr(error))
                await self._pause(_pause_s(tries))

    async def _tell(self, api: Api, did: Did, reply: Reply | None, *, tries: int) -> None:
        try:
            for step in telegram_replies.steps(api, did, reply) if reply else ():
                await self._insist(step, tries)
        except ChannelError as error:
            log.warning("telegram.not_told", place=did.act.place, reason=error.message)

    async def _insist(self, step: telegram_replies.Step, tries: int) -> None:
        for times in range(1, tries):
            try:
                await step()
            except ChannelDown as error:
                await self._pause(min(error.wait_s or _pause_s(times), LONGEST_PAUSE_S))
            else:
                return
        await step()


async def _handed(desk: Desk, did: Did) -> Reply | None:
    match did:
        case Press():
            return await desk.pressed(NAME, did.act, did.message, did.button)
        case Words():
            return await desk.wrote(NAME, did.act, did.to, did.words)
        case Order():
            return await desk.ordered(NAME, did.act, did.command, did.words)


def build(rules: Callable[[], ChannelRules]) -> Telegram:
    """With the token of the environment; by long polling, unless it is told where Telegram reaches
    this server."""
    token, secret = environment.telegram_token(), environment.telegram_webhook_secret()
    if token is None:
        raise InvalidConfig("Telegram is not set up: set AM_TELEGRAM_TOKEN, from @BotFather.")
    url = rules().url
    if url is not None and secret is None:
        raise InvalidConfig(
            "notifications.telegram.webhookUrl needs AM_TELEGRAM_WEBHOOK_SECRET beside it."
        )
    return Telegram(
        token,
        lambda: rules().places,
        base_url=rules().base_url or HOME,
        webhook=Webhook(url, secret) if url and secret else None,
    )


class _Trouble:
    """With the connection: told when it comes or changes, and when it is over."""

    def __init__(self, pause: Pause) -> None:
        self._pause = pause
        self._told: str | None = None
        self._times = 0

    async def met(self, error: ChannelError) -> None:
        if error.message != self._told:
            log.warning("telegram.unreachable", reason=error.message)
            self._told = error.message
        named = error.wait_s if isinstance(error, ChannelDown) else None
        await self._pause(named or _pause_s(self._times))
        self._times += 1

    def over(self) -> None:
        if self._told is not None:
            log.info("telegram.reachable")
        self._told, self._times = None, 0


def _passes(error: Exception) -> bool:
    return isinstance(error, AgentsManagerError) and error.http_status in PASSING


def _pause_s(times: int) -> float:
    return min(FIRST_PAUSE_S * 2 ** min(times, 10), LONGEST_PAUSE_S)


async def _bounded(request: Request) -> bytes | None:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            return None
    return body


def _update(body: bytes) -> Update | None:
    try:
        told = strict_json.loads(body.decode(), max_bytes=MAX_BODY, max_depth=MAX_DEPTH)
    except ValueError:
        return None
    match told:
        case {"update_id": int()}:
            return Update.de_json(telegram_wire.readable(told))
        case _:
            return None
