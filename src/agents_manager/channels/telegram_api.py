"""What is asked of Telegram, with the errors of channels."""

import re
from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from telegram import (
    Bot,
    ForceReply,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    ReplyParameters,
    Update,
)
from telegram.constants import ParseMode
from telegram.error import TelegramError

from agents_manager.channels import telegram_errors, telegram_wire
from agents_manager.channels.telegram_cards import Page
from agents_manager.channels.telegram_updates import Me
from agents_manager.domain.card import Style
from agents_manager.errors import ChannelDown, ChannelError, ChannelRefused

T = TypeVar("T")

POLL_S = 30
WANTED = ("message", "callback_query")
"""Edited messages, and everything else, are not even told."""
NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
"""Nobody's server is asked for what an agent's words link to."""
STYLES = {Style.PRIMARY: "primary", Style.DANGER: "danger", Style.PLAIN: None}
_ID = re.compile(r"-?\d{1,20}")


class Api:
    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    async def me(self) -> Me:
        found = await self._asked(self._bot.get_me())
        return Me(found.id, found.username or "")

    async def send(
        self, place: str, page: Page, markup: ForceReply | None = None, to: str | None = None
    ) -> str:
        """`to` is the message that it replies to."""
        replies = ReplyParameters(int(to), allow_sending_without_reply=True) if to else None
        try:
            sent = await self._bot.send_message(
                _chat(place),
                page.html,
                parse_mode=ParseMode.HTML,
                link_preview_options=NO_PREVIEW,
                reply_markup=markup or _keyboard(page),
                reply_parameters=replies,
            )
        except TelegramError as error:
            told = self._ours(error, place)
            if telegram_errors.may_have_arrived(error):
                raise ChannelDown(told.message, unsure=True) from None
            raise told from None
        return str(sent.message_id)

    async def edit(self, place: str, message: str, page: Page) -> None:
        """Nothing when it says so already, or is gone."""
        try:
            await self._bot.edit_message_text(
                page.html,
                _chat(place),
                int(message),
                parse_mode=ParseMode.HTML,
                link_preview_options=NO_PREVIEW,
                reply_markup=_keyboard(page),
            )
        except TelegramError as error:
            if not telegram_errors.nothing_to_change(error):
                raise self._ours(error, place) from None

    async def stop_turning(self, query: str, toast: str) -> bool:
        """The button that was pressed; False when it is too late for that."""
        try:
            return await self._bot.answer_callback_query(query, toast or None)
        except TelegramError as error:
            if telegram_errors.too_late(error):
                return False
            raise self._ours(error) from None

    async def updates(self, offset: int | None) -> Sequence[Update] | None:
        """Those from the offset on, which says that the ones before were taken. None when a webhook
        gets them."""
        try:
            return await self._bot.get_updates(offset, timeout=POLL_S, allowed_updates=WANTED)
        except TelegramError as error:
            if telegram_errors.webhook_in_the_way(error):
                return None
            raise self._ours(error) from None

    async def set_webhook(self, url: str, secret: str) -> None:
        # One at a time, so that they come in their order.
        asked = self._bot.set_webhook(
            url, max_connections=1, allowed_updates=WANTED, secret_token=secret
        )
        await self._asked(asked)

    async def remove_webhook(self) -> None:
        await self._asked(self._bot.delete_webhook())

    async def _asked(self, answer: Awaitable[T]) -> T:
        try:
            return await answer
        except TelegramError as error:
            raise self._ours(error) from None

    def _ours(self, error: TelegramError, place: str = "") -> ChannelError:
        return telegram_errors.ours(error, self._bot.token, place)


@asynccontextmanager
async def opened(token: str, base_url: str) -> AsyncGenerator[Api]:
    async with telegram_wire.opened(token, base_url) as bot:
        yield Api(bot)


def _keyboard(page: Page) -> InlineKeyboardMarkup | None:
    rows = [
        [InlineKeyboardButton(b.label, callback_data=b.id, style=STYLES[b.style]) for b in row]
        for row in page.rows
    ]
    return InlineKeyboardMarkup(rows) if rows else None


def _chat(place: str) -> int:
    """Never a name: names can change hands."""
    if not _ID.fullmatch(place):
        raise ChannelRefused(
            f'"{place}" is no chat of Telegram: chats have numbers, and {telegram_errors.FIND}.'
        )
    return int(place)
