"""The kinds of checks that come with the product."""

from agents_manager.checks.command import COMMAND, NO_SECRETS, by_command, for_secrets
from agents_manager.plugins import Additions


def register(add: Additions) -> None:
    add.check(COMMAND, by_command)
    add.check(NO_SECRETS, for_secrets)
