"""A channel for programs: each card is a signed request to an address of the user's. It never
reaches this machine or a private network, unless the user says that it may."""

import asyncio
import json
import secrets
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from agents_manager import addresses, environment
from agents_manager.channels import signing
from agents_manager.domain.card import Card
from agents_manager.errors import ChannelDown, ChannelRefused, InvalidConfig
from agents_manager.flow.ports import ChannelRules, Desk

NAME = "webhook"
TIMEOUT_S = 15.0
PASSING = frozenset({408, 425, 429, *range(500, 600)})
GONE = frozenset({404, 410})
MOST_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Webhook:
    rules: Callable[[], ChannelRules]
    secret: str
    name: str = NAME

    def places(self) -> Sequence[str]:
        return self.rules().places

    async def send(self, place: str, card: Card) -> str:
        message = secrets.token_hex(8)
        await self._tell("card", message, card)
        return message

    async def update(self, place: str, message: str, card: Card) -> None:
        await self._tell("update", message, card, gone=True)

    async def check(self) -> str:
        await self._post({"kind": "ping"})
        return self.rules().url or ""

    async def listen(self, desk: Desk) -> None:
        """Answers come to `/hooks/answers` of the server."""

    async def _tell(self, kind: str, message: str, card: Card, *, gone: bool = False) -> None:
        shown = card.model_dump(mode="json")
        told = {"kind": kind, "message": message, **shown}
        if len(json.dumps(told)) > MOST_BYTES:
            told = {**told, **card.elsewhere().model_dump(mode="json")}
        await self._post(told, gone=gone)

    async def _post(self, told: dict[str, Any], *, gone: bool = False) -> None:
        rules = self.rules()
        if rules.url is None:
            raise ChannelRefused("notifications.webhook.url is not set.")
        body = json.dumps(told, ensure_ascii=False).encode()
        timestamp = str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "agents-manager",
            "X-AM-Timestamp": timestamp,
            "X-AM-Signature": signing.signature(self.secret, timestamp, body),
        }
        answer = await _post(rules.url, body, headers, private=rules.allow_private)
        _judge(answer, gone=gone)


def build(rules: Callable[[], ChannelRules]) -> Webhook:
    secret = environment.webhook_secret()
    if secret is None:
        raise InvalidConfig("The webhook is not set up: set AM_WEBHOOK_SECRET, a long random word.")
    if rules().url is None:
        raise InvalidConfig("The webhook is not set up: set notifications.webhook.url.")
    return Webhook(rules, secret)


async def _post(url: str, body: bytes, headers: dict[str, str], *, private: bool) -> httpx.Response:
    """To the address that was looked at, and to no other: a name may lead elsewhere the next time
    that it is asked for. What comes back but the status is not read."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    address = await _address(host, port, private=private)
    numeric = f"[{address}]" if ":" in address else address
    there = parts._replace(netloc=f"{numeric}:{port}").geturl()
    named = {**headers, "Host": parts.netloc}
    try:
        async with (
            httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_S, follow_redirects=False) as client,
            client.stream(
                "POST", there, content=body, headers=named, extensions={"sni_hostname": host}
            ) as answer,
        ):
            return answer
    except httpx.HTTPError as error:
        raise ChannelDown(f"{host} does not answer: {error or type(error).__name__}.") from None


async def _address(host: str, port: int, *, private: bool) -> str:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError:
        raise ChannelRefused(f'"{host}" is no name of a host.') from None
    except OSError as error:
        raise ChannelDown(f"{host} has no address: {error.strerror}.") from None
    known = [str(entry[4][0]) for entry in found]
    if not private and not all(addresses.is_global(one) for one in known):
        raise ChannelRefused(
            f"{host} is not of the open network; where that is meant, set"
            " notifications.webhook.allowPrivate in your own file."
        )
    return known[0]


def _judge(answer: httpx.Response, *, gone: bool) -> None:
    status = answer.status_code
    if answer.is_success or (gone and status in GONE):
        return
    if status in PASSING:
        raise ChannelDown(f"The webhook answered {status}.", _wait_s(answer))
    what = "sends us elsewhere, which is not followed" if answer.is_redirect else "refused"
    raise ChannelRefused(f"The webhook {what}: it answered {status}.")


def _wait_s(answer: httpx.Response) -> float | None:
    said = answer.headers.get("retry-after", "")
    return float(said) if said.isascii() and said.isdigit() and len(said) < 7 else None
