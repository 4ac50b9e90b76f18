"""`am plugin`: what installed packages add to the engine."""

import click

from agents_manager.cli import session
from agents_manager.cli.session import Desk


@click.group()
def plugin() -> None:
    """See what installed packages add."""


@plugin.command("list")
@session.command
async def list_plugins(desk: Desk) -> None:
    """List the plugins, with all that they register."""
    from agents_manager.cli.pages import catalog

    found = desk.services.registry.plugins
    desk.output.show(found, lambda: catalog.plugins(found))
    for one in found:
        if one.error:
            desk.output.say(f"Warning: {one.trouble}")
