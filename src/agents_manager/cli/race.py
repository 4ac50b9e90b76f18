"""The commands of `am task` about agents side by side."""

from typing import TYPE_CHECKING

import click

from agents_manager.cli import arguments, moves, session
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from agents_manager.domain.race import Contender

agents_option = click.option(
    "--agents",
    metavar="AGENT[:MODEL],…",
    help="Two to five that implement it side by side; one of them is picked.",
)
judge_option = click.option(
    "--judge",
    metavar="AGENT[:MODEL]",
    help="Who picks, none of them; a person unless given.",
)


def several(agents: str) -> "list[Contender]":
    from agents_manager.domain import race

    return [race.named(one) for one in agents.split(",")]


def judging(judge: str | None) -> "Contender | None":
    from agents_manager.domain import race

    return race.named(judge) if judge else None


@click.command()
@arguments.task
@agents_option
@judge_option
@session.command
async def race(desk: Desk, task: str, agents: str | None, judge: str | None) -> None:
    """Have several agents implement a task, each in a workspace of its own.

    It is started where it waits for that. Where a plan comes first, they begin after it.
    """
    from agents_manager.flow import racing

    if agents is None:
        raise click.UsageError("Say who races: --agents AGENT[:MODEL],AGENT[:MODEL]")
    done = await racing.order(desk.services, task, several(agents), judging(judge), desk.actor)
    await moves.show_result(desk, done.id, "They race:")


@click.command()
@arguments.task
@session.command
async def compare(desk: Desk, task: str) -> None:
    """Compare what agents made of a task side by side."""
    from agents_manager.cli.pages import race as pages
    from agents_manager.flow import comparing

    found = await comparing.of_task(desk.services, task)
    desk.output.show(found, lambda: pages.comparison(found))


@click.command()
@arguments.task
@click.argument("contender")
@session.command
async def pick(desk: Desk, task: str, contender: str) -> None:
    """Take the work of one of the agents that raced at a task.

    CONTENDER is its run, or AGENT[:MODEL]. While the work waits for its review, another one can be
    picked instead.
    """
    from agents_manager.flow import racing

    done = await racing.pick(desk.services, task, contender, desk.actor)
    await moves.show_result(desk, done.id, "Picked:")
