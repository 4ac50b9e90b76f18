"""The commands of `am task` for what lies in files: its document, and its worktree."""

from typing import TYPE_CHECKING, BinaryIO

import click

from agents_manager.cli import arguments, files, moves, session
from agents_manager.cli.render import Line, counted, one_line, short
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from agents_manager.domain.task import Task


@click.command()
@arguments.task
@session.command
async def export(desk: Desk, task: str) -> None:
    """Print the words of a task as a JSON document that "am task import" takes."""
    from agents_manager.flow import exchange

    desk.output.document(await desk.read(lambda tx: exchange.export(tx, tx.tasks.find(task))))


@click.command("import")
@click.argument("file", type=click.File("rb"), metavar="FILE|-")
@arguments.project_option
@session.command
async def import_(desk: Desk, file: BinaryIO, project: str | None) -> None:
    """Create a task from the document of an exported one; it begins at the beginning."""
    from agents_manager.flow import exchange

    document = files.json_object(file)
    target = await desk.project(project)
    made = await exchange.import_(desk.services, target, document, desk.actor)
    for name in made.left_out:
        desk.output.say(f'Warning: It depends on "{name}", which is not known here; left out.')
    await moves.show_result(desk, made.task.id, "Created")


@click.command()
@arguments.task_or_all
@arguments.project_option
@session.command
async def clean(desk: Desk, task: str | None, project: str | None) -> None:
    """Remove the worktree of a task; without one, of all finished tasks of the project.

    What lies in a worktree and is not committed is kept as a snapshot first. Branches stay, and
    the worktree is made again when an agent needs it.
    """
    from agents_manager.flow import removal

    if task is not None and project is not None:
        raise click.UsageError("Give a task or --project, not both.")
    of = None if task is not None else (await desk.project(project)).id
    cleaned = await removal.clean(desk.services, task_id=task, project_id=of)
    document = [{"task": one.task.id, "title": one.task.title, "left": one.left} for one in cleaned]
    gone = [one for one in cleaned if one.left is None]
    text = f"No worktree is left of {counted(len(gone), 'finished task')}."
    desk.output.show(document, lambda: [Line(text), *(_line(one.task) for one in gone)])
    for one in cleaned:
        if one.left is not None:
            desk.output.say(f"{short(one.task.id)} keeps its worktree: {one.left}")


def _line(task: "Task") -> Line:
    return Line(f'  {short(task.id)} "{one_line(task.title)}" ({task.status})')
