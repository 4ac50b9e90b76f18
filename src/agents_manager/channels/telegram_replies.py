"""What people in Telegram are told when they pressed or wrote something."""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from html import escape

from telegram import ForceReply

from agents_manager.channels.telegram_api import Api
from agents_manager.channels.telegram_cards import LONGEST_TOAST, Page, length, page, pieces
from agents_manager.channels.telegram_updates import Did, Press
from agents_manager.domain.card import Reply

Step = Callable[[], Awaitable[object]]


def steps(api: Api, did: Did, reply: Reply) -> Iterator[Step]:
    """Each may be tried again without the others."""
    says, card = reply.says, reply.card
    if isinstance(did, Press):
        toast = says if length(says) <= LONGEST_TOAST else ""
        yield partial(_stop_turning, api, did, toast)
        says = "" if toast else says
    for piece in pieces(says):
        yield partial(_say, api, did, piece)
    if card is not None and isinstance(did, Press):
        yield partial(api.edit, did.act.place, did.message, page(card))
    elif card is not None:
        yield partial(api.send, did.act.place, page(card))
    if reply.ask is not None:
        [*before, last] = pieces(reply.ask)
        yield from (partial(_say, api, did, piece) for piece in before)
        yield partial(_say, api, did, last, ForceReply(selective=True))


async def _stop_turning(api: Api, press: Press, toast: str) -> None:
    in_time = await api.stop_turning(press.query, toast)
    if toast and not in_time:
        await _say(api, press, toast)


async def _say(api: Api, did: Did, words: str, markup: ForceReply | None = None) -> None:
    """In a group it has to be said whom it is for: by answering what they wrote, or by name."""
    html = escape(words, quote=False)
    if isinstance(did, Press) and not did.alone:
        html = f'<a href="tg://user?id={did.act.person}">{escape(did.act.called)}</a>: {html}'
    to = None if did.alone else did.message
    await api.send(did.act.place, Page(html), markup, to)
