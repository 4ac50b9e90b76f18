"""Asks before a task is closed as done whose commits are not merged."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agents_manager.cli.render import clean

if TYPE_CHECKING:
    from agents_manager.errors import UnmergedWork
    from agents_manager.flow.unmerged import Consent

T = TypeVar("T")


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that answer the questions in advance; the command gets both as `consent`."""

    @wraps(command)
    def with_consent(
        *args: Any, leave_unmerged: bool, release_dependents: bool, **named: Any
    ) -> Any:
        from agents_manager.flow.unmerged import Consent

        given = Consent(leave_unmerged=leave_unmerged, release_dependents=release_dependents)
        return command(*args, consent=given, **named)

    with_options: Callable[..., Any] = with_consent
    for option in (
        click.option(
            "--release-dependents",
            is_flag=True,
            help="Let tasks that depend on unmerged work start.",
        ),
        click.option(
            "--leave-unmerged", is_flag=True, help="Close the task although commits are not merged."
        ),
    ):
        with_options = option(with_options)
    return with_options


async def ask(close: Callable[["Consent"], Awaitable[T]], given: "Consent") -> T:
    """Closes a task. If it has unmerged commits that nobody has agreed to leave, asks the person at
    the terminal, or raises UnmergedWork if there is no terminal."""
    from agents_manager.cli import interview
    from agents_manager.errors import UnmergedWork

    try:
        return await close(given)
    except UnmergedWork as found:
        if not interview.possible():
            raise
        return await close(_asked(found, given))


def _asked(found: "UnmergedWork", given: "Consent") -> "Consent":
    from agents_manager.flow.unmerged import Consent

    lines = [found.message.partition(". ")[0] + ":", *(f"  {line}" for line in found.details)]
    click.echo("\n".join(clean(line) for line in lines), err=True)
    click.confirm("Close the task and leave them unmerged?", abort=True, err=True)
    released = given.release_dependents
    if found.dependents and not released:
        which = "the task that depends" if found.dependents == 1 else "the tasks that depend"
        released = click.confirm(f"Let {which} on it start?", default=False, err=True)
    return Consent(leave_unmerged=True, release_dependents=released)
