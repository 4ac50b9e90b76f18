"""Slack: cards as messages with buttons, words by forms and threads, and a slash command. What
people do comes by a socket (`slack_socket.py`), or by signed requests (`slack_door.py`)."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import structlog

from agents_manager import environment
from agents_manager.channels import slack_acts, slack_blocks, slack_socket
from agents_manager.channels.slack_acts import Done, Ordered, Pressed, Who, Wrote
from agents_manager.channels.slack_blocks import Message, Pending
from agents_manager.channels.slack_socket import Ack
from agents_manager.channels.slack_web import (
    APP_TOKEN,
    BEGINS,
    BOT_TOKEN,
    Refusal,
    asked,
    client,
    field,
    respond,
)
from agents_manager.domain.card import Card, Reply
from agents_manager.domain.names import visible
from agents_manager.errors import AgentsManagerError, ChannelDown, ChannelRefused, InvalidConfig
from agents_manager.flow.ports import Act, ChannelRules, Desk

log = structlog.get_logger()

NAME = "slack"
BASE_URL = "https://slack.com/api/"
HOOKS = (".slack.com", ".slack-gov.com")
ACK_S = 2.0
"""Slack waits three seconds for a sign that something arrived."""
PEOPLE = ("U", "W")
"""How ids of people begin."""
TOO_LONG = frozenset({"msg_blocks_too_long", "msg_too_long"})
POST = "chat.postMessage"
GONE = "message_not_found"
LATE = frozenset({"expired_trigger_id", "trigger_expired"})
UNFURLED = {"unfurl_links": False, "unfurl_media": False}
"""Nobody fetches what an agent names."""
AGAIN = "That took too long for Slack; please press the button again."

Form = Mapping[str, Any]
"""What stands in a form after it was sent."""


@dataclass(frozen=True, slots=True)
class Self:
    user: str
    name: str
    team: str
    homes: frozenset[str]
    """The ids of the workspace and of the organization that it is part of."""


class Slack:
    name = NAME

    def __init__(
        self,
        bot_token: str,
        places: Callable[[], Sequence[str]],
        *,
        app_token: str | None = None,
        base_url: str = BASE_URL,
    ) -> None:
        """`places` are the ids of people (U…) or of channels (C…). Without the app's token nothing
        is heard but what comes by signed requests."""
        self._web = client(bot_token, base_url)
        self._app_token = app_token
        self._base_url = base_url
        self._places = places
        self._conversations: dict[str, str] = {}
        """With people, by their ids."""
        self._self: Self | None = None

    def places(self) -> Sequence[str]:
        return self._places()

    async def send(self, place: str, card: Card) -> str:
        post = {"channel": await self._channel(place), **UNFURLED}
        answer = await self._show(POST, post, card)
        return field(answer, "ts")

    async def update(self, place: str, message: str, card: Card) -> None:
        await self._change(await self._channel(place), message, card)

    async def check(self) -> str:
        self._self = None
        me = await self._me()
        if self._app_token is not None:
            await slack_socket.ticket(self._app_token, self._base_url)
        return f"{me.name} in the workspace {me.team}"

    async def listen(self, desk: Desk) -> None:
        if self._app_token is None:
            await asyncio.Event().wait()
        else:
            async with asyncio.TaskGroup() as acts:

                def take(told: Any, ack: Ack) -> None:
                    acts.create_task(self.take(desk, told, ack))

                refusal = await slack_socket.heard(self._app_token, self._base_url, take)
            raise refusal

    async def take(self, desk: Desk, told: Any, ack: Ack) -> None:
        """Hands over what Slack tells, and shows what came of it. Slack hears that it arrived once
        that is done, or when it would not wait longer; not where the desk failed, so that Slack
        says so to the person, or tells us again."""
        done = slack_acts.read(told)
        if done is None:
            await ack(None)
            return
        async with asyncio.TaskGroup() as group:
            work = group.create_task(self._worked(desk, done))
            await asyncio.wait({work}, timeout=ACK_S)
            late = not work.done()
            if late:
                await ack(None)
        arrived, form = work.result()
        if arrived and not late:
            await ack(form)
        elif form:
            log.warning("slack.act_failed", why="Slack did not wait for the form.")

    async def _worked(self, desk: Desk, done: Done) -> tuple[bool, Form | None]:
        arrived = False
        try:
            reply = await self._handed(desk, done)
            arrived = True
            return arrived, await self._answered(done, reply) if reply else None
        except AgentsManagerError as error:
            log.warning("slack.act_failed", why=error.message)
        except Exception:
            # What one person did keeps nobody else from being heard.
            log.warning("slack.act_failed", exc_info=True)
        return arrived, None

    async def _handed(self, desk: Desk, done: Done) -> Reply | None:
        me, who = await self._me(), done.who
        if who.team not in me.homes:
            return None
        act = Act(key=who.key, person=who.person, called=who.called, place=self._place(who))
        match done:
            case Pressed():
                return await desk.pressed(self.name, act, done.message, done.button, done.words)
            case Ordered():
                return await desk.ordered(self.name, act, done.command, done.words)
            case Wrote():
                to = done.thread if done.under in (None, me.user) else None
                if to is None and not _direct(who):
                    return None
                return await desk.wrote(self.name, act, to, done.words)

    async def _answered(self, done: Done, reply: Reply) -> Form | None:
        told = [slack_blocks.says(words) for words in (reply.ask, reply.says) if words]
        match done:
            case Pressed():
                try:
                    if reply.card:
                        await self._replace(done, reply.card)
                finally:
                    if reply.says:
                        await self._say(done, reply.says)
                return await self._ask(done, reply.ask) if reply.ask else None
            case Wrote():
                thread = {"thread_ts": done.thread} if done.thread else {}
                for message in told:
                    await self._whisper(done.who, message, thread)
                if reply.card:
                    post = {"channel": done.who.channel, **thread, **UNFURLED}
                    await self._show(POST, post, reply.card)
            case Ordered():
                shown = [slack_blocks.message(reply.card)] if reply.card else []
                for message in (*told, *shown):
                    await self._respond(done.hook, message)
        return None

    async def _replace(self, done: Pressed, card: Card) -> None:
        if done.hook:
            await self._respond(done.hook, slack_blocks.message(card), replace_original=True)
        else:
            await self._change(done.who.channel, done.message, card)

    async def _say(self, done: Pressed, words: str) -> None:
        if done.hook:
            await self._respond(done.hook, slack_blocks.says(words))
        else:
            await self._whisper(done.who, slack_blocks.says(words))

    async def _ask(self, done: Pressed, words: str) -> Form | None:
        pending = Pending(
            channel=done.who.channel, message=done.message, button=done.button, hook=done.hook
        )
        form = slack_blocks.form(words, pending)
        if done.words is not None:
            return {"response_action": "update", "view": form}
        try:
            await self._call("views.open", {"trigger_id": done.trigger, "view": form})
        except Refusal as refusal:
            if refusal.code not in LATE:
                raise
            await self._say(done, AGAIN)
        return None

    async def _whisper(self, who: Who, message: Message, more: Mapping[str, Any] = {}) -> None:
        to = {"channel": who.channel, "user": who.person, **more}
        await self._call("chat.postEphemeral", {**to, **message.fields()})

    async def _respond(
        self, hook: str, message: Message, *, replace_original: bool = False
    ) -> None:
        if not self._ours(hook):
            raise ChannelRefused(
                f'Slack names "{visible(hook, 100)}" to answer at; it is not asked.'
            )
        way = {"response_type": "ephemeral", "replace_original": replace_original}
        await respond(hook, {**way, **message.fields()})

    def _ours(self, hook: str) -> bool:
        at, base = urlsplit(hook), urlsplit(self._base_url)
        known = at.scheme == "https" and (at.hostname or "").endswith(HOOKS)
        return known or (at.scheme, at.netloc) == (base.scheme, base.netloc)

    async def _show(self, method: str, fields: Mapping[str, Any], card: Card) -> Mapping[str, Any]:
        try:
            return await self._call(method, {**fields, **slack_blocks.message(card).fields()})
        except Refusal as refusal:
            if refusal.code not in TOO_LONG:
                raise
            return await self._call(method, {**fields, **slack_blocks.elsewhere(card).fields()})

    async def _change(self, channel: str, message: str, card: Card) -> None:
        try:
            await self._show("chat.update", {"channel": channel, "ts": message}, card)
        except Refusal as refusal:
            if refusal.code != GONE:
                raise

    async def _channel(self, place: str) -> str:
        """Where messages to a place go: to a person, the conversation with them."""
        if place.startswith(PEOPLE) and place not in self._conversations:
            opened = await self._call("conversations.open", {"users": place})
            self._conversations[place] = field(opened, "channel", "id")
        return self._conversations.get(place, place)

    def _place(self, who: Who) -> str:
        """The other way round."""
        named = who.channel in self.places()
        return who.person if _direct(who) and not named else who.channel

    async def _me(self) -> Self:
        if self._self is None:
            told = await self._call("auth.test", {})
            team = field(told, "team_id")
            homes = frozenset({team, str(told.get("enterprise_id") or team)})
            user, name = field(told, "user_id"), field(told, "user")
            self._self = Self(user, name, field(told, "team"), homes)
        return self._self

    async def _call(self, method: str, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return await asked(self._web, method, fields)
        except ChannelDown as error:
            error.unsure &= method == POST
            raise


def build(rules: Callable[[], ChannelRules]) -> Slack:
    """With the tokens of the environment."""
    bot_token, app_token = environment.slack_bot_token(), environment.slack_app_token()
    for name, token in ((BOT_TOKEN, bot_token), (APP_TOKEN, app_token)):
        if token is not None and not token.startswith(BEGINS[name]):
            raise InvalidConfig(f"{name} is another token: it begins with {BEGINS[name]}.")
    if bot_token is None:
        raise InvalidConfig(f"Slack is not set up: set {BOT_TOKEN}, which begins with xoxb-.")
    if app_token is None and environment.slack_signing_secret() is None:
        raise InvalidConfig(
            f"Slack is not set up: set {APP_TOKEN}, which begins with xapp-, or"
            " AM_SLACK_SIGNING_SECRET where Slack sends requests to this server."
        )
    base_url = rules().base_url or BASE_URL
    return Slack(bot_token, lambda: rules().places, app_token=app_token, base_url=base_url)


def _direct(who: Who) -> bool:
    return who.channel.startswith(slack_acts.DIRECT)
