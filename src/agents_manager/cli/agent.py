"""`am agent`: which agents there are, and what they need."""

from typing import TYPE_CHECKING

import click

from agents_manager.cli import arguments, session
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from agents_manager.domain.task import Project


@click.group()
def agent() -> None:
    """See which agents there are, and what they need."""


@agent.command("list")
@arguments.project_option
@session.command
async def list_agents(desk: Desk, project: str | None) -> None:
    """List the agents that tasks can be given to."""
    from agents_manager.cli.pages import agent as pages
    from agents_manager.flow import agents

    found = await agents.examine(desk.services, await _project(desk, project))
    desk.output.show([pages.document(one) for one in found], lambda: pages.listing(found))


@agent.command()
@click.argument("name", required=False)
@arguments.project_option
@session.command
async def doctor(desk: Desk, name: str | None, project: str | None) -> None:
    """Say what is there and what is missing, with the way to get it.

    MCP servers are started and asked for their tools; nothing else is sent anywhere. Exit code 1
    if the agent that is named cannot be used.
    """
    from agents_manager.cli.pages import agent as pages
    from agents_manager.flow import agents

    place = await _project(desk, project)
    found = await agents.examine(desk.services, place, name, try_servers=True)
    desk.output.show([pages.document(one) for one in found], lambda: pages.diagnoses(found))
    if name is not None and not found[0].usable:
        raise click.exceptions.Exit(1)


async def _project(desk: Desk, named: str | None) -> "Project | None":
    """Its own settings and its consent count; outside of a project, those of all."""
    return await desk.project(named) if named else await desk.project_here()
