"""The settings of channels, as they stand under `notifications` in a configuration file."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from agents_manager import addresses
from agents_manager.flow.ports import ChannelConfig, ChannelRules, Keys, Person

_ROLE = re.compile(r"[a-z][a-z0-9_-]{0,49}")
_TELEGRAM_ID = re.compile(r"-?[0-9]{1,20}", re.ASCII)


class PersonConfig(Keys):
    name: str = Field(min_length=1, max_length=100)
    """How they are called in the record."""
    role: str = "admin"
    """What they may do: `admin` everything, `viewer` only look, any other role what is asked of
    everybody or of that role."""

    @field_validator("role")
    @classmethod
    def _written(cls, value: str) -> str:
        if not _ROLE.fullmatch(value):
            raise ValueError(f'"{value}" is no role; write it in small letters, such as lead')
        return value


class DesktopConfig(ChannelConfig):
    """Notices on the desktop of the machine that the server runs on."""

    def rules(self) -> ChannelRules:
        return replace(super().rules(), places=("desktop",))


class PushConfig(ChannelConfig):
    """Notices in browsers that were asked for in the web app, also while no page is open."""

    enabled: bool = True
    """Whether browsers that asked for notices are sent any."""
    contact: str = Field(default="mailto:admin@example.com", pattern=r"^(mailto:|https://)\S+$")
    """Whom a push service may ask about the messages; Apple refuses addresses that are none."""

    def rules(self) -> ChannelRules:
        return replace(super().rules(), places=("browsers",))


class WebhookConfig(ChannelConfig):
    """Signed requests to an address of yours, with a secret in `AM_WEBHOOK_SECRET`."""

    url: str | None = Field(default=None, max_length=2_000)
    """Where it is sent to, by a POST that is signed with `AM_WEBHOOK_SECRET`."""
    allow_private: bool = False
    """Whether that may be an address of this machine or of a private network."""
    people: Mapping[str, PersonConfig] = Field(default_factory=dict[str, PersonConfig])
    """Who may answer by it, by the ids that answers name."""

    @field_validator("url")
    @classmethod
    def _web(cls, value: str | None) -> str | None:
        parts = urlsplit(value or "https://example.com")
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise ValueError(f'"{value}" is no address; write it as https://HOST/PATH')
        return value

    def rules(self) -> ChannelRules:
        return replace(
            super().rules(),
            places=("webhook",) if self.url else (),
            people=_people(self.people),
            url=self.url,
            allow_private=self.allow_private,
        )


class ChatConfig(ChannelConfig):
    people: Mapping[str, PersonConfig] = Field(default_factory=dict[str, PersonConfig])
    """Who may answer there, by their ids; `am channel allow` adds them."""
    places: tuple[str, ...] = ()
    """The ids of the chats that it is sent to; to each of the people where left out."""
    base_url: str | None = None
    """The address of the platform, for a server of your own."""

    @field_validator("base_url")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        return None if value is None else addresses.platform(value)

    def rules(self) -> ChannelRules:
        return replace(
            super().rules(),
            people=_people(self.people),
            places=self.places or tuple(self.people),
            base_url=self.base_url,
        )


class SlackConfig(ChatConfig):
    """Slack, with the tokens of an app in `AM_SLACK_BOT_TOKEN` and `AM_SLACK_APP_TOKEN`."""


class TelegramConfig(ChatConfig):
    """Telegram, with the token of a bot in `AM_TELEGRAM_TOKEN`."""

    webhook_url: str | None = None
    """Where Telegram reaches `/hooks/telegram` of this server, with TLS; it is asked for news where
    left out. Needs `AM_TELEGRAM_WEBHOOK_SECRET`."""

    @field_validator("people", "places")
    @classmethod
    def _numbers(cls, value: Any) -> Any:
        for one in value:
            if not _TELEGRAM_ID.fullmatch(one):
                raise ValueError(
                    f'"{one}" is no id of Telegram; it is a number, as names change hands'
                )
        return value

    @field_validator("webhook_url")
    @classmethod
    def _reached(cls, value: str | None) -> str | None:
        return None if value is None else addresses.platform(value)

    def rules(self) -> ChannelRules:
        return replace(super().rules(), url=self.webhook_url)


def _people(said: Mapping[str, PersonConfig]) -> dict[str, Person]:
    return {id: Person(name=one.name, role=one.role) for id, one in said.items()}
