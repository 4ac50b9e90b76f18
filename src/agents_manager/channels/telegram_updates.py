"""What an update of Telegram says that somebody did. Only ids count, as names can change hands;
nothing is taken that somebody did not write or press themselves, here and now."""

import re
from dataclasses import dataclass

from telegram import CallbackQuery, Chat, Message, Update, User

from agents_manager.domain.names import visible
from agents_manager.flow.ports.channels import Act

COMMANDS = ("inbox", "tasks", "task", "run", "stop", "why", "cost", "help")
_COMMAND = re.compile(r"/([a-z0-9_]{1,32})(?:@([a-z0-9_]+))?(?:\s+(.*))?", re.I | re.S)
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Me:
    id: int
    username: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    act: Act
    alone: bool
    """Nobody else reads along."""
    message: str
    button: str
    query: str
    """What is to be answered, so that the button stops turning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    act: Act
    alone: bool
    message: str
    to: str | None
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    act: Act
    alone: bool
    message: str
    command: str
    words: str


Did = Press | Words | Order


def read(update: Update, me: Me) -> Did | None:
    """None for what is nobody's business here."""
    key = str(update.update_id)
    if update.callback_query is not None:
        return _press(key, update.callback_query)
    if update.message is not None:
        return _written(key, update.message, me)
    return None


def _press(key: str, query: CallbackQuery) -> Press | None:
    if query.message is None or query.data is None or query.from_user.is_bot:
        return None
    chat = query.message.chat
    return Press(
        act=_act(key, query.from_user, chat),
        message=str(query.message.message_id),
        button=query.data,
        query=query.id,
        alone=chat.type == Chat.PRIVATE,
    )


def _written(key: str, message: Message, me: Me) -> Words | Order | None:
    author, text = message.from_user, message.text
    if author is None or author.is_bot or text is None:
        return None
    if message.forward_origin is not None or message.via_bot is not None:
        return None
    act, own = _act(key, author, message.chat), str(message.message_id)
    answered, alone = message.reply_to_message, message.chat.type == Chat.PRIVATE
    command = _COMMAND.fullmatch(text.strip())
    # An answer may begin with a path.
    if command and (answered is None or command[1].lower() in COMMANDS):
        if command[2] and command[2].lower() != me.username.lower():
            return None
        name, words = command[1].lower(), (command[3] or "").strip()
        return Order(act=act, alone=alone, message=own, command=name, words=words)
    # In a group, people also talk with one another.
    if not alone and not _is_by(answered, me):
        return None
    to = str(answered.message_id) if answered else None
    return Words(act=act, alone=alone, message=own, to=to, words=text)


def _is_by(message: Message | None, me: Me) -> bool:
    return message is not None and message.from_user is not None and message.from_user.id == me.id


def _act(key: str, author: User, chat: Chat) -> Act:
    called = visible(author.full_name, LONGEST_NAME)
    return Act(key=key, person=str(author.id), called=called, place=str(chat.id))
