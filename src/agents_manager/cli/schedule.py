"""`am schedule`: tasks that are made again and again."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from agents_manager.cli import arguments, completing, files, moves, session, times
from agents_manager.cli.render import Line, one_line
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from agents_manager.domain.schedule import Schedule

WORDS = (
    *("title", "objective", "pipeline", "type", "priority", "size", "complexity"),
    *("agent", "model"),
)
ENDS = ("until", "most")
KEPT = ("name", "rule", "zone", *ENDS, "start", "project")
schedule_argument = click.argument("schedule", shell_complete=completing.schedules)


@click.group("schedule")
def schedule() -> None:
    """Have tasks made again and again, by a rule."""


def _words(command: Callable[..., Any]) -> Callable[..., Any]:
    """The words of its tasks, and what else can be said and changed."""
    options = [
        click.option("--description", metavar="TEXT"),
        click.option("--description-file", type=click.File("rb"), metavar="FILE|-"),
        click.option("--objective", metavar="TEXT", help="What the tasks are good for."),
        click.option("--pipeline", shell_complete=completing.pipelines),
        click.option("--type"),
        click.option("--priority"),
        click.option("--size"),
        click.option("--complexity"),
        click.option("--tag", "tags", multiple=True, help="May be given several times."),
        click.option("--criterion", "criteria", multiple=True, help="When one is done."),
        arguments.agent_option,
        arguments.model_option,
        click.option("--zone", help="Such as Europe/Berlin; that of this machine unless given."),
        click.option("--until", type=times.Moment(), metavar="TIME", help="No task after this."),
        click.option("--times", "most", type=click.IntRange(min=1), help="So many tasks in all."),
        click.option(
            "--start/--create-only",
            default=None,
            help="Start the tasks, which spends money, or only create them (the default).",
        ),
        click.option(
            "--queue/--skip",
            default=None,
            help="Also while the last task is open, or not then (the default).",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@schedule.command()
@click.argument("name")
@click.option("--rule", required=True, help='Such as "0 9 * * 1-5" or "every day at 09:00".')
@click.option("--title", required=True, help="Of its tasks; {date} in it becomes the day.")
@arguments.project_option
@_words
@session.command
async def add(
    desk: Desk,
    name: str,
    project: str | None,
    description: str | None,
    description_file: BinaryIO | None,
    **given: Any,
) -> None:
    """Add a schedule, which makes a task at each time of its rule.

    Rules are five fields as cron has them, or words: "every day at 09:00", "weekdays at 18:30",
    "every monday, thursday at 08:00", "every 2 weeks", "every 3 days at 07:00".
    """
    from agents_manager.flow import schedules, tasks

    text = files.one_of(description, description_file)
    new = schedules.NewSchedule(
        name=name,
        rule=given["rule"],
        zone=given["zone"] or times.here(),
        task=tasks.NewTask(**_task({**given, "description": text})),
        start=bool(given["start"]),
        **_when_open(given["queue"]),
        until=given["until"],
        most=given["most"],
    )
    added = await schedules.add(desk.services, await desk.project(project), new, desk.actor)
    _show(desk, added, "Added")


@schedule.command()
@schedule_argument
@click.option("--name")
@click.option("--rule")
@click.option("--title", help="Of its tasks.")
@click.option("--project", shell_complete=completing.projects, help="Tasks of this one instead.")
@click.option("--no-end", is_flag=True, help="No more --until and --times that it had.")
@_words
@session.command
async def edit(
    desk: Desk,
    schedule: str,
    description: str | None,
    description_file: BinaryIO | None,
    no_end: bool,
    **given: Any,
) -> None:
    """Change a schedule; what it had already, it does not have again."""
    from agents_manager.flow import schedules

    text = files.one_of(description, description_file)
    changes = dict.fromkeys(ENDS) if no_end else {}
    changes |= {name: given[name] for name in KEPT if given[name] is not None}
    changes |= _when_open(given["queue"])
    if words := _task({**given, "description": text}):
        changes["task"] = words
    if not changes:
        raise click.UsageError("Say what to change, for instance --rule or --title.")
    _show(desk, await schedules.edit(desk.services, schedule, changes, desk.actor), "Changed")


@schedule.command("list")
@click.option("--project", shell_complete=completing.projects, help="Only of this one.")
@session.command
async def list_schedules(desk: Desk, project: str | None) -> None:
    """List the schedules, and when each makes its next task."""
    from agents_manager.cli.pages import schedule as pages

    of = (await desk.project(project)).id if project else None
    found = await desk.read(lambda tx: tx.schedules.all(of))
    desk.output.show(found, lambda: pages.listing(found))


@schedule.command()
@schedule_argument
@session.command
async def show(desk: Desk, schedule: str) -> None:
    """Show a schedule: the times that come, and what came of the last ones."""
    from agents_manager.cli.pages import schedule as pages
    from agents_manager.flow import schedules

    view = await desk.read(lambda tx: schedules.view(tx, desk.services, schedule))
    desk.output.show(view, lambda: pages.page(view))


@schedule.command()
@schedule_argument
@session.command
async def pause(desk: Desk, schedule: str) -> None:
    """Make no task until it is resumed."""
    from agents_manager.flow import schedules

    _show(desk, await schedules.pause(desk.services, schedule, desk.actor), "Paused")


@schedule.command()
@schedule_argument
@session.command
async def resume(desk: Desk, schedule: str) -> None:
    """Go on with the next time of the rule; what was missed is not made up for."""
    from agents_manager.flow import schedules

    _show(desk, await schedules.resume(desk.services, schedule, desk.actor), "Resumed")


@schedule.command()
@schedule_argument
@session.command
async def remove(desk: Desk, schedule: str) -> None:
    """Remove a schedule; the tasks that it made stay."""
    from agents_manager.flow import schedules

    removed = await schedules.remove(desk.services, schedule, desk.actor)
    desk.output.show(removed, lambda: [Line(f'Removed "{one_line(removed.name)}".')])


@schedule.command("run-now")
@schedule_argument
@session.command
async def run_now(desk: Desk, schedule: str) -> None:
    """Make a task of it now, out of turn."""
    from agents_manager.flow import schedules

    task = await schedules.run_now(desk.services, schedule, desk.actor)
    await moves.show_result(desk, task.id, "Created")


def _task(given: dict[str, Any]) -> dict[str, Any]:
    """What was said about the words of its tasks."""
    words = {name: given[name] for name in (*WORDS, "description") if given[name] is not None}
    lists = {"tags": given["tags"], "acceptance_criteria": given["criteria"]}
    return words | {name: value for name, value in lists.items() if value}


def _when_open(queue: bool | None) -> dict[str, Any]:
    from agents_manager.domain.schedule import WhenOpen

    return {} if queue is None else {"when_open": WhenOpen.QUEUE if queue else WhenOpen.SKIP}


def _show(desk: Desk, found: "Schedule", done: str) -> None:
    from agents_manager.cli.pages import schedule as pages

    name = f'{done} "{one_line(found.name)}" of {found.project}'
    page = [Line(f"{name}: {found.rule}."), Line(f"Next: {pages.stands(found)}")]
    desk.output.show(found, lambda: page)
