"""`am snapshot`: the work that runs left uncommitted."""

import click

from agents_manager.cli import arguments, session
from agents_manager.cli.render import Line, Tone
from agents_manager.cli.session import Desk


@click.group()
def snapshot() -> None:
    """See and take back the work that runs left uncommitted."""


@snapshot.command("list")
@arguments.task_or_all
@arguments.project_option
@session.command
async def list_snapshots(desk: Desk, task: str | None, project: str | None) -> None:
    """List the snapshots of a task; without one, those of the project, deleted tasks too."""
    from agents_manager.cli.pages import catalog
    from agents_manager.flow import snapshots

    if task is not None:
        found = await snapshots.of_task(desk.services, task)
    else:
        found = await snapshots.of_project(desk.services, await desk.project(project))
    desk.output.show(found, lambda: catalog.snapshots(found))


@snapshot.command()
@arguments.task
@click.argument("number", type=click.IntRange(min=1))
@click.option("--to", metavar="BRANCH", help="Make a new branch of it instead.")
@session.command
async def restore(desk: Desk, task: str, number: int, to: str | None) -> None:
    """Put the work of a snapshot back into the task's workspace, uncommitted.

    What lies in the workspace now is saved as a snapshot first.
    """
    from agents_manager.flow import snapshots

    done = await snapshots.restore(desk.services, task, number, to, desk.actor)
    if done.workspace is None:
        lines = [Line(f"Snapshot {number} is the branch {done.branch} now.")]
    else:
        hint = "Commit what is to stay: the next run begins with what is committed."
        lines = [
            Line(f"Restored snapshot {number} into {done.workspace}, on {done.branch}."),
            Line(hint, Tone.QUIET),
        ]
    desk.output.show(done, lambda: lines)
