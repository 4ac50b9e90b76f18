"""The commands of `am task` that move a task."""

from typing import TYPE_CHECKING

import click

from agents_manager.cli import arguments, completing, session, times
from agents_manager.cli.render import Line, Tone, one_line, short
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from datetime import datetime

    from agents_manager.domain.ids import TaskId
    from agents_manager.domain.task import Task
    from agents_manager.flow.ports import Tx
    from agents_manager.flow.tasks import Stopping


@click.command()
@arguments.task
@click.option(
    "--at",
    type=times.MomentOrNever(),
    metavar="TIME",
    help="Have the engine do it then, in the zone of this machine; never: not any more.",
)
@session.command
async def start(desk: Desk, task: str, at: "datetime | str | None") -> None:
    """Make the one move by hand that goes on from here, at once or at a time."""
    if at is None:
        await _move(desk, task)
        return
    from agents_manager.flow import later

    when = None if isinstance(at, str) else at
    found = await later.set_time(desk.services, task, when, desk.actor)
    await show_result(desk, found.id, "Starts later:" if when else "Starts by hand:")


@click.command()
@arguments.task
@click.argument("status", shell_complete=completing.statuses)
@click.option("--force", is_flag=True, help="Pass the guards; marked as forced.")
@click.option("--reason", help="Why; kept in the history.")
@click.option("--stop", is_flag=True, help="Stop the agent that is running first.")
@session.command
async def move(
    desk: Desk, task: str, status: str, force: bool, reason: str | None, stop: bool
) -> None:
    """Move a task to another status."""
    await _move(desk, task, to=status, force=force, reason=reason, stop=stop)


@click.command()
@arguments.task
@click.option("--reason", help="Why; kept in the history.")
@session.command
async def cancel(desk: Desk, task: str, reason: str | None) -> None:
    """End a task without its result; an agent that is running is stopped first."""
    from agents_manager.flow import tasks

    target = await desk.read(lambda tx: tasks.way_out(tx, tx.tasks.find(task)))
    await _move(desk, task, to=target, reason=reason)


@click.command()
@arguments.task
@session.command
async def grant(desk: Desk, task: str) -> None:
    """Grant a task more rounds after its limit of rounds was reached."""
    from agents_manager.flow import remedies

    def write(tx: "Tx") -> "TaskId":
        found = tx.tasks.find(task)
        remedies.grant(tx, desk.services, found.id, desk.actor)
        return found.id

    await show_result(desk, await desk.write(write), "Granted more rounds:")


async def show_result(desk: Desk, task_id: "TaskId", done: str) -> None:
    """What was done, where the task stands now, and whether somebody goes on with it."""
    from agents_manager.flow import views

    view = await desk.read(lambda tx: views.task(tx, desk.services, task_id, desk.actor))
    name = f'{short(view.task.id)} "{one_line(view.task.title)}"'
    page = [
        Line(f"{done} {name} ({view.task.status})."),
        Line(f"Next: {one_line(view.next_mover.text)}", Tone.QUIET),
    ]
    if view.task.starts_at is not None:
        page.append(Line(f"That is {times.told(view.task.starts_at)}.", Tone.QUIET))
    desk.output.show(view, lambda: page)
    await desk.say_if_idle(view.task.id)


async def _move(
    desk: Desk,
    task: str,
    *,
    to: str | None = None,
    force: bool = False,
    reason: str | None = None,
    stop: bool = False,
) -> None:
    from agents_manager.flow import tasks

    moved: Task | Stopping = await tasks.move(
        desk.services, task, desk.actor, to=to, force=force, reason=reason, stop=stop
    )
    if isinstance(moved, tasks.Stopping):
        runs = ", ".join(short(run.id) for run in (moved.run, *moved.beside))
        await show_result(desk, moved.task.id, f"Stopping run {runs}, then moving")
    else:
        await show_result(desk, moved.id, "Moved")
