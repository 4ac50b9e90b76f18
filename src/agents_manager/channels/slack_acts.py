"""What Slack tells of what people do, whether by a socket or by a signed request. Bots, edits and
whatever else is not meant for us are None."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents_manager.channels import slack_blocks

DIRECT = "D"
"""How the id of a conversation with one person begins."""
SAID = (None, "thread_broadcast", "file_share")
_MARKED = re.compile(r"<([^<>|]*)(?:\|([^<>]*))?>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    key: str
    """The same whenever Slack tells of it: of a press its time, who and what; of a form its id; of
    a message the id of its event; of a command its trigger."""
    person: str
    called: str
    team: str
    """The workspace that they belong to: ids of people are known only within it."""
    channel: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    who: Who
    message: str
    button: str
    trigger: str
    """With which a form can be opened, for three seconds."""
    words: str | None = None
    hook: str | None = None
    """Where a message is changed that only this person sees; of others None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrote:
    who: Who
    words: str
    thread: str | None
    under: str | None
    """Who wrote the message that the thread began with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered:
    who: Who
    command: str
    words: str
    hook: str
    """Where it is answered."""


Done = Pressed | Wrote | Ordered


def read(told: Any) -> Done | None:
    match told:
        case {"type": "block_actions"}:
            return _pressed(told)
        case {"type": "view_submission"}:
            return _given(told)
        case {"type": "event_callback", "event": {"type": "message"}}:
            return _wrote(told)
        case {"command": str()}:
            return _ordered(told)
        case _:
            return None


def _pressed(told: Mapping[str, Any]) -> Pressed | None:
    """A button that only opens an address has no value."""
    match told:
        case {
            "user": {"id": str(person), "team_id": str(team)} as user,
            "container": {"message_ts": str(message), "channel_id": str(channel)} as shown,
            "actions": [{"value": str(button), "action_ts": str(at)}, *_],
            "trigger_id": str(trigger),
        }:
            key = f"press {at} {person} {button}"
            who = Who(key=key, person=person, called=_name(user), team=team, channel=channel)
            hook = _text(told, "response_url") if shown.get("is_ephemeral") else None
            return Pressed(who=who, message=message, button=button, trigger=trigger, hook=hook)
        case _:
            return None


def _given(told: Mapping[str, Any]) -> Pressed | None:
    match told:
        case {
            "user": {"id": str(person), "team_id": str(team)} as user,
            "trigger_id": str(trigger),
            "view": {
                "id": str(view),
                "callback_id": slack_blocks.ASKED,
                "private_metadata": str(kept),
                "state": {
                    "values": {slack_blocks.WORDS: {slack_blocks.WORDS: {"value": str(words)}}}
                },
            },
        }:
            key = f"form {view}"
        case _:
            return None
    match _json(kept):
        case {"channel": str(channel), "message": str(message), "button": str(button)} as pending:
            who = Who(key=key, person=person, called=_name(user), team=team, channel=channel)
            return Pressed(
                who=who,
                message=message,
                button=button,
                trigger=trigger,
                words=words,
                hook=_text(pending, "hook"),
            )
        case _:
            return None


def _wrote(told: Mapping[str, Any]) -> Wrote | None:
    match told:
        case {
            "event_id": str(event_id),
            "team_id": str(team),
            "event": {"user": str(person), "channel": str(channel), "text": str(text)} as event,
        } if event.get("subtype") in SAID and not event.get("bot_id"):
            own = _text(event, "user_team") or _text(event, "team") or team
            who = Who(key=event_id, person=person, called="", team=own, channel=channel)
        case _:
            return None
    thread = _text(event, "thread_ts")
    if thread is None and not channel.startswith(DIRECT):
        return None
    under = _text(event, "parent_user_id")
    return Wrote(who=who, words=plain(text), thread=thread, under=under)


def _ordered(told: Mapping[str, Any]) -> Ordered | None:
    match told:
        case {
            "user_id": str(person),
            "team_id": str(team),
            "channel_id": str(channel),
            "trigger_id": str(trigger),
            "response_url": str(hook),
        }:
            name = _text(told, "user_name") or ""
            who = Who(key=trigger, person=person, called=name, team=team, channel=channel)
        case _:
            return None
    command, _, words = plain(_text(told, "text") or "").strip().partition(" ")
    return Ordered(who=who, command=command.lower() or "help", words=words.strip(), hook=hook)


def plain(text: str) -> str:
    """What somebody typed: Slack marks addresses, people and channels, and escapes the rest."""
    unmarked = _MARKED.sub(_typed, text)
    return unmarked.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _typed(mark: re.Match[str]) -> str:
    target, shown = mark[1], mark[2]
    if target[:1] in ("@", "#", "!"):
        return f"{'#' if target[0] == '#' else '@'}{shown or target[1:]}"
    if not shown:
        return target
    return shown if target.endswith(shown) else f"{shown} ({target})"


def _name(user: Mapping[str, Any]) -> str:
    return _text(user, "username") or _text(user, "name") or ""


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) else None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
