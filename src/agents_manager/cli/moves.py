"""The commands of `am task` that move a task."""

from typing import TYPE_CHECKING

import click

from agents_manager.cli import arguments, completing, consenting, session, times
from agents_manager.cli.render import Line, Tone, one_line, short
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from datetime import datetime

    from agents_manager.domain.ids import TaskId
    from agents_manager.flow.later import Started
    from agents_manager.flow.ports import Tx
    from agents_manager.flow.unmerged import Consent


@click.command()
@click.argument("task", nargs=-1, shell_complete=completing.tasks)
@click.option("--all", "every", is_flag=True, help="All tasks of the project that nobody started.")
@arguments.project_option
@click.option(
    "--at",
    type=times.MomentOrNever(),
    metavar="TIME",
    help="Start then, in the zone of this machine; never: cancel the automatic start.",
)
@session.command
async def start(
    desk: Desk,
    task: tuple[str, ...],
    every: bool,
    project: str | None,
    at: "datetime | str | None",
) -> None:
    """Start tasks, now or at a time.

    A task whose dependencies are open starts automatically when they are finished.
    """
    if bool(task) == every:
        raise click.UsageError("Name one or more tasks, or give --all.")
    if project is not None and not every:
        raise click.UsageError("--project is for --all.")
    if len(task) == 1:
        await _start_one(desk, task[0], at)
        return
    if isinstance(at, str):
        raise click.UsageError("--at never is for one task.")
    from agents_manager.cli.pages import started as pages
    from agents_manager.flow import bulk_starts

    s, actor = desk.services, desk.actor
    if every:
        of = await desk.project(project)
        done = await bulk_starts.start_all(s, of, actor, at=at)
    else:
        done = await bulk_starts.start_many(s, task, actor, at=at)
    desk.output.show(done, lambda: pages.page(done, at))
    for one in done[:1]:
        await desk.say_if_idle(one.task.id)


async def _start_one(desk: Desk, task: str, at: "datetime | str | None") -> None:
    from agents_manager.flow import later

    if at is None:
        await show_started(desk, await later.start(desk.services, task, desk.actor), "Moved")
        return
    when = None if isinstance(at, str) else at
    found = await later.set_time(desk.services, task, when, desk.actor)
    await show_result(desk, found.id, "Starts later:" if when else "Starts by hand:")


@click.command()
@arguments.task
@click.argument("status", shell_complete=completing.statuses)
@click.option("--force", is_flag=True, help="Pass the guards; marked as forced.")
@click.option("--reason", help="Why; kept in the history.")
@click.option("--stop", is_flag=True, help="Stop the agent that is running first.")
@consenting.options
@session.command
async def move(
    desk: Desk,
    task: str,
    status: str,
    force: bool,
    reason: str | None,
    stop: bool,
    consent: "Consent",
) -> None:
    """Move a task to another status.

    Closing a task whose commits are not merged asks first.
    """
    await consenting.ask(
        lambda agreed: _move(
            desk, task, to=status, force=force, reason=reason, stop=stop, consent=agreed
        ),
        consent,
    )


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


async def show_started(desk: Desk, started: "Started", done: str) -> None:
    from agents_manager.flow import later, tasks

    if isinstance(started, later.Waiting):
        await show_result(desk, started.task.id, "Starts later:")
        desk.output.say(f"Cancel the start with: am task start {short(started.task.id)} --at never")
    elif isinstance(started, tasks.Stopping):
        runs = ", ".join(short(run.id) for run in (started.run, *started.beside))
        await show_result(desk, started.task.id, f"Stopping run {runs}, then moving")
    else:
        await show_result(desk, started.id, done)


async def show_result(desk: Desk, task_id: "TaskId", done: str) -> None:
    """What was done, where the task stands now, and whether somebody goes on with it."""
    from agents_manager.flow import views

    view = await desk.read(lambda tx: views.task(tx, desk.services, task_id, desk.actor))
    name = f'{short(view.task.id)} "{one_line(view.task.title)}"'
    page = [
        Line(f"{done} {name} ({view.task.status})."),
        Line(f"Next: {one_line(view.next_mover.text)}", Tone.QUIET),
    ]
    if view.task.starts_at is not None and view.task.starts_at > desk.services.clock.now():
        page.append(Line(f"That is {times.told(view.task.starts_at)}.", Tone.QUIET))
    desk.output.show(view, lambda: page)
    await desk.say_if_idle(view.task.id)


async def _move(
    desk: Desk,
    task: str,
    *,
    to: str,
    force: bool = False,
    reason: str | None = None,
    stop: bool = False,
    consent: "Consent | None" = None,
) -> None:
    from agents_manager.flow import tasks, unmerged

    moved = await tasks.move(
        desk.services,
        task,
        desk.actor,
        to=to,
        force=force,
        reason=reason,
        stop=stop,
        consent=consent or unmerged.NONE,
    )
    await show_started(desk, moved, "Moved")
