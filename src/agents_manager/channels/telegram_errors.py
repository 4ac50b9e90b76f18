"""What Telegram refuses, in our words and with the way out."""

import httpx
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    TelegramError,
    TimedOut,
)

from agents_manager.channels.telegram_wire import Flooded
from agents_manager.domain.names import visible
from agents_manager.errors import ChannelDown, ChannelError, ChannelRefused
from agents_manager.redaction import Redactor

SAID = 200
"""Characters of its words that are shown."""
START = "they open the chat with the bot and press Start"
FIND = "`am channel show telegram` lists who wrote to the bot"
GONE = (
    *("message is not modified", "message to edit not found", "message can't be edited"),
    "message_id_invalid",
)


def may_have_arrived(error: TelegramError) -> bool:
    why = error.__cause__
    never = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
    return isinstance(why, httpx.TransportError) and not isinstance(why, never)


def nothing_to_change(error: TelegramError) -> bool:
    """It says so already, or is gone."""
    return isinstance(error, BadRequest) and any(one in error.message.lower() for one in GONE)


def too_late(error: TelegramError) -> bool:
    """Nobody waits for the answer to a press any more."""
    return isinstance(error, BadRequest) and "query is too old" in error.message.lower()


def webhook_in_the_way(error: TelegramError) -> bool:
    return isinstance(error, Conflict) and "webhook is active" in error.message.lower()


def ours(error: TelegramError, token: str, place: str) -> ChannelError:
    said = _said(error, token)
    match error:
        case Flooded():
            return ChannelDown(f"Telegram {error.message}.", error.wait_s)
        case InvalidToken():
            # Not refused: once the token is right, everything is still sent.
            return ChannelDown(
                "Telegram does not know the token of AM_TELEGRAM_TOKEN. @BotFather shows it "
                "(/mybots, the bot, API Token); set it and start the server again."
            )
        case Conflict():
            return ChannelDown(
                "Another program reads the messages of this Telegram bot, and only one can: end "
                f"it, or give each a bot of its own. Telegram says: {said}."
            )
        case ChatMigrated():
            return ChannelRefused(
                f"The Telegram group {place} has become the supergroup {error.new_chat_id}; put "
                "that id into notifications.telegram.places."
            )
        case Forbidden():
            return ChannelRefused(
                f"Telegram does not let the bot write to {place}: {said}. A person's chat opens "
                f"when {START}; a group's when the bot is invited again."
            )
        case BadRequest() if "chat not found" in said.lower():
            return ChannelRefused(
                f"Telegram knows no chat {place} of this bot. A person's chat opens when {START}; "
                f"if the id is wrong, {FIND}."
            )
        case BadRequest():
            return ChannelRefused(f"Telegram does not take it: {said}.")
        case TimedOut():
            return ChannelDown("Telegram does not answer in time.")
        case _:
            return ChannelDown(f"Telegram cannot be used now: {said}.")


def _said(error: TelegramError, token: str) -> str:
    """Never with the token, which is part of addresses."""
    secrets = [part for part in (token, token.partition(":")[2]) if part]
    return visible(Redactor(secrets).text(error.message), SAID).rstrip(".")
