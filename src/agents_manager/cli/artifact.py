"""`am artifact`: what a task has to show."""

from typing import TYPE_CHECKING

import click

from agents_manager.cli import arguments, session
from agents_manager.cli.prompt import show_diff
from agents_manager.cli.render import lines
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agents_manager.domain.task import Artifact

name_argument = click.argument("name", metavar="NAME")
version = click.IntRange(min=1)


@click.group()
def artifact() -> None:
    """See what a task has to show: documents, branch, commits, diff, pull requests."""


@artifact.command("list")
@arguments.task
@session.command
async def list_artifacts(desk: Desk, task: str) -> None:
    """List what a task has to show, the oldest first; documents with their versions."""
    _show(desk, await desk.read(lambda tx: tx.tasks.artifacts(tx.tasks.find(task).id)))


@artifact.command()
@arguments.task
@name_argument
@click.option("--version", type=version, help="The newest unless given.")
@session.command
async def show(desk: Desk, task: str, name: str, version: int | None) -> None:
    """Print a document of a task: plan, design or investigation."""
    from agents_manager.domain import document
    from agents_manager.flow import artifacts

    known = await desk.read(lambda tx: artifacts.documents_of(tx, task))
    found = document.chosen(known, name, version)
    desk.output.show(found, lambda: lines(found.text))


@artifact.command()
@arguments.task
@name_argument
@click.option("--from", "old", type=version, help="The one before the newer unless given.")
@click.option("--to", "new", type=version, help="The newest unless given.")
@session.command
async def compare(desk: Desk, task: str, name: str, old: int | None, new: int | None) -> None:
    """Print what changed from one version of a document to another."""
    from agents_manager.domain import document
    from agents_manager.flow import artifacts

    ends = await desk.read(lambda tx: artifacts.compared(tx, task, name, old, new))
    show_diff(desk, document.difference(*ends))


@artifact.command()
@arguments.task
@session.command
async def collect(desk: Desk, task: str) -> None:
    """Put the commits of the task's branch and their diff on record once more."""
    from agents_manager.flow import pulls

    _show(desk, await pulls.collect(desk.services, task))


def _show(desk: Desk, found: "Sequence[Artifact]") -> None:
    from agents_manager.cli.pages import catalog

    desk.output.show(found, lambda: catalog.artifacts(found))
