"""The channels that come with the product. Each is built when it is switched on, and says then what
it lacks."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agents_manager.channels.config import (
    DesktopConfig,
    PushConfig,
    SlackConfig,
    TelegramConfig,
    WebhookConfig,
)
from agents_manager.errors import InvalidConfig
from agents_manager.flow.ports import Channel, Subscription, Tools
from agents_manager.plugins import Additions

if TYPE_CHECKING:
    from agents_manager.channels.push import Push


def register(add: Additions) -> None:
    add.channel("telegram", TelegramConfig, _telegram)
    add.channel("slack", SlackConfig, _slack)
    add.channel("desktop", DesktopConfig, _desktop)
    add.channel("webhook", WebhookConfig, _webhook)
    add.channel("push", PushConfig, _push)


# Imported late: each brings a library of its own.


def _telegram(tools: Tools, config: Callable[[], TelegramConfig]) -> Channel:
    with _extra("telegram"):
        from agents_manager.channels import telegram
    return telegram.build(lambda: config().rules())


def _slack(tools: Tools, config: Callable[[], SlackConfig]) -> Channel:
    from agents_manager.channels import slack

    return slack.build(lambda: config().rules())


def _desktop(tools: Tools, config: Callable[[], DesktopConfig]) -> Channel:
    from agents_manager.channels import desktop

    return desktop.build()


def _webhook(tools: Tools, config: Callable[[], WebhookConfig]) -> Channel:
    from agents_manager.channels import webhook

    return webhook.build(lambda: config().rules())


def _push(tools: Tools, config: Callable[[], PushConfig]) -> "Push":
    with _extra("push"):
        from agents_manager.channels.push import Push

    async def browsers() -> dict[str, Subscription]:
        now = tools.clock.now()
        return await tools.store.read(lambda tx: tx.access.subscriptions(now))

    async def forget(session: str) -> None:
        await tools.store.write(lambda tx: tx.access.subscribe(session, None))

    return Push(tools.home, tools.clock, browsers, forget, lambda: config().contact)


@contextmanager
def _extra(name: str) -> Generator[None]:
    """Around the import of what needs a library that not everybody has."""
    try:
        yield
    except ModuleNotFoundError:
        raise InvalidConfig(
            f"{name.capitalize()} needs a library: pip install 'agents-manager[{name}]'."
        ) from None
