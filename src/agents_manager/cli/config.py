"""`am config`: the settings in effect, and where each comes from."""

import click

from agents_manager.cli import arguments, session
from agents_manager.cli.session import Desk


@click.group()
def config() -> None:
    """See the settings in effect, and where they come from."""


@config.command()
@arguments.project_option
@session.command
async def show(desk: Desk, project: str | None) -> None:
    """Show every setting with the layer, file and line that it comes from."""
    from agents_manager.cli.pages import config as pages

    found = await desk.project(project) if project else await desk.project_here()
    settings = desk.services.configs.explain(found)
    database = desk.program.database.engines.where
    document = {
        "home": desk.program.settings.home,
        "database": database,
        "project": found.name if found else None,
        "settings": settings,
    }
    home = str(desk.program.settings.home)
    desk.output.show(document, lambda: pages.page(home, database, found, settings))
