"""`am host`: the machines that work on one database."""

from typing import TYPE_CHECKING

import click

from agents_manager.cli import completing, session
from agents_manager.cli.render import Line
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from agents_manager.domain.host import HostState

host_argument = click.argument("host", shell_complete=completing.hosts)


@click.group("host")
def host() -> None:
    """See the machines that work on one database, and what waits for a place on them."""


@host.command("list")
@session.command
async def list_hosts(desk: Desk) -> None:
    """List the machines, the agents that work on them, and the runs that wait and why."""
    from agents_manager.cli.pages import host as pages
    from agents_manager.flow import hosts

    found = await hosts.overview(desk.services)
    desk.output.show(found, lambda: pages.listing(found))


@host.command()
@host_argument
@session.command
async def drain(desk: Desk, host: str) -> None:
    """Let a machine finish what it has and take nothing new, before it is upgraded or goes."""
    from agents_manager.domain.host import HostState

    await _tell(desk, host, HostState.DRAINING, "{} takes nothing new; {} on it.")


@host.command()
@host_argument
@session.command
async def resume(desk: Desk, host: str) -> None:
    """Let a machine take work again."""
    from agents_manager.domain.host import HostState

    await _tell(desk, host, HostState.UP, "{} takes work again; {} on it.")


@host.command()
@host_argument
@session.command
async def remove(desk: Desk, host: str) -> None:
    """Send a machine away: it ends, and others take over what it had."""
    from agents_manager.domain.host import HostState

    await _tell(desk, host, HostState.LEFT, "{} has to go; {} on it, and others take over.")


async def _tell(desk: Desk, name: str, state: "HostState", says: str) -> None:
    from agents_manager.cli.render import counted
    from agents_manager.flow import hosts

    found = await hosts.tell(desk.services, name, state, desk.actor)
    text = says.format(found.name, f"{counted(len(found.working), 'agent')} at work")
    desk.output.show(found, lambda: [Line(text)])
