"""`am pipeline`: the graphs that tasks go through."""

import click

from agents_manager.cli import arguments, pipeline_check, pipeline_versions, session
from agents_manager.cli.session import Desk


@click.group()
def pipeline() -> None:
    """See the pipelines that tasks go through."""


for command in (
    pipeline_versions.import_,
    pipeline_versions.export,
    pipeline_versions.migrate,
    pipeline_check.lint,
    pipeline_check.simulate,
    pipeline_check.graph,
):
    pipeline.add_command(command)


@pipeline.command("list")
@session.command
async def list_pipelines(desk: Desk) -> None:
    """List the pipelines in their newest versions, and the files of projects that are broken."""
    from agents_manager.cli.pages import catalog
    from agents_manager.flow import pipelines

    found, brought = await pipelines.listed(desk.services)
    desk.output.show(found, lambda: catalog.pipelines(found, brought))
    for file in brought:
        for error in file.errors:
            last = f"version {file.pipeline.version} stays in use" if file.pipeline else "not used"
            desk.output.say(f"Warning: {file.path} ({last}): {error}")


@pipeline.command()
@arguments.pipeline
@session.command
async def versions(desk: Desk, pipeline: str) -> None:
    """List the versions of a pipeline, the newest first, with the unfinished tasks on each."""
    from agents_manager.cli.pages import catalog
    from agents_manager.flow import pipelines

    stored = await pipeline_versions.stored_id(desk, pipeline)
    found = await desk.read(lambda tx: pipelines.versions(tx, stored))
    desk.output.show(found, lambda: catalog.versions(found))


@pipeline.command()
@arguments.pipeline
@click.option("--version", type=click.IntRange(min=1), help="The newest unless given.")
@session.command
async def show(desk: Desk, pipeline: str, version: int | None) -> None:
    """Show the statuses and transitions of a pipeline."""
    from agents_manager.cli.pages import catalog

    stored = await pipeline_versions.stored_id(desk, pipeline)
    found = await desk.read(lambda tx: tx.pipelines.get(stored, version))
    desk.output.show(found, lambda: catalog.pipeline(found))
