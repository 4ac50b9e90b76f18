"""Notices in browsers, also while none of our pages is open. A notice points to the task, where all
is shown and answered."""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from agents_manager.channels import push_message
from agents_manager.channels.push_message import Browser
from agents_manager.domain.card import Card
from agents_manager.errors import ChannelDown, ChannelError, ChannelRefused, InvalidInput
from agents_manager.flow.ports import Clock, Subscription
from agents_manager.flow.ports.channels import Desk

NAME = "push"
EVERYWHERE = "browsers"
"""The one place: every browser that wants notices."""
SERVICES = (
    *("fcm.googleapis.com", ".push.services.mozilla.com", ".push.apple.com"),
    ".notify.windows.com",
)
"""Those of the browsers; a leading dot stands for any name before it. Nothing is sent elsewhere, as
anybody who is let in could name an address of the inner network."""
TIMEOUT_S = 20.0
KEPT_S = 24 * 3600
"""For how long a push service keeps what a browser cannot take now."""
GONE = frozenset({404, 410})
MOST_BYTES = push_message.ROOM - 200
"""Of the words; the rest is for the name of the notice."""


class Push:
    def __init__(
        self,
        home: Path,
        clock: Clock,
        browsers: Callable[[], Awaitable[Mapping[str, Subscription]]],
        forget: Callable[[str], Awaitable[None]],
        contact: Callable[[], str],
        *,
        services: Sequence[str] = SERVICES,
        scheme: str = "https",
    ) -> None:
        """`browsers` by the digest of the session they have."""
        self._file = home / "push.pem"
        self._clock = clock
        self._browsers = browsers
        self._forget = forget
        self._contact = contact
        self._services = services
        self._scheme = scheme

    @property
    def name(self) -> str:
        return NAME

    def places(self) -> Sequence[str]:
        return (EVERYWHERE,)

    def key(self) -> str:
        """What a browser asks its push service with."""
        return push_message.encode(push_message.point_of(self._own().public_key()))

    def checked(self, endpoint: str, point: str, secret: str) -> Subscription:
        """What a browser says of itself, if notices can be sent there."""
        parts = urlsplit(endpoint)
        host = parts.netloc.lower()
        known = any(host.endswith(s) if s.startswith(".") else host == s for s in self._services)
        if parts.scheme != self._scheme or not known:
            raise InvalidInput(f'"{endpoint[:200]}" is not the address of a push service we know.')
        subscription = Subscription(endpoint=endpoint, point=point, secret=secret)
        try:
            browser = _browser(subscription)
            ec.EllipticCurvePublicKey.from_encoded_point(push_message.CURVE, browser.point)
        except ValueError:
            raise InvalidInput('"p256dh" is not a key of a browser.') from None
        if len(browser.secret) != 16:
            raise InvalidInput('"auth" is not a secret of 16 bytes.')
        return subscription

    async def send(self, place: str, card: Card) -> str:
        message = secrets.token_urlsafe(12)
        await self._tell({**_notice(card), "tag": message})
        return message

    async def update(self, place: str, message: str, card: Card) -> None:
        """Only in the place of a notice that is still there."""
        await self._tell({**_notice(card), "tag": message, "instead": True})

    async def check(self) -> str:
        count = len(await self._browsers())
        if count == 0:
            raise ChannelRefused(
                "No browser wants notices; turn them on in the web app, under Settings, Appearance."
            )
        return "1 browser" if count == 1 else f"{count} browsers"

    async def listen(self, desk: Desk) -> None:
        """A notice is answered on its page."""
        await asyncio.Event().wait()

    async def _tell(self, notice: Mapping[str, object]) -> None:
        """Down only when no browser could be told: one that is slow does not have the others told
        twice."""
        words = json.dumps(notice, ensure_ascii=False).encode()
        subscriptions = await self._browsers()
        async with (
            httpx.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False) as client,
            asyncio.TaskGroup() as group,
        ):
            tries = [self._tried(client, *one, words) for one in subscriptions.items()]
            asked = [group.create_task(one) for one in tries]
        failed = [error for one in asked if (error := one.result()) is not None]
        if failed and len(failed) == len(asked):
            raise failed[0]

    async def _tried(
        self, client: httpx.AsyncClient, digest: str, to: Subscription, words: bytes
    ) -> ChannelError | None:
        try:
            await self._post(client, digest, to, words)
        except ChannelError as error:
            return error
        return None

    async def _post(
        self, client: httpx.AsyncClient, digest: str, to: Subscription, words: bytes
    ) -> None:
        host = urlsplit(to.endpoint).netloc
        proof = push_message.proof(self._own(), to.endpoint, self._contact(), self._clock.now())
        headers = {
            "Authorization": proof,
            "Content-Encoding": "aes128gcm",
            "TTL": str(KEPT_S),
            "Urgency": "high",
        }
        body = push_message.sealed(words, _browser(to))
        try:
            answer = await client.post(to.endpoint, content=body, headers=headers)
        except httpx.HTTPError as error:
            raise ChannelDown(f"{host} does not answer ({type(error).__name__}).") from None
        if answer.status_code in GONE:
            await self._forget(digest)
        elif answer.status_code == 429 or answer.status_code >= 500:
            wait = answer.headers.get("retry-after", "")
            said = f"{host} answered {answer.status_code}."
            raise ChannelDown(said, float(wait) if wait.isdecimal() else None)
        elif not answer.is_success:
            raise ChannelRefused(f"{host} answered {answer.status_code}: {answer.text[:200]}")

    def _own(self) -> ec.EllipticCurvePrivateKey:
        """Made once: browsers are bound to it."""
        with suppress(FileNotFoundError):
            key = load_pem_private_key(self._file.read_bytes(), None)
            assert isinstance(key, ec.EllipticCurvePrivateKey)
            return key
        pem = ec.generate_private_key(push_message.CURVE).private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
        )
        draft = self._file.with_suffix(f".{secrets.token_hex(4)}")
        draft.touch(mode=0o600, exist_ok=False)
        draft.write_bytes(pem)
        with suppress(FileExistsError):  # Another process was faster: its key is ours.
            self._file.hardlink_to(draft)
        draft.unlink()
        return self._own()


def _browser(of: Subscription) -> Browser:
    point, secret = push_message.decode(of.point), push_message.decode(of.secret)
    return Browser(endpoint=of.endpoint, point=point, secret=secret)


def _notice(card: Card) -> dict[str, object]:
    notice = _words(card)
    fits = len(json.dumps(notice, ensure_ascii=False).encode()) <= MOST_BYTES
    return notice if fits else _words(card.elsewhere())


def _words(card: Card) -> dict[str, object]:
    title = f"{card.title} (repeat)" if card.repeat else card.title
    return {"title": title, "body": "\n".join(card.body), "url": card.link}
