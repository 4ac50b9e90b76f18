"""`am comment`: what is said about a task and its change, and the answers to it."""

import re
from typing import TYPE_CHECKING

import click

from agents_manager.cli import arguments, session
from agents_manager.cli.render import Line, Tone
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from agents_manager.domain.comment import Comment

PLACE = re.compile(r"(?P<file>.+?)(?::(?P<line>\d{1,9}))?", re.DOTALL)


@click.group()
def comment() -> None:
    """Say something about a task or its change; its next run is told."""


@comment.command()
@arguments.task
@click.argument("text")
@click.option("--at", metavar="FILE[:LINE]", help="The place in the change that it is about.")
@click.option("--severity", help="must_fix, should_fix or suggestion.")
@session.command
async def add(desk: Desk, task: str, text: str, at: str | None, severity: str | None) -> None:
    """Comment on a task, on its open pull request where it has one.

    Nothing is moved or started by it. The agent of the next run is told all comments, and which of
    them are resolved. One on a line moves with its code.
    """
    from agents_manager.flow import comments

    place = PLACE.fullmatch(at) if at else None
    file = place["file"] if place else at  # An empty one is refused as such.
    line = int(place["line"]) if place and place["line"] else None
    said = await comments.add(desk.services, task, text, file, line, desk.actor, severity)
    where = f" on pull request #{said.pull}" if said.pull else ""
    told = Line("The next run of the task is told it.", Tone.QUIET)
    desk.output.show(said, lambda: [Line(f"Comment {said.number}{where} is kept."), told])


@comment.command("list")
@arguments.task
@session.command
async def list_comments(desk: Desk, task: str) -> None:
    """List what was said about a task and its work, in reviews too, the oldest first.

    Each stands where its code is now. *Lines changed*: they were changed or removed since, and
    nobody has said whether that settled it.
    """
    from agents_manager.cli.pages import catalog
    from agents_manager.flow import comments

    found = await comments.of_task(desk.services, task)
    desk.output.show(found, lambda: catalog.comments(found))


@comment.command()
@arguments.task
@click.argument("number", type=int)
@click.argument("text")
@session.command
async def answer(desk: Desk, task: str, number: int, text: str) -> None:
    """Answer a comment. The agent of the next run is told."""
    from agents_manager.flow import comments

    said = await comments.answer(desk.services, task, number, text, desk.actor)
    desk.output.show(said, lambda: [Line(f"The answer to comment {said.number} is kept.")])


@comment.command()
@arguments.task
@click.argument("number", type=int)
@click.option("--undo", is_flag=True, help="Open it again.")
@session.command
async def resolve(desk: Desk, task: str, number: int, undo: bool) -> None:
    """Say that a comment is dealt with."""
    from agents_manager.flow import comments

    said = await comments.resolve(desk.services, task, number, desk.actor, resolved=not undo)
    desk.output.show(said, lambda: [_state(said)])


def _state(said: "Comment") -> Line:
    return Line(f"Comment {said.number} is {'resolved' if said.resolved else 'open'}.")
