"""`am cost` and `am stats`: what runs cost, and how they went."""

from datetime import datetime
from typing import Any

import click

from agents_manager.cli import arguments, completing, session
from agents_manager.cli.session import Desk

GROUPS = ("project", "task", "agent", "model", "day")


def _scoped(command: Any) -> Any:
    project = click.option(
        "--project", shell_complete=completing.projects, help="Name or id; all unless given."
    )
    return project(arguments.since(command))


@click.command()
@click.option("--by", type=click.Choice(GROUPS), default="project", show_default=True)
@_scoped
@click.option("--limit", type=click.IntRange(min=1, max=10_000), default=50, show_default=True)
@session.command
async def cost(
    desk: Desk, by: str, project: str | None, since: datetime | None, limit: int
) -> None:
    """Show what runs cost, and how far budgets are used up.

    Runs whose cost is unknown are counted beside the sum, never as nothing."""
    from agents_manager.cli.pages import cost as pages
    from agents_manager.domain.cost import By
    from agents_manager.flow import figures

    s = desk.services
    report = await desk.read(
        lambda tx: figures.cost(tx, s, By(by), project=project, since=since, limit=limit)
    )
    desk.output.show(report, lambda: pages.cost(report))


@click.command()
@_scoped
@session.command
async def stats(desk: Desk, project: str | None, since: datetime | None) -> None:
    """Show how runs went and what merged tasks took, in all and by agent."""
    from agents_manager.cli.pages import cost as pages
    from agents_manager.flow import figures

    report = await desk.read(lambda tx: figures.stats(tx, project=project, since=since))
    desk.output.show(report, lambda: pages.stats(report))
