"""The commands of `am task` for what lies in files: its document, and its workspace."""

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import click

from agents_manager.cli import arguments, files, session, times
from agents_manager.cli.render import Line, counted, one_line, short
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from agents_manager.domain.ids import TaskId
    from agents_manager.domain.issue import State
    from agents_manager.domain.task import Task

STATES = ("open", "closed", "all")
FORMATS = ("md", "csv", "json")
ENDINGS = {".md": "md", ".markdown": "md", ".csv": "csv", ".json": "json"}


@click.command()
@arguments.task
@click.option(
    "--format",
    "told",
    type=click.Choice(("json", "md")),
    default="json",
    show_default=True,
    help="A JSON document, or a Markdown file that tells what became of it, too.",
)
@session.command
async def export(desk: Desk, task: str, told: str) -> None:
    """Print a task in a form that "am task import" takes."""
    from agents_manager.flow import exchange, task_files

    if told == "json":
        desk.output.document(await desk.read(lambda tx: exchange.export(tx, tx.tasks.find(task))))
        return
    text = await desk.read(lambda tx: task_files.export(tx, tx.tasks.find(task)))
    desk.output.file(text)


@click.command("import")
@click.argument("file", type=click.File("rb"), metavar="[FILE|-]", required=False)
@arguments.project_option
@click.option(
    "--format", "told", type=click.Choice(FORMATS), help="By the file's name unless given."
)
@click.option(
    "--github",
    is_flag=False,
    flag_value="",
    metavar="[OWNER/NAME]",
    help="Issues of this repository, or of the project's, instead of a file.",
)
@click.option("--label", "labels", multiple=True, help="Only issues that have it; may be repeated.")
@click.option("--state", type=click.Choice(STATES), help="Of issues; open unless given.")
@click.option(
    "--issue",
    "numbers",
    type=click.IntRange(1),
    metavar="N",
    multiple=True,
    help="Only this one; may be repeated.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be made.")
@click.option("--start", is_flag=True, help="Start the tasks that are made.")
@click.option("--at", type=times.Moment(), metavar="TIME", help="Start them at this time.")
@session.command
async def import_(
    desk: Desk,
    file: BinaryIO | None,
    project: str | None,
    told: str | None,
    github: str | None,
    labels: tuple[str, ...],
    state: "State | None",
    numbers: tuple[int, ...],
    **how: Any,
) -> None:
    """Create tasks from a file: a Markdown list, a CSV list, or what "am task export" printed, JSON
    or the Markdown file of a task; or from the issues of a repository on GitHub.

    All of them are made or none, and none is started without --start or --at. Tasks with open
    dependencies start when these are finished. What was made of a title in a file of this name, or
    of an issue, is not made again.
    """
    from agents_manager.cli.pages import imported
    from agents_manager.domain import issue
    from agents_manager.flow import importing

    if (file is None) == (github is None):
        raise click.UsageError("Give a file, or --github for issues.")
    if github is None and (labels or state or numbers):
        raise click.UsageError("--label, --state and --issue are for --github.")
    if github is not None and told:
        raise click.UsageError("--format is for files.")
    if how["start"] and how["at"] is not None:
        raise click.UsageError("Give --start or --at, not both.")
    starting = importing.Starting(how["at"]) if how["start"] or how["at"] else None
    dry_run: bool = how["dry_run"]
    s, actor, of = desk.services, desk.actor, await desk.project(project)
    if file is not None:
        text, name = files.text(file), files.name(file)
        kind = importing.Format(told or _format(text, name))
        done = await importing.import_(
            s, of, text, actor, format=kind, source=name, dry_run=dry_run, starting=starting
        )
    else:
        wanted = issue.wanted(github or None, numbers, labels, state)
        done = await importing.import_issues(
            s, of, wanted, actor, dry_run=dry_run, starting=starting
        )
    skipped = "checked off" if file else "are pull requests"
    desk.output.show(done, lambda: imported.page(done, skipped))
    for item in done.items:
        for other in item.left_out:
            what = f'"{one_line(item.title)}" depends on "{one_line(other)}"'
            desk.output.say(f"Warning: {what}, which is not known here; left out.")
        if item.note and item.task_id:
            told = f'The handoff of "{one_line(item.title)}" is in free words'
            desk.output.say(
                f'{told}; "am knowledge migrate {short(item.task_id)}" shows its fields.'
            )
    if starting is not None and (ids := [one.task_id for one in done.items if one.start]):
        await desk.say_if_idle(cast("TaskId", ids[0]))


def _format(text: str, name: str) -> str:
    found = ENDINGS.get(PurePath(name).suffix.lower())
    if found is None and text.lstrip().startswith(("{", "[{")):
        return "json"
    if found is None:
        raise click.UsageError(f"Say what it is with --format {'|'.join(FORMATS)}.")
    return found


@click.command()
@arguments.task_or_all
@arguments.project_option
@session.command
async def clean(desk: Desk, task: str | None, project: str | None) -> None:
    """Remove the workspace of a task; without one, of all finished tasks of the project.

    What lies in a workspace and is not committed is kept as a snapshot first. Branches stay, and
    the workspace is made again when an agent needs it.
    """
    from agents_manager.flow import removal

    if task is not None and project is not None:
        raise click.UsageError("Give a task or --project, not both.")
    of = None if task is not None else (await desk.project(project)).id
    cleaned = await removal.clean(desk.services, task_id=task, project_id=of, by=desk.actor)
    document = [{"task": one.task.id, "title": one.task.title, "left": one.left} for one in cleaned]
    gone = [one for one in cleaned if one.left is None]
    text = f"No workspace is left of {counted(len(gone), 'finished task')}."
    desk.output.show(document, lambda: [Line(text), *(_line(one.task) for one in gone)])
    for one in cleaned:
        if one.left is not None:
            desk.output.say(f"{short(one.task.id)} keeps its workspace: {one.left}")


def _line(task: "Task") -> Line:
    return Line(f'  {short(task.id)} "{one_line(task.title)}" ({task.status})')
