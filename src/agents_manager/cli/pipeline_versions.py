"""The commands of `am pipeline` that add a version, give one out, and move tasks between them."""

from collections.abc import Sequence
from typing import BinaryIO

import click

from agents_manager.cli import arguments, completing, files, session
from agents_manager.cli.session import Desk


@click.command("import")
@click.argument("file", type=click.File("rb"), metavar="FILE|-")
@session.command
async def import_(desk: Desk, file: BinaryIO) -> None:
    """Save a pipeline, JSON or YAML, as the next version of its id."""
    from agents_manager.cli.pages import catalog
    from agents_manager.flow import pipelines

    document = files.document(file)
    saved = await pipelines.add(
        desk.services,
        document.value,
        where=document.name,
        lines=document.lines,
        by=desk.actor,
    )
    desk.output.show(saved, lambda: catalog.saved(saved))


@click.command()
@arguments.pipeline
@click.option("--version", type=click.IntRange(min=1), help="The newest unless given.")
@session.command
async def export(desk: Desk, pipeline: str, version: int | None) -> None:
    """Print a pipeline as it was saved, as JSON."""
    from agents_manager.flow import pipelines

    stored = await stored_id(desk, pipeline)
    desk.output.document(await desk.read(lambda tx: pipelines.document(tx, stored, version)))


@click.command()
@arguments.pipeline
@click.option("--to", "version", type=click.IntRange(min=1), help="The newest unless given.")
@click.option("--map", "pairs", multiple=True, metavar="OLD=NEW", help="Several times.")
@click.option(
    "--task",
    shell_complete=completing.tasks,
    help="Only this one; all on older versions unless given.",
)
@click.option("--apply", is_flag=True, help="Do it; without it you are only shown what would be.")
@session.command
async def migrate(
    desk: Desk,
    pipeline: str,
    version: int | None,
    pairs: Sequence[str],
    task: str | None,
    apply: bool,
) -> None:
    """Take tasks to another version of their pipeline.

    A task stays in the status it has, where the version has it too; for others say where they
    go with --map. Either all tasks are migrated or, when one cannot be, none.
    """
    from agents_manager.cli.pages import catalog
    from agents_manager.flow import migration

    moved = await migration.migrate(
        desk.services,
        await stored_id(desk, pipeline),
        desk.actor,
        version=version,
        statuses=_statuses(pairs),
        task_id=task,
        apply=apply,
    )
    document = {
        "pipeline": moved.pipeline.id,
        "version": moved.pipeline.version,
        "applied": moved.applied,
        "tasks": [
            {
                "id": step.task.id,
                "title": step.task.title,
                "version": step.task.pipeline_version,
                "from": step.task.status,
                "to": step.to,
                "problem": step.problem,
            }
            for step in moved.steps
        ],
    }
    desk.output.show(document, lambda: catalog.migration(moved))


async def stored_id(desk: Desk, name: str) -> str:
    """The pipeline that a name means here: that of the project around, then the one for all."""
    from agents_manager.flow import pipelines

    here = await desk.project_here()
    if here is not None:
        await pipelines.reload(desk.services, here)
    return await desk.read(lambda tx: pipelines.stored_id(tx, name, here))


def _statuses(pairs: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        old, mark, new = pair.partition("=")
        if not (old and mark and new):
            raise click.UsageError(f'--map takes OLD=NEW, not "{pair}".')
        if old in found:
            raise click.UsageError(f'--map says twice where "{old}" goes.')
        found[old] = new
    return found
