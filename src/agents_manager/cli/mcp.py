"""`am mcp`: the product as tools, for a program that speaks MCP over standard input."""

import click

from agents_manager.cli import session
from agents_manager.cli.session import Desk


@click.command("mcp")
@session.command
async def mcp(desk: Desk) -> None:
    """Serve MCP over standard input and output, until the input ends.

    For programs that start their servers themselves, such as an editor or a coding agent. It works
    on the database like every command; a running server has the same over HTTP, at /mcp.
    """
    from agents_manager.mcp import admin

    if not desk.has_engine():
        desk.output.say('No agent will work until "am serve" is started.')
    await admin.over_stdio(desk.services, desk.actor)
