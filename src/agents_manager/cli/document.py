"""`am document`: what a task wrote, as files of the repository."""

import click

from agents_manager.cli import arguments, session
from agents_manager.cli.artifact import name_argument, version
from agents_manager.cli.render import Line, one_line
from agents_manager.cli.session import Desk


@click.group()
def document() -> None:
    """Commit a plan, a design or an investigation to the branch of its task."""


@document.command()
@arguments.task
@name_argument
@click.option("--version", type=version, help="The newest unless given.")
@click.option(
    "--path", metavar="PATH", help="Such as docs/plans/search.md; by its title unless given."
)
@click.option("--replace", is_flag=True, help="Also where the branch has other content there.")
@session.command
async def commit(
    desk: Desk, task: str, name: str, version: int | None, path: str | None, replace: bool
) -> None:
    """Commit a document to the task's branch, never to the base.

    Refused while an agent works at the task. "am artifact list" shows which documents there are.
    """
    from agents_manager.flow import filing

    done = await filing.commit(
        desk.services, task, name, desk.actor, version=version, path=path, replace=replace
    )
    what = f"version {done.version} of the {done.document}"
    where = f"{one_line(done.branch)} as {one_line(done.path)} ({done.sha[:8]})"
    told = f"Committed {what} to {where}." if done.new else f"{what} is on {where} already."
    desk.output.show(done, lambda: [Line(told[0].upper() + told[1:])])
