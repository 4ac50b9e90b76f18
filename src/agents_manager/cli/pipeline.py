"""`am pipeline`: the graphs that tasks go through."""

import click

from agents_manager.cli import session
from agents_manager.cli.session import Desk


@click.group()
def pipeline() -> None:
    """See the pipelines that tasks go through."""


@pipeline.command("list")
@session.command
async def list_pipelines(desk: Desk) -> None:
    """List the pipelines in their newest versions."""
    from agents_manager.cli.pages import catalog

    found = await desk.read(lambda tx: tx.pipelines.all())
    desk.output.show(found, lambda: catalog.pipelines(found))


@pipeline.command()
@click.argument("pipeline")
@click.option("--version", type=click.IntRange(min=1), help="The newest unless given.")
@session.command
async def show(desk: Desk, pipeline: str, version: int | None) -> None:
    """Show the statuses and transitions of a pipeline."""
    from agents_manager.cli.pages import catalog

    found = await desk.read(lambda tx: tx.pipelines.get(pipeline, version))
    desk.output.show(found, lambda: catalog.pipeline(found))
