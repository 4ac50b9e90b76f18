"""`am phase`: the parts of a task that was split."""

from typing import TYPE_CHECKING

import click

from agents_manager.cli import arguments, session
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agents_manager.domain.phase import Phase


@click.group()
def phase() -> None:
    """See, skip and reorder the phases of a task."""


@phase.command("list")
@arguments.task
@session.command
async def list_phases(desk: Desk, task: str) -> None:
    """List the phases of a task in their order."""
    _show(desk, await desk.read(lambda tx: tx.phases.of_task(tx.tasks.find(task).id)))


@phase.command()
@arguments.task
@click.argument("number", type=int)
@session.command
async def skip(desk: Desk, task: str, number: int) -> None:
    """Leave out a phase that has not been begun."""
    from agents_manager.flow import phases

    _show(desk, await phases.skip(desk.services, task, number, desk.actor))


@phase.command()
@arguments.task
@click.argument("numbers", type=int, nargs=-1, required=True)
@session.command
async def reorder(desk: Desk, task: str, numbers: tuple[int, ...]) -> None:
    """Put the phases that have not been begun into another order."""
    from agents_manager.flow import phases

    _show(desk, await phases.reorder(desk.services, task, numbers, desk.actor))


def _show(desk: Desk, found: "Sequence[Phase]") -> None:
    from agents_manager.cli.pages import catalog

    desk.output.show(found, lambda: catalog.phases(found))
