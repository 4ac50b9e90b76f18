"""The library's client of Telegram's Bot API. What it logs and says may hold the token, which is
part of every address; and what it cannot read must not stop it."""

import json
import logging
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, cast

import httpx
import structlog
from telegram import Bot, Update
from telegram.error import NetworkError, TelegramError
from telegram.request import HTTPXRequest

from agents_manager.domain import strict_json

log = structlog.get_logger()

TIMEOUT_S = 20.0
TOO_MANY = 429


class Flooded(TelegramError):
    """It wants to be left alone. The library's own error says for how long by a deprecated way."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"wants to be left alone for {wait_s:g} seconds")
        self.wait_s = wait_s


class Wire(HTTPXRequest):
    def __init__(self) -> None:
        super().__init__(
            read_timeout=TIMEOUT_S,
            write_timeout=TIMEOUT_S,
            connect_timeout=TIMEOUT_S,
            httpx_kwargs={"verify": _trusted()},
        )

    async def do_request(self, *args: Any, **kwargs: Any) -> tuple[int, bytes]:
        status, payload = await super().do_request(*args, **kwargs)
        if status == TOO_MANY:
            match self.parse_json_payload(payload):
                case {"parameters": {"retry_after": int(wait) | float(wait)}}:
                    raise Flooded(float(wait))
                case _:
                    raise NetworkError("too many requests")
        return status, payload

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """Without a word of it in the log."""
        try:
            told = json.loads(payload)
        except ValueError:
            raise NetworkError("what it answers is no JSON") from None
        match told:
            case {"ok": True, "result": {"message_id": int(message), "chat": {"id": int(chat)}}}:
                # Whatever else is in it must not make it look as if it had not been sent.
                kept = {"message_id": message, "date": 0, "chat": {"id": chat, "type": "private"}}
                return {"ok": True, "result": kept}
            case {"ok": True, "result": _} | {"ok": False}:
                return cast("dict[str, Any]", told)
            case _:
                raise NetworkError("it does not answer as the Bot API does")


class UpdatesWire(Wire):
    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        told = Wire.parse_json_payload(payload)
        if isinstance(told.get("result"), list):
            told["result"] = [readable(one) for one in told["result"]]
        return told


def readable(update: dict[str, Any]) -> dict[str, Any]:
    """The update, or its number alone: the library reads either all of them or none, and one that
    cannot be read must not hold up the others for ever."""
    try:
        strict_json.check_text(update)
        Update.de_json(update)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        log.warning("telegram.unreadable", update=update["update_id"], reason=repr(error))
        return {"update_id": update["update_id"]}
    return update


@asynccontextmanager
async def opened(token: str, base_url: str) -> AsyncGenerator[Bot]:
    for chatty in ("httpx", "httpcore"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    logging.getLogger("telegram").setLevel(logging.CRITICAL)
    wires = Wire(), UpdatesWire()
    try:
        base = f"{base_url.rstrip('/')}/bot"
        yield Bot(token, base, request=wires[0], get_updates_request=wires[1])
    finally:
        for wire in wires:
            await wire.shutdown()


@cache
def _trusted() -> ssl.SSLContext:
    """Read once: that takes longer than everything else about a client."""
    return httpx.create_ssl_context()
